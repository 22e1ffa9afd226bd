package evaluator

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// launch holds the parameters of a command to start.
type launch struct {
	supervisor []string // command line of the supervisor; empty without one
	path       string   // path of the command's executable
	args       []string // name of the command, followed by its arguments
	env        []string
	stdin      *os.File // nil: empty input
	stdout     io.Writer
	stderr     io.Writer
	grace      time.Duration
}

// process is a running command in its own process group. If there is a supervisor, it is the leader
// of the group and the parent of the command.
type process struct {
	command  *exec.Cmd
	grace    time.Duration
	lifeline *os.File // when the node closes it or ends, the supervisor kills the group; nil without a supervisor
	report   *os.File // the supervisor writes here how the command ended; nil without a supervisor

	ended chan struct{} // closed when the process has ended and its output was read
	exit  error         // why the command failed; its text continues "the command ..."; set before ended is closed
}

// start starts the command. The text of an error continues "the command ...".
func (l launch) start() (*process, error) {
	p := &process{grace: l.grace, ended: make(chan struct{})}
	line := append([]string{l.path}, l.args[1:]...)
	if len(l.supervisor) > 0 {
		line = append(append(append([]string{}, l.supervisor...), l.path), l.args...)
	}
	p.command = exec.Command(line[0], line[1:]...)
	if len(l.supervisor) == 0 {
		p.command.Args[0] = l.args[0]
	}
	p.command.Env = l.env
	if l.stdin != nil {
		p.command.Stdin = l.stdin
	}
	p.command.Stdout, p.command.Stderr = l.stdout, l.stderr
	p.command.WaitDelay = l.grace
	prepareGroup(p.command)
	theirs, err := p.connectSupervisor(len(l.supervisor) > 0)
	if err == nil {
		err = p.command.Start()
	}
	closeAll(theirs)
	if err != nil {
		closeAll([]*os.File{p.lifeline, p.report})
		return nil, fmt.Errorf("could not be started: %w", err)
	}
	go func() {
		defer close(p.ended)
		p.exit = p.wait()
	}()
	return p, nil
}

// connectSupervisor creates the pipes to the supervisor, and returns the ends that the supervisor
// uses.
func (p *process) connectSupervisor(supervised bool) (theirs []*os.File, err error) {
	if !supervised {
		return nil, nil
	}
	var watched, told *os.File
	if watched, p.lifeline, err = os.Pipe(); err != nil {
		return nil, err
	}
	if p.report, told, err = os.Pipe(); err != nil {
		return []*os.File{watched}, err
	}
	p.command.ExtraFiles = []*os.File{watched, told}
	return p.command.ExtraFiles, nil
}

func closeAll(files []*os.File) {
	for _, file := range files {
		if file != nil {
			_ = file.Close() // an error does not matter for the end of a pipe
		}
	}
}

// wait waits for the command, and returns why it failed, or nil if it succeeded.
func (p *process) wait() error {
	err := p.command.Wait()
	if p.report == nil {
		// ErrWaitDelay means that the command succeeded, but a process that it left running still
		// has its output open. The command's own output is complete.
		if err == nil || errors.Is(err, exec.ErrWaitDelay) {
			return nil
		}
		return exitReason(p.command.ProcessState, err)
	}
	defer closeAll([]*os.File{p.lifeline, p.report})
	said, err := io.ReadAll(io.LimitReader(p.report, 1000))
	if err != nil || len(said) == 0 {
		killGroup(p.command.Process, 0) // without the supervisor, no other process kills the group
		return fmt.Errorf("lost its supervisor, which %w", exitReason(p.command.ProcessState, errors.New("no status received")))
	}
	return readReport(string(said))
}

// stop sends the group a request to end, and kills the remaining processes after the grace.
func (p *process) stop() {
	told := time.Now()
	if p.lifeline != nil {
		_, _ = p.lifeline.Write([]byte{supervisorStop}) // an error means that the process has ended
	}
	_ = terminateGroup(p.command.Process) // an error means that the process has ended
	if !p.endsWithin(p.grace) {
		closeAll([]*os.File{p.lifeline}) // the supervisor then also kills processes outside the group
		if p.lifeline == nil || !p.endsWithin(supervisorGraces*p.grace) {
			killGroup(p.command.Process, 0)
		}
		<-p.ended
	}
	killGroup(p.command.Process, p.grace-time.Since(told))
}

// supervisorGraces is the time, in multiples of grace, for a supervisor to kill processes that have
// left the group. It needs milliseconds, or seconds on a busy machine. If the supervisor were
// killed earlier, those processes would keep running.
const supervisorGraces = 10

func (p *process) endsWithin(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.ended:
		return true
	case <-timer.C:
		return false
	}
}

// hasEnded reports whether the process has ended.
func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func exitReason(state *os.ProcessState, err error) error {
	if state == nil {
		return fmt.Errorf("could not be waited for: %w", err)
	}
	if name := signalOf(state); name != "" {
		return because{"was killed by a signal: " + name, err}
	}
	if code := state.ExitCode(); code != 0 {
		return because{codeReason(code), err}
	}
	return fmt.Errorf("could not be read: %w", err)
}

func codeReason(code int) string { return fmt.Sprintf("exited with code %d", code) }

// because is an error that wraps a cause without repeating its text.
type because struct {
	text  string
	cause error
}

func (b because) Error() string { return b.text }
func (b because) Unwrap() error { return b.cause }

// supervisorStop is the message to a supervisor that the node is stopping the command.
const supervisorStop = 's'

// Beginnings of a supervisor's report.
const (
	reportStatus  = "status " // followed by the wait status
	reportFailure = "error "  // followed by the reason why the command could not be started
)

func readReport(said string) error {
	said = strings.TrimSuffix(said, "\n")
	if reason, ok := strings.CutPrefix(said, reportFailure); ok {
		return errors.New("could not be started: " + reason)
	}
	return readStatus(strings.TrimPrefix(said, reportStatus))
}
