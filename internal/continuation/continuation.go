// Package continuation maps what a node knows of a former task to the task that continues it: its
// own trials, and the shares of peers. task.Continuation maps the designs. What cannot be mapped is
// dropped and counted.
package continuation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/exchange/results"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Dropped counts what could not be mapped, by reason.
type Dropped map[string]int

// Total returns the sum of the counts.
func (d Dropped) Total() (sum int) {
	for _, count := range d {
		sum += count
	}
	return sum
}

// String returns the reasons with their counts, such as "x is outside of its new values (2)".
func (d Dropped) String() string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(d)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", reason, d[reason]))
	}
	return sanitize.List(parts)
}

// Trials returns the ended trials of the former task as past evaluations of the current one t, in
// their order.
func Trials(c *task.Continuation, t *task.Task, trials []strategy.Trial) (past []agent.Past, dropped Dropped) {
	dropped = Dropped{}
	for _, trial := range trials {
		if !trial.State.Ended() {
			continue
		}
		design, reason := c.Design(trial.Design)
		if reason != "" {
			dropped[reason]++
			continue
		}
		p := agent.Past{Design: design, Failed: cmp.Or(trial.Reason, "failed")}
		switch trial.State {
		case strategy.StoppedEarly:
			p = agent.Past{Design: design, Stopped: true}
		case strategy.Done:
			p = agent.Past{Design: design, Outcome: outcome(t, *trial.Outcome)}
			if t.CheckReadings(p.Outcome.Constraints) != nil {
				dropped["the outcome lacks a constraint of the new task"]++
				continue
			}
			if t.CheckObjectives(p.Outcome.Metrics) != nil {
				dropped["the outcome lacks an objective of the new task"]++
				continue
			}
		}
		p.Outcome.Cost, p.Outcome.Annotations, p.Steps, p.Stop = trial.Cost, trial.Annotations, trial.Steps, trial.Stop
		past = append(past, p)
	}
	return past, dropped
}

// outcome returns an outcome without the readings of constraints that the task lacks.
func outcome(t *task.Task, o strategy.Outcome) strategy.Outcome {
	o.Constraints = maps.Clone(o.Constraints)
	maps.DeleteFunc(o.Constraints, func(name string, _ task.Reading) bool {
		return !slices.ContainsFunc(t.Constraints, func(c task.Constraint) bool { return string(c.Output) == name })
	})
	if len(o.Constraints) == 0 {
		o.Constraints = nil
	}
	return o
}

// Shares returns the shares of the former task whose values apply to the current one t: results and
// estimated optima. The places of optima are mapped, and a place outside of narrower bounds moves to the bound if it
// is within the spread of the share. A spread grows with the parameter whose range shrinks most.
// Shares about the features of the former task, and private releases, are dropped.
func Shares(c *task.Continuation, t *task.Task, shares []agent.FormerShare) (mapped []agent.FormerShare, dropped Dropped) {
	dropped = Dropped{}
	for _, share := range shares {
		value, reason := valueOf(c, t, share.Value)
		if reason != "" {
			dropped[reason]++
			continue
		}
		share.Value = value
		mapped = append(mapped, share)
	}
	return mapped, dropped
}

func valueOf(c *task.Continuation, t *task.Task, value any) (any, string) {
	former, space := c.Former().Space, t.Space
	switch v := value.(type) {
	case protocol.Density:
		if v.Release > 0 {
			return nil, "private releases of the former task"
		}
		v.Components = slices.Clone(v.Components)
		for i, component := range v.Components {
			design, stretch, reason := c.Place(former.Decode(component.Center.Encoded(former)), component.Std)
			if reason != "" {
				return nil, strings.TrimSpace(reason)
			}
			v.Components[i].Center = protocol.PointOf(space, design)
			v.Components[i].Std = min(component.Std*stretch, protocol.MaxSpread)
		}
		return v, ""
	case protocol.NearOptimal:
		if v.Release > 0 {
			return nil, "private releases of the former task"
		}
		design, reason := c.Design(former.Decode(v.Point.Encoded(former)))
		if reason != "" {
			return nil, reason
		}
		v.Point = protocol.PointOf(space, design)
		return v, ""
	case *results.Received:
		mapped, reason := v.Mapped(t, c.Design)
		if reason != "" {
			return nil, reason
		}
		return mapped, ""
	}
	return nil, "about the features of the former task"
}
