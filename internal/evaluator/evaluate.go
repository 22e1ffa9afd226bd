package evaluator

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/task"
)

// Trial is what a program evaluates.
type Trial struct {
	ID      uint64
	Design  task.Design
	Attempt int          // number of this evaluation of the trial, from 1; 0: unknown
	Steps   curves.Curve // values by step of earlier attempts
	Member  *Member      // nil: there is no simulation
}

// Evaluate runs the command on a trial and returns the result that it printed. Every error is a
// *Failure, or a *Stopped if the evaluation ended early. Annotations and hints accompany both. report
// gets the values by step that the command prints; nil drops them.
//
// If a report returns a decision to stop, the command and its child processes get a request to end,
// and are killed after c.Grace. Whatever it prints then, the evaluation has stopped early.
//
// If ctx ends first, the same happens, and the failure wraps the cause of ctx. On Windows only the
// command itself is killed, without a request.
func (c *Command) Evaluate(ctx context.Context, trial Trial, report Report) (Result, error) {
	if err := context.Cause(ctx); err != nil {
		return Result{}, &Failure{Trial: trial.ID, Reason: "was not started: " + err.Error(), Err: err}
	}
	log := c.logs.Writer(trial.ID)
	defer log.Close()
	complaints := tail{limit: maxComplaint}
	steps := newSteps(trial, report)
	result, err := c.run(ctx, trial, steps, log, &complaints)
	if result, err = result.with(steps, err); err != nil {
		return result.beside(), failureOf(err, Failure{Trial: trial.ID, Stderr: complaints.lastLine(), Log: log.Path()})
	}
	return result, nil
}

// run starts the command and waits for it. The text of an error continues "the command ...".
func (c *Command) run(ctx context.Context, trial Trial, steps *steps, log io.Writer, complaints *tail) (Result, error) {
	args, err := c.expand(trial.Design)
	if err != nil {
		return Result{}, fmt.Errorf("was not started: %w", err)
	}
	env, err := c.environment(trial)
	if err != nil {
		return Result{}, fmt.Errorf("was not started: %w", err)
	}
	stdout, values := tail{limit: maxOutput}, lines{each: steps.printed}
	p, err := launch{
		supervisor: c.Supervisor, path: c.path, args: append([]string{c.Args[0]}, args...), env: env,
		stdout: io.MultiWriter(&stdout, &values, log), stderr: io.MultiWriter(complaints, log), grace: orDefault(c.Grace),
	}.start()
	if err != nil {
		return Result{}, err
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		p.stop()
		return Result{}, cancellation(ctx)
	case stop := <-steps.stop:
		if !p.hasEnded() {
			noteStop(log, stop)
			p.stop()
			return Result{}, &Stopped{Reason: stop.Reason}
		}
	}
	values.end()
	if p.exit != nil {
		return Result{}, p.exit
	}
	return stdout.result()
}

// noteStop adds the decision to the output of the trial.
func noteStop(log io.Writer, stop *curves.Stop) {
	fmt.Fprintf(log, "[fbo: asked to stop after step %d: %s]\n", stop.Step, stop.Reason)
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
