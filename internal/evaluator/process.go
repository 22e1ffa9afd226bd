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

// launch says how a command is started.
type launch struct {
	supervisor []string // command line of the supervisor; empty without one
	path       string   // of the command
	args       []string // its name and arguments
	env        []string
	stdin      *os.File // nil: nothing to read
	stdout     io.Writer
	stderr     io.Writer
	grace      time.Duration
}

// process is a command that runs, in a process group of its own. With a supervisor the
// guard leads the group.
type process struct {
	command  *exec.Cmd
	grace    time.Duration
	lifeline *os.File // whose closing makes the supervisor kill the group; nil without a supervisor
	report   *os.File // of the supervisor, how the command ended; nil without a supervisor

	ended chan struct{} // closed when the process has ended and its output was read
	exit  error         // why it failed, completing "the command ..."; set before ended is closed
}

// start starts the command. An error completes the sentence "the command ...".
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

// connectSupervisor makes the supervisor's pipes and returns its ends of them.
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
			_ = file.Close() // an end of a pipe
		}
	}
}

// wait returns why the command failed, nil when it did not.
func (p *process) wait() error {
	err := p.command.Wait()
	if p.report == nil {
		// ErrWaitDelay: the command ended well, but a process it left behind still
		// holds its output. What the command itself printed is here.
		if err == nil || errors.Is(err, exec.ErrWaitDelay) {
			return nil
		}
		return exitReason(p.command.ProcessState, err)
	}
	defer closeAll([]*os.File{p.lifeline, p.report})
	said, err := io.ReadAll(io.LimitReader(p.report, 1000))
	if err != nil || len(said) == 0 {
		killGroup(p.command.Process, 0) // no other process does
		return fmt.Errorf("lost its supervisor, which %w", exitReason(p.command.ProcessState, errors.New("no status received")))
	}
	return readReport(string(said))
}

// stop asks the group to end, and kills what is left of it after the grace.
func (p *process) stop() {
	told := time.Now()
	if p.lifeline != nil {
		_, _ = p.lifeline.Write([]byte{supervisorStop}) // what has ended needs no telling
	}
	_ = terminateGroup(p.command.Process) // it may have ended
	if !p.endsWithin(p.grace) {
		closeAll([]*os.File{p.lifeline}) // the supervisor finds more than the group
		if p.lifeline == nil || !p.endsWithin(supervisorGraces*p.grace) {
			killGroup(p.command.Process, 0)
		}
		<-p.ended
	}
	killGroup(p.command.Process, p.grace-time.Since(told))
}

// supervisorGraces is how many graces a supervisor has to kill what has left the group. It needs
// milliseconds, and on a busy machine seconds: a supervisor that is killed before leaves it running.
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

// hasEnded tells whether the process has ended.
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

// because is an error whose text does not repeat that of its cause.
type because struct {
	text  string
	cause error
}

func (b because) Error() string { return b.text }
func (b because) Unwrap() error { return b.cause }

// supervisorStop is the message to a supervisor that its group is to end.
const supervisorStop = 's'

// Reports of a supervisor.
const (
	reportStatus  = "status " // and the wait status
	reportFailure = "error "  // and why the command could not be started
)

func readReport(said string) error {
	said = strings.TrimSuffix(said, "\n")
	if reason, ok := strings.CutPrefix(said, reportFailure); ok {
		return errors.New("could not be started: " + reason)
	}
	return readStatus(strings.TrimPrefix(said, reportStatus))
}
