package evaluator

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fbo-node/fbo/task"
)

// Evaluate runs the command on a design and returns the result that it printed. Every error is a
// *Failure.
//
// If ctx ends first, the command and its child processes get a request to end, and are killed after
// c.Grace. The failure then wraps the cause of ctx. On Windows only the command itself is killed,
// without a request.
func (c *Command) Evaluate(ctx context.Context, trial uint64, design task.Design) (Result, error) {
	return c.EvaluateOf(ctx, nil, trial, design)
}

// EvaluateOf is Evaluate for a member of a simulation. The command gets the member in FBO_MEMBER
// and FBO_FEDERATION. A nil member means that there is no simulation.
func (c *Command) EvaluateOf(ctx context.Context, member *Member, trial uint64, design task.Design) (Result, error) {
	if err := context.Cause(ctx); err != nil {
		return Result{}, &Failure{Trial: trial, Reason: "was not started: " + err.Error(), Err: err}
	}
	log := c.logs.Writer(trial)
	defer log.Close()
	complaints := tail{limit: maxComplaint}
	result, err := c.run(ctx, member, trial, design, log, &complaints)
	if err != nil {
		return result.beside(), &Failure{
			Trial: trial, Reason: err.Error(), Err: errors.Unwrap(err), Stderr: complaints.lastLine(), Log: log.Path(),
		}
	}
	return result, nil
}

// run starts the command and waits for it. The text of an error continues "the command ...".
func (c *Command) run(ctx context.Context, member *Member, trial uint64, design task.Design, log io.Writer, complaints *tail) (Result, error) {
	args, err := c.expand(design)
	if err != nil {
		return Result{}, fmt.Errorf("was not started: %w", err)
	}
	env, err := c.environment(trial, design)
	if err != nil {
		return Result{}, fmt.Errorf("was not started: %w", err)
	}
	if member != nil {
		env = append(env, member.variables()...)
	}
	stdout := tail{limit: maxOutput}
	p, err := launch{
		supervisor: c.Supervisor, path: c.path, args: append([]string{c.Args[0]}, args...), env: env,
		stdout: io.MultiWriter(&stdout, log), stderr: io.MultiWriter(complaints, log), grace: orDefault(c.Grace),
	}.start()
	if err != nil {
		return Result{}, err
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.stop()
		return Result{}, cancellation(ctx)
	}
	if p.exit != nil {
		return Result{}, p.exit
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
