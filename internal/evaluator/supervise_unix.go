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

// Descriptors that the node opens for a supervisor, besides the standard ones.
const (
	lifelineDescriptor = 3 // input; it reaches its end when the node ends
	reportDescriptor   = 4 // output: how the command ended
)

// Supervise is the whole work of the process that Command and Workers start if their Supervisor is
// set. It runs a command; args are its path, name and arguments. It reports how the command ended.
// As soon as the node ends, for any reason, it kills the command and the processes that the command
// started. It returns an error if no node has started the process.
//
// The processes that the command started are its process group. On Linux, processes that have left
// the group are included as long as the command runs.
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

// supervisorPipes checks that a node has started this process, because Supervise kills its group.
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

// outliveSignals keeps signals to the group from ending the supervisor before the command.
func outliveSignals() {
	received := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		if !signal.Ignored(s) { // an ignored signal stays ignored in the command too
			signal.Notify(received, s)
		}
	}
}

// listener reads the node's messages from the lifeline.
type listener struct {
	lifeline *os.File
	received chan error // gets the error that ended the reading; io.EOF: the node has ended
	stopping bool       // the node stops the command; the reading goroutine owns it until received has an error
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

// soFar ends the reading and returns the node's messages until now, including those in the pipe. A
// command that is stopped may end before the supervisor has read the request to stop it.
func (l *listener) soFar() (stopping, gone bool) {
	if l.lifeline.SetReadDeadline(time.Now()) != nil {
		return false, false // cannot be, as long as the pipe does not block
	}
	if err := <-l.received; !errors.Is(err, os.ErrDeadlineExceeded) {
		return l.stopping, true
	}
	message := make([]byte, 1)
	for { // bytes in the pipe that Read does not return after its deadline
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

// waitForOthers waits until the processes that the command left behind have ended. It kills them if
// the node ends first.
func waitForOthers(nodeGone <-chan error) {
	for !none() {
		select {
		case <-nodeGone:
			killAll(0)
		case <-time.After(pollInterval):
		}
	}
}

// none reports whether no descendant is left. It lists twice: a process whose parent ends during
// the first listing may be missing from it. In the second it is a child of the supervisor.
func none() bool {
	for range 2 {
		if len(descendants()) > 0 {
			return false
		}
	}
	return true
}

// killRounds limits the search for processes that start others meanwhile.
const killRounds = 100

// killAll kills the command if it still runs (it may have left the group) and every descendant that
// it finds. Then it kills the group and with it this process.
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
