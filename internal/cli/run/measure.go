package run

import (
	"context"
	"errors"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/evaluator"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// measurer prepares the user's command. end ends its remaining processes.
func (o options) measurer(t *task.Task, dataDir string, args []string) (evaluate node.Evaluator, end func(), err error) {
	if o.worker {
		workers, err := evaluator.NewWorkers(args, base.LogDir(dataDir, t))
		if err != nil {
			return nil, nil, unprepared(err)
		}
		workers.Supervisor = base.SupervisorLine()
		return evaluateBy(workers.Evaluate), workers.Close, nil
	}
	command, err := evaluator.New(t.Space, args, base.LogDir(dataDir, t))
	if err != nil {
		return nil, nil, unprepared(err)
	}
	command.Supervisor = base.SupervisorLine()
	return evaluateBy(command.Evaluate), func() {}, nil
}

// unprepared returns the error of a command that cannot be run: the user's, or that of the data
// directory.
func unprepared(err error) error {
	if errors.Is(err, evaluator.ErrLogs) {
		return err
	}
	return base.BadUsage(err)
}

func evaluateBy(measure func(context.Context, uint64, task.Design) (evaluator.Result, error)) node.Evaluator {
	return func(ctx context.Context, trial strategy.Trial) (strategy.Outcome, error) {
		result, err := measure(ctx, trial.ID, trial.Design)
		return strategy.Outcome{Value: result.Value, Constraints: result.Constraints, Metrics: result.Metrics}, err
	}
}
