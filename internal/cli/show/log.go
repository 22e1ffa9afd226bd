package show

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/past"
	"github.com/fbo-node/fbo/internal/evaluator/triallog"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// NewLog returns the command log.
func NewLog() *cobra.Command {
	var dir string
	var follow bool
	command := &cobra.Command{
		Use:   "log [TASK] [TRIAL]",
		Short: "Show what the command printed in a trial: the given one, or the newest that was evaluated",
		Args:  base.AtMost(2),
		RunE: func(command *cobra.Command, args []string) error {
			wanted, trial, err := logArguments(args)
			if err != nil {
				return err
			}
			dataDir, err := base.ResolveDataDir(dir)
			if err != nil {
				return err
			}
			l := trialLog{dir: dataDir, wanted: wanted, out: command.OutOrStdout()}
			return l.show(command.Context(), trial, follow)
		},
	}
	base.AddDataDir(command, &dir)
	command.Flags().BoolVarP(&follow, "follow", "f", false, "go on while the trial runs; without TRIAL, with those that follow while the node runs")
	return command
}

// logArguments interprets a single number as the trial of the only task.
func logArguments(args []string) (wanted string, trial uint64, err error) {
	if len(args) == 0 {
		return "", 0, nil
	}
	last := args[len(args)-1]
	trial, err = strconv.ParseUint(last, 10, 64)
	switch {
	case err == nil && trial > 0:
		args = args[:len(args)-1]
	case err == nil || len(args) == 2:
		return "", 0, base.Usagef("trial %q: expected whole numbers from 1", last)
	}
	return base.Argument(args), trial, nil
}

// trialLog shows the output of a task's trials.
type trialLog struct {
	dir    string // data directory
	wanted string // task, as the user named it
	out    io.Writer
}

func (l trialLog) show(ctx context.Context, trial uint64, follow bool) error {
	p, err := past.Read(ctx, l.dir, l.wanted)
	if err != nil {
		return err
	}
	l.wanted = p.Task.ID().String() // a name may become ambiguous when the node ends
	one := trial != 0
	if !one {
		if trial = newestEvaluated(p.Trials); trial == 0 {
			return fmt.Errorf("no trial of task %s has been evaluated yet", p.Task.Name)
		}
	} else if trial > uint64(len(p.Trials)) {
		return fmt.Errorf("there is no trial %d of task %s; it has %d", trial, p.Task.Name, len(p.Trials))
	}
	if !follow {
		return l.once(p, trial, one)
	}
	for ; trial != 0 && ctx.Err() == nil; trial, err = l.next(ctx, trial) {
		if err := l.follow(ctx, p, trial, one); err != nil || one {
			return err
		}
	}
	return err
}

// newestEvaluated returns the trial started last, a running one if there is one; 0 if none has been
// evaluated.
func newestEvaluated(trials []strategy.Trial) (newest uint64) {
	running := false
	for _, trial := range trials {
		runs := trial.State == strategy.Running
		if trial.Why.Source != strategy.Imported && (runs || !running) {
			newest, running = trial.ID, runs
		}
	}
	return newest
}

func (l trialLog) head(p past.History, trial uint64, one bool) error {
	if one {
		return nil
	}
	_, err := fmt.Fprintf(l.out, "==> trial %d of %s <==\n", trial, p.Task.Name)
	return err
}

func (l trialLog) once(p past.History, trial uint64, one bool) error {
	if err := l.head(p, trial, one); err != nil {
		return err
	}
	reader := triallog.NewReader(base.LogDir(l.dir, p.Task), trial)
	defer reader.Close()
	shown := &sanitize.Writer{Out: l.out}
	copied, err := reader.CopyTo(shown)
	if err == nil {
		err = shown.Flush()
	}
	if err == nil && copied == 0 {
		return fmt.Errorf("trial %d has printed nothing that is kept", trial)
	}
	return err
}

// Intervals between checks for more output, and between checks whether the trial still runs.
const (
	logPause  = 200 * time.Millisecond
	askPauses = 5
)

// follow shows a trial until it has ended or the node has.
func (l trialLog) follow(ctx context.Context, p past.History, trial uint64, one bool) error {
	if err := l.head(p, trial, one); err != nil {
		return err
	}
	reader := triallog.NewReader(base.LogDir(l.dir, p.Task), trial)
	defer reader.Close()
	shown := &sanitize.Writer{Out: l.out}
	for quiet := 0; ; {
		ended := false
		if quiet++; quiet >= askPauses {
			quiet = 0
			state, err := l.stateOf(ctx, trial)
			if err != nil {
				return err
			}
			ended = state != strategy.Running
		}
		copied, err := reader.CopyTo(shown) // the state was read before, so that no output is missed
		if err != nil {
			return err
		}
		if ended {
			return shown.Flush()
		}
		if copied > 0 {
			quiet = 0
		}
		if !sleep(ctx, logPause) {
			return shown.Flush()
		}
	}
}

// stateOf returns a state other than Running if no node runs.
func (l trialLog) stateOf(ctx context.Context, trial uint64) (strategy.State, error) {
	p, err := past.Read(ctx, l.dir, l.wanted)
	if err != nil || p.Running == nil || trial > uint64(len(p.Trials)) {
		return strategy.Waiting, err
	}
	return p.Trials[trial-1].State, nil
}

// next waits for the next evaluated trial, and returns 0 if the node has ended.
func (l trialLog) next(ctx context.Context, after uint64) (uint64, error) {
	for {
		p, err := past.Read(ctx, l.dir, l.wanted)
		if err != nil {
			return 0, err
		}
		for _, trial := range p.Trials[min(after, uint64(len(p.Trials))):] {
			if trial.Why.Source != strategy.Imported {
				return trial.ID, nil
			}
		}
		if p.Running == nil || !sleep(ctx, askPauses*logPause) {
			return 0, nil
		}
	}
}

func sleep(ctx context.Context, span time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(span):
		return true
	}
}
