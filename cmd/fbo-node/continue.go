package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// continued is what a run takes up that earlier ones have left.
type continued struct {
	Event       string          `json:"event"`       // "continued"
	Evaluations int             `json:"evaluations"` // with an outcome or failed
	Failed      int             `json:"failed"`
	Imported    int             `json:"imported"`
	Best        *strategy.Trial `json:"best"`
	Nearest     *strategy.Trial `json:"nearest,omitempty"` // while nothing is feasible: the one of least violation
	Again       []uint64        `json:"again"`             // trials that were interrupted and are evaluated again
	Knowledge   node.Knowledge  `json:"knowledge"`
}

// continues says so before anything is evaluated; nothing when the run is the
// first.
func (p *progress) continues(ctx context.Context, session *node.Session, o runOptions) error {
	trials, err := session.Trials(ctx)
	if err != nil || len(trials) == 0 {
		return err
	}
	status, err := session.Status(ctx)
	if err != nil {
		return err
	}
	c := continuedOf(p.task, trials)
	if left := max(0, c.left(o)); o.evalsGiven && left < len(c.Again) {
		c.Again = c.Again[:left]
	}
	c.Knowledge = status.Knowledge
	p.printLine(c, "%s", c.text(p.task, o))
	return nil
}

func continuedOf(t *task.Task, trials []strategy.Trial) continued {
	s := summarise(t, trials)
	c := continued{Event: "continued", Evaluations: s.Evaluations, Failed: s.Failed, Imported: s.Imported, Best: strategy.Best(t, trials), Nearest: infeasibleNearest(t, trials), Again: []uint64{}}
	for _, trial := range trials {
		if trial.State == strategy.Waiting || trial.State == strategy.Running {
			c.Again = append(c.Again, trial.ID)
		}
	}
	return c
}

// left is how many of the outcomes that --evals asks for are missing.
func (c continued) left(o runOptions) int { return o.evals - (c.Evaluations - c.Failed) }

func (c continued) text(t *task.Task, o runOptions) string {
	first := fmt.Sprintf("continues after %s (%d failed)", sanitize.Count(c.Evaluations, "evaluation"), c.Failed)
	if c.Imported > 0 {
		first += " and " + sanitize.Count(c.Imported, "imported trial")
	}
	if left := c.left(o); o.evals > 0 && left > 0 {
		first += fmt.Sprintf("; %d of the %d that --evals asks for are left", left, o.evals)
	}
	lines := []string{first}
	if c.Best != nil {
		lines = append(lines, fmt.Sprintf("best so far %s: trial %d, %s  [%s]", valueText(*c.Best), c.Best.ID, c.Best.Design, c.Best.Why))
	} else if c.Nearest != nil {
		lines = append(lines, nothingFeasible(t, []strategy.Trial{*c.Nearest}))
	}
	if authors := c.Knowledge.Authors; authors > 0 {
		lines = append(lines, fmt.Sprintf("knows what %s shared in earlier runs", sanitize.Count(authors, "other node")))
	}
	for _, id := range c.Again {
		lines = append(lines, fmt.Sprintf("trial %d was interrupted and is evaluated again", id))
	}
	return strings.Join(lines, "\n")
}
