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

// File descriptors that a node opens for its supervisor, in addition to the standard ones.
const (
	lifelineDescriptor = 3 // input; a read returns the end of the file when the node has ended
	reportDescriptor   = 4 // output for the report on how the command ended
)

// Supervise is the main function of the process that Command and Workers start if their Supervisor
// is set. It runs a command and reports how it ended. The arguments args are the path of the
// command, its name and its arguments. When the node ends, for whatever reason, Supervise kills the
// command and its child processes. It returns an error if the process was not started by a node.
//
// The child processes are those in the command's process group. On Linux, processes that have left
// the group count too as long as the command runs.
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

// supervisorPipes verifies that a node has started this process, because Supervise later kills its
// own process group.
func supervisorPipes(args []string) (lifeline, report *os.File, err error) {
	if len(args) < 2 || syscall.Getpgrp() != os.Getpid() {
		return nil, nil, errors.New("a node starts it, beside a command")
	}
	for _, descriptor := range []int{lifelineDescriptor, reportDescriptor} {
		var stat syscall.Stat_t
		if err := syscall.Fstat(descriptor, &stat); err != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			return nil, nil, fmt.Errorf("descriptor %d is no pipe of a node", descriptor)
		}
		syscall.CloseOnExec(descriptor) // the command must not inherit the pipe
	}
	if err := syscall.SetNonblock(lifelineDescriptor, true); err != nil {
		return nil, nil, err
	}
	return os.NewFile(lifelineDescriptor, "lifeline"), os.NewFile(reportDescriptor, "report"), nil
}

// outliveSignals makes the supervisor ignore signals to the group, so that it does not end before
// the command.
func outliveSignals() {
	received := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2} {
		if !signal.Ignored(s) { // the command inherits ignored signals, so they remain ignored
			signal.Notify(received, s)
		}
	}
}

// listener reads the messages of the node from the lifeline.
type listener struct {
	lifeline *os.File
	received chan error // receives the error that ended the reading; io.EOF: the node has ended
	stopping bool       // the node is stopping the command; only the reading goroutine may use it until received has an error
}

func listenTo(lifeline *os.File) *listener {
	l := &listener{lifeline: lifeline, received: make(chan error, 1)}
	_ = lifeline.SetReadDeadline(time.Time{}) // a pipe that does not block supports deadlines
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

// soFar ends the reading and returns what the messages until now mean: the node is stopping the
// command, or the node is gone. It also reads messages that are still in the pipe, since a stopped
// command may end before the supervisor has read the message.
func (l *listener) soFar() (stopping, gone bool) {
	if l.lifeline.SetReadDeadline(time.Now()) != nil {
		return false, false // cannot happen while the pipe does not block
	}
	if err := <-l.received; !errors.Is(err, os.ErrDeadlineExceeded) {
		return l.stopping, true
	}
	message := make([]byte, 1)
	for { // read the bytes that are still in the pipe, since Read returns none after its deadline
		n, err := syscall.Read(lifelineDescriptor, message)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // EAGAIN: the pipe is empty
			return l.stopping, false
		case n == 0:
			return l.stopping, true
		default:
			l.stopping = message[0] == supervisorStop
		}
	}
}

// reap waits for the command to end and sends its wait status. It also waits for adopted processes,
// so that they do not remain as zombies.
func reap(command int, ended chan<- syscall.WaitStatus) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // there is no child process at present
			time.Sleep(pollInterval)
		case pid == command:
			ended <- status
		}
	}
}

// waitForOthers waits until the processes that the command left running have ended. If the node
// ends first, it kills them.
func waitForOthers(nodeGone <-chan error) {
	for !none() {
		select {
		case <-nodeGone:
			killAll(0)
		case <-time.After(pollInterval):
		}
	}
}

// none reports whether there are no descendants. It lists them twice: the first list may lack a
// process whose parent ended during the listing. That process is then a child of the supervisor and
// in the second list.
func none() bool {
	for range 2 {
		if len(descendants()) > 0 {
			return false
		}
	}
	return true
}

// killRounds is the maximum number of attempts to kill descendants, which may start further
// processes in the meantime.
const killRounds = 100

// killAll kills the command, which may have left the group, and all descendants. A command of 0
// means that it has already ended. Then killAll kills the group, including this process.
func killAll(command int) {
	if command > 0 {
		_ = syscall.Kill(command, syscall.SIGKILL) // an error means that it has ended
	}
	for range killRounds {
		for _, pid := range descendants() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // an error means that it has ended
		}
		if none() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	_ = syscall.Kill(0, syscall.SIGKILL)
}
