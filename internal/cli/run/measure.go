package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/evaluator"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// measurer prepares the user's command. end ends its remaining processes. warn gets a hint about each
// part of the output that is ignored, once.
func (o options) measurer(t *task.Task, dataDir string, args []string, warn func(string)) (evaluate node.Evaluator, end func(), err error) {
	if o.worker {
		workers, err := evaluator.NewWorkers(args, base.LogDir(dataDir, t))
		if err != nil {
			return nil, nil, unprepared(err)
		}
		workers.Supervisor = base.SupervisorLine()
		return evaluateBy(workers.Evaluate, warn), workers.Close, nil
	}
	command, err := evaluator.New(t.Space, args, base.LogDir(dataDir, t))
	if err != nil {
		return nil, nil, unprepared(err)
	}
	command.Supervisor = base.SupervisorLine()
	return evaluateBy(command.Evaluate, warn), func() {}, nil
}

// unprepared returns the error of a command that cannot be run: the user's, or that of the data
// directory.
func unprepared(err error) error {
	if errors.Is(err, evaluator.ErrLogs) {
		return err
	}
	return base.BadUsage(err)
}

func evaluateBy(measure func(context.Context, uint64, task.Design) (evaluator.Result, error), warn func(string)) node.Evaluator {
	var mu sync.Mutex
	var hinted []string
	return func(ctx context.Context, trial strategy.Trial) (strategy.Outcome, error) {
		result, err := measure(ctx, trial.ID, trial.Design)
		mu.Lock()
		defer mu.Unlock()
		for _, hint := range result.Hints {
			// The texts differ from trial to trial, the first words do not.
			about, _, _ := strings.Cut(hint, ":")
			if len(hinted) < maxHinted && !slices.Contains(hinted, about) {
				hinted = append(hinted, about)
				warn(fmt.Sprintf("trial %d: %s", trial.ID, hint))
			}
		}
		return strategy.Outcome{Value: result.Value, Constraints: result.Constraints, Metrics: result.Metrics, Annotations: result.Annotations}, err
	}
}

// maxHinted is the maximum number of hints about the output of a run's command.
const maxHinted = 20
