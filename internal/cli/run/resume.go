package run

import (
	"context"
	"fmt"
	"strings"

	"github.com/fbo-node/fbo/internal/cli/render"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// resumed holds the state that a run resumes from earlier ones.
type resumed struct {
	Event          string            `json:"event"`       // "resumed"
	Evaluations    int               `json:"evaluations"` // with an outcome, failed or stopped early
	Failed         int               `json:"failed"`
	StoppedEarly   int               `json:"stopped"`
	Imported       int               `json:"imported"`
	Best           *strategy.Trial   `json:"best"`                      // with several objectives that of the first
	Front          []uint64          `json:"front,omitempty"`           // trials of the Pareto front of a task with several objectives
	LeastViolation *strategy.Trial   `json:"least_violation,omitempty"` // while no trial is feasible: the one with the least violation
	Retried        []uint64          `json:"retried"`                   // trials that were interrupted and are evaluated again
	Stored         node.StoredShares `json:"stored"`

	lastSteps map[uint64]uint64 // by trial of Retried; 0: it has no values by step
}

// resumes prints the resumed state before the first evaluation; nothing in the first run.
func (p *display) resumes(ctx context.Context, session *node.Session, o options) error {
	trials, err := session.Trials(ctx)
	if err != nil || len(trials) == 0 {
		return err
	}
	status, err := session.Status(ctx)
	if err != nil {
		return err
	}
	c := resumedOf(p.Task, trials)
	if left := max(0, c.left(o)); o.evalsGiven && left < len(c.Retried) {
		c.Retried = c.Retried[:left]
	}
	c.Stored = status.Stored
	p.PrintLine(c, "%s", c.text(p.Task, o))
	return nil
}

func resumedOf(t *task.Task, trials []strategy.Trial) resumed {
	s := summarise(t, trials)
	c := resumed{Event: "resumed", Evaluations: s.Evaluations, Failed: s.Failed, StoppedEarly: s.StoppedEarly, Imported: s.Imported, Best: strategy.Best(t, trials), LeastViolation: render.LeastViolation(t, trials), Retried: []uint64{}, lastSteps: map[uint64]uint64{}}
	for _, trial := range render.FrontOf(t, trials) {
		c.Front = append(c.Front, trial.ID)
	}
	for _, trial := range trials {
		if trial.State == strategy.Waiting || trial.State == strategy.Running {
			c.Retried = append(c.Retried, trial.ID)
			if len(trial.Steps) > 0 {
				c.lastSteps[trial.ID] = trial.Steps.Last().Step
			}
		}
	}
	return c
}

// left returns the number of evaluations that are missing for --evals.
func (c resumed) left(o options) int { return o.evals - (c.Evaluations - c.Failed) }

func (c resumed) text(t *task.Task, o options) string {
	first := fmt.Sprintf("resumes after %s %s", sanitize.Count(c.Evaluations, "evaluation"), render.Ends(c.Failed, c.StoppedEarly))
	if c.Imported > 0 && c.Evaluations == 0 {
		first = "starts with " + sanitize.Count(c.Imported, "imported trial")
	} else if c.Imported > 0 {
		first += " and " + sanitize.Count(c.Imported, "imported trial")
	}
	if left := c.left(o); o.evals > 0 && left > 0 {
		first += fmt.Sprintf("; %d of the %d that --evals asks for are left", left, o.evals)
	}
	lines := []string{first}
	if len(c.Front) > 0 {
		lines = append(lines, "Pareto front so far: "+sanitize.Count(len(c.Front), "design"))
	} else if c.Best != nil {
		lines = append(lines, fmt.Sprintf("best so far %s: trial %d, %s  [%s]", render.Value(*c.Best), c.Best.ID, c.Best.Design, c.Best.Why))
	} else if c.LeastViolation != nil {
		lines = append(lines, render.NothingFeasible(t, []strategy.Trial{*c.LeastViolation}))
	}
	if authors := c.Stored.Authors; authors > 0 {
		lines = append(lines, fmt.Sprintf("has the shares of %s from earlier runs", sanitize.Count(authors, "other node")))
	}
	for _, id := range c.Retried {
		after := ""
		if step := c.lastSteps[id]; step > 0 {
			after = fmt.Sprintf(" after step %d", step)
		}
		lines = append(lines, fmt.Sprintf("trial %d was interrupted%s and is evaluated again", id, after))
	}
	return strings.Join(lines, "\n")
}
