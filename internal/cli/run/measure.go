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

// evaluation is the method of a command or of workers.
type evaluation func(context.Context, evaluator.Trial, evaluator.Report) (evaluator.Result, error)

// reporter stores values by step: Session.Report.
type reporter func(ctx context.Context, trial uint64, steps ...node.Step) (*node.Stop, error)

// prepared is the user's command, ready to run.
type prepared struct {
	evaluate evaluation
	end      func() // ends its remaining processes
}

// prepare checks the user's command.
func (o options) prepare(t *task.Task, dataDir string, args []string) (prepared, error) {
	if o.worker {
		workers, err := evaluator.NewWorkers(args, base.LogDir(dataDir, t))
		if err != nil {
			return prepared{}, unprepared(err)
		}
		workers.Supervisor = base.SupervisorLine()
		return prepared{workers.Evaluate, workers.Close}, nil
	}
	command, err := evaluator.New(t.Space, args, base.LogDir(dataDir, t))
	if err != nil {
		return prepared{}, unprepared(err)
	}
	command.Supervisor = base.SupervisorLine()
	return prepared{command.Evaluate, func() {}}, nil
}

// unprepared returns the error of a command that cannot be run: the user's, or that of the data
// directory.
func unprepared(err error) error {
	if errors.Is(err, evaluator.ErrLogs) {
		return err
	}
	return base.BadUsage(err)
}

// by returns the evaluator of a run. report gets the values by step. warn gets a hint about each part
// of the output that is ignored, once.
func (p prepared) by(report reporter, warn func(string)) node.Evaluator {
	var mu sync.Mutex
	var hinted []string
	return func(ctx context.Context, trial strategy.Trial) (strategy.Outcome, error) {
		result, err := p.evaluate(ctx, evaluator.Trial{ID: trial.ID, Design: trial.Design, Attempt: trial.Attempts, Steps: trial.Steps},
			func(steps []node.Step) (*node.Stop, error) {
				return report(context.WithoutCancel(ctx), trial.ID, steps...) // also of an evaluation that is being ended
			})
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
		if stopped := (*evaluator.Stopped)(nil); errors.As(err, &stopped) {
			err = stoppedEarly{stopped.Reason}
		}
		return strategy.Outcome{Value: result.Value, Constraints: result.Constraints, Metrics: result.Metrics, Cost: result.Cost, Annotations: result.Annotations}, err
	}
}

// stoppedEarly is node.ErrStopped with the reason as its text.
type stoppedEarly struct{ reason string }

func (s stoppedEarly) Error() string { return s.reason }
func (s stoppedEarly) Unwrap() error { return node.ErrStopped }

// maxHinted is the maximum number of hints about the output of a run's command.
const maxHinted = 20
