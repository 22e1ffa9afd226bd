//go:build unix

package evaluator

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Descriptors that a supervisor is started with, besides the standard ones.
const (
	lifelineDescriptor = 3 // read to its end, which comes when the node ends
	reportDescriptor   = 4 // written to, how the command ended
)

// Supervise is the whole of a process that Command and Workers start when their Guard
// is set: it runs a command, whose path, name and arguments are args, reports how
// the command ended, and kills it and everything it has started as soon as the node
// ends, however that happens. The error says that no node has started the process.
//
// What the command started is its process group; on Linux also processes that have
// left the group, as long as the command runs.
func Supervise(args []string) error {
	lifeline, report, err := supervisorPipes(args)
	if err != nil {
		return fmt.Errorf("supervise: %w", err)
	}
	outliveSignals()
	adoptOrphans()
	child, err := os.StartProcess(args[0], args[1:], &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		fmt.Fprintf(report, "%s%v\n", reportFailure, err)
		return nil
	}
	node := listenTo(lifeline)
	ended := make(chan syscall.WaitStatus, 1)
	go reap(child.Pid, ended)
	select {
	case <-node.received:
		killAll(child.Pid)
	case status := <-ended:
		stopping, gone := node.soFar()
		if gone {
			killAll(0)
		}
		fmt.Fprintf(report, "%s%d\n", reportStatus, status)
		if stopping {
			waitForOthers(listenTo(lifeline).received)
		}
	}
	return nil
}

// supervisorPipes checks that a node has started this process: it will kill its group.
func supervisorPipes(args []string) (lifeline, report *os.File, err error) {
	if len(args) < 2 || syscall.Getpgrp() != os.Getpid() {
		return nil, nil, errors.New("a node starts it, beside a command")
	}
	for _, descriptor := range []int{lifelineDescriptor, reportDescriptor} {
		var stat syscall.Stat_t
		if err := syscall.Fstat(descriptor, &stat); err != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			return nil, nil, fmt.Errorf("descriptor %d is no pipe of a node", descriptor)
		}
		syscall.CloseOnExec(descriptor) // the command shall not hold it
	}
	if err := syscall.SetNonblock(lifelineDescriptor, true); err != nil {
		return nil, nil, err
	}
	return os.NewFile(lifelineDescriptor, "lifeline"), os.NewFile(reportDescriptor, "report"), nil
}

// outliveSignals keeps what is sent to the group from ending the supervisor before the
// command.
func outliveSignals() {
	received := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		if !signal.Ignored(s) { // else the command shall ignore it too
			signal.Notify(received, s)
		}
	}
}

// listener reads what the node says over the lifeline.
type listener struct {
	lifeline *os.File
	received chan error // gets why the reading ended; io.EOF: the node is gone
	stopping bool       // the node stops the command; owned by the reading until heard
}

func listenTo(lifeline *os.File) *listener {
	l := &listener{lifeline: lifeline, received: make(chan error, 1)}
	_ = lifeline.SetReadDeadline(time.Time{}) // it can, since the pipe does not block
	go func() {
		message := make([]byte, 1)
		for {
			if _, err := lifeline.Read(message); err != nil {
				l.received <- err
				return
			}
			l.stopping = message[0] == supervisorStop
		}
	}()
	return l
}

// soFar ends the reading and returns what the node has said until now, whether or not
// it had been read: a command that is stopped may end before the supervisor has read why.
func (l *listener) soFar() (stopping, gone bool) {
	if l.lifeline.SetReadDeadline(time.Now()) != nil {
		return false, false // cannot be, as long as the pipe does not block
	}
	if err := <-l.received; !errors.Is(err, os.ErrDeadlineExceeded) {
		return l.stopping, true
	}
	message := make([]byte, 1)
	for { // what a deadline that has passed keeps Read from reading
		n, err := syscall.Read(lifelineDescriptor, message)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // EAGAIN: there is no more
			return l.stopping, false
		case n == 0:
			return l.stopping, true
		default:
			l.stopping = message[0] == supervisorStop
		}
	}
}

// reap waits for the command, and for orphans so that they do not stay as zombies.
func reap(command int, ended chan<- syscall.WaitStatus) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // no child is left, for now
			time.Sleep(pollInterval)
		case pid == command:
			ended <- status
		}
	}
}

// waitForOthers gives what the command has left behind the time to end that the
// node gives it.
func waitForOthers(nodeGone <-chan error) {
	for !none() {
		select {
		case <-nodeGone:
			killAll(0)
		case <-time.After(pollInterval):
		}
	}
}

// none tells whether no descendant is left. It looks twice: a process whose parent ends
// while the list is made may be missing in it, and is a child of the supervisor in the next.
func none() bool {
	for range 2 {
		if len(descendants()) > 0 {
			return false
		}
	}
	return true
}

// killRounds bounds the search for processes that start others meanwhile.
const killRounds = 100

// killAll kills the command, which may have left the group, if it still runs, every
// descendant that the system lets it find, then the group and with it this process.
func killAll(command int) {
	if command > 0 {
		_ = syscall.Kill(command, syscall.SIGKILL) // it may have ended
	}
	for range killRounds {
		for _, pid := range descendants() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		if none() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	_ = syscall.Kill(0, syscall.SIGKILL)
}
