package evaluator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/fbo-node/fbo/task"
)

// Evaluate runs the command on a design and returns what it printed. Every
// error is a *Failure.
//
// When ctx ends before the command does, the command and the processes it
// started are told to end, killed after c.Grace, and the failure wraps the
// context's cause. On Windows the command alone is killed, at once.
func (c *Command) Evaluate(ctx context.Context, trial uint64, design task.Design) (Result, error) {
	failure := &Failure{Trial: trial}
	if err := context.Cause(ctx); err != nil {
		failure.Reason, failure.Err = "was not started: "+err.Error(), err
		return Result{}, failure
	}
	path := filepath.Join(c.Dir, fmt.Sprintf("trial-%d.stderr", trial))
	stderr, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		failure.Reason, failure.Err = "was not started: "+err.Error(), err
		return Result{}, failure
	}
	result, err := c.run(ctx, trial, design, stderr)
	if err != nil {
		failure.Reason, failure.Err = err.Error(), errors.Unwrap(err)
		failure.Stderr = lastLineOf(stderr)
	}
	if closeLog(stderr) {
		failure.Log = path
	}
	if err != nil {
		return Result{}, failure
	}
	return result, nil
}

// closeLog closes the file, removes it again when nothing was written, and tells
// whether it is still there.
func closeLog(file *os.File) (kept bool) {
	info, err := file.Stat()
	empty := err == nil && info.Size() == 0
	// Neither can fail in a way that changes what the trial measured.
	_ = file.Close()
	if empty {
		return os.Remove(file.Name()) != nil
	}
	return true
}

// run starts the command and waits for it. An error completes the sentence "the
// command ...".
func (c *Command) run(ctx context.Context, trial uint64, design task.Design, stderr *os.File) (Result, error) {
	args, err := c.expand(func(p task.Parameter) string { return design.Value(p.Name).String() })
	if err != nil {
		return Result{}, fmt.Errorf("was not started: %w", err)
	}
	env, err := c.environment(trial, design)
	if err != nil {
		return Result{}, fmt.Errorf("was not started: %w", err)
	}
	grace := c.Grace
	if grace <= 0 {
		grace = DefaultGrace
	}
	var stdout tail
	var cancelled time.Time // when it was told to end
	command := exec.CommandContext(ctx, c.path, args...)
	command.Args[0] = c.Args[0]
	command.Env = env
	command.Stdout, command.Stderr = &stdout, stderr
	command.WaitDelay = grace
	prepareGroup(command)
	command.Cancel = func() error {
		cancelled = time.Now()
		return terminateGroup(command.Process)
	}
	if err := command.Start(); err != nil {
		return Result{}, fmt.Errorf("could not be started: %w", err)
	}
	err = command.Wait()
	if !cancelled.IsZero() {
		killGroup(command.Process, grace-time.Since(cancelled))
		return Result{}, cancellation(ctx)
	}
	// ErrWaitDelay: the command ended well, but a process it left behind still
	// holds its standard output. What the command itself printed is here.
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return Result{}, exitReason(command.ProcessState, err)
	}
	return stdout.result()
}

func cancellation(ctx context.Context) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		return because{"took too long and was stopped", cause}
	case errors.Is(cause, context.Canceled):
		return because{"was stopped before it ended", cause}
	}
	return because{"was stopped: " + cause.Error(), cause}
}

func exitReason(state *os.ProcessState, err error) error {
	if state == nil {
		return fmt.Errorf("could not be waited for: %w", err)
	}
	if name := signalOf(state); name != "" {
		return because{"was killed by a signal: " + name, err}
	}
	if code := state.ExitCode(); code != 0 {
		return because{fmt.Sprintf("exited with code %d", code), err}
	}
	return fmt.Errorf("could not be read: %w", err)
}

// because is an error whose text does not repeat that of its cause.
type because struct {
	text  string
	cause error
}

func (b because) Error() string { return b.text }
func (b because) Unwrap() error { return b.cause }

// pollInterval is how often killGroup looks whether a group is gone.
const pollInterval = 10 * time.Millisecond
