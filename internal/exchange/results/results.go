// Package results lets agents share the results of their own evaluations: designs, values of the
// objective in the task's units, readings of constraints, and failures. The exchange [NewSharing]
// publishes results, and [Of] returns those of the peers.
//
// Results are the data themselves. This is for nodes that trust each other, such as those of one
// company: all nodes that can take part in the task receive all results.
package results

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/task"
)

// newestResults is the number of newest results in a share with protocol.MaxResults results. The
// others are the best of the older results.
const newestResults = protocol.MaxResults / 2

// NewSharing returns the exchange of one agent. It publishes the agent's results, at most
// protocol.MaxResults, in the order of trials. If there are more, it publishes the newest half of
// this number, and the best of the others. A share follows after every result, or after the number
// in the task's key share_every.
func NewSharing(t *task.Task) *latest.Latest {
	return latest.New(latest.Spec{
		Kind:   protocol.ResultsKind,
		Every:  strategy.ChoiceOf(t).ShareEvery,
		TTL:    protocol.MaxTTL,
		Count:  func(view strategy.View) int { return len(own(view)) },
		Decode: func(payload []byte) (any, error) { return decode(t, payload) },
		Compute: func(_ context.Context, view strategy.View, _ random.Seed) ([]byte, error) {
			return compute(view)
		},
	})
}

// own returns the trials of an agent that a share can contain: failed trials, and trials with an
// outcome within the limits of the format.
func own(view strategy.View) (all []*strategy.Trial) {
	for i := range view.Trials {
		if trial := &view.Trials[i]; trial.State == strategy.Failed || trial.State == strategy.Done && sendable(view.Task, trial.Outcome) {
			all = append(all, trial)
		}
	}
	return all
}

func sendable(t *task.Task, o *strategy.Outcome) bool {
	for _, v := range append(readings(t, o), o.Value) {
		if !(math.Abs(v) <= protocol.MaxUnit) {
			return false
		}
	}
	return true
}

// readings returns the readings of the task's constraints in their order, or nil without constraints.
func readings(t *task.Task, o *strategy.Outcome) (all []float64) {
	for _, c := range t.Constraints {
		all = append(all, o.Constraints[string(c.Output)].Float())
	}
	return all
}

func compute(view strategy.View) ([]byte, error) {
	all := own(view)
	if len(all) == 0 {
		return nil, nil
	}
	r := protocol.Results{Observations: len(all)}
	for _, trial := range chosen(view.Task, all) {
		one := protocol.Result{Point: protocol.PointOf(view.Task.Space, trial.Design), Failed: trial.State == strategy.Failed}
		if !one.Failed {
			one.Value, one.Constraints = trial.Outcome.Value, readings(view.Task, trial.Outcome)
		}
		r.Results = append(r.Results, one)
	}
	return r.Encode(view.Task.Space, view.Task.Constraints)
}

// chosen returns the trials that a share contains, in the order of all.
func chosen(t *task.Task, all []*strategy.Trial) []*strategy.Trial {
	if len(all) <= protocol.MaxResults {
		return all
	}
	older, newest := slices.Clone(all[:len(all)-newestResults]), all[len(all)-newestResults:]
	slices.SortStableFunc(older, func(a, b *strategy.Trial) int {
		switch {
		case a.State == strategy.Done && b.State == strategy.Done:
			return t.Compare(b.Outcome, a.Outcome)
		case a.State == strategy.Done:
			return -1
		case b.State == strategy.Done:
			return 1
		}
		return 0
	})
	older = older[:protocol.MaxResults-newestResults]
	slices.SortFunc(older, func(a, b *strategy.Trial) int { return int(a.ID) - int(b.ID) })
	return append(older, newest...)
}

// Received is the decoded payload of a share.
type Received struct {
	protocol.Results
	task *task.Task
	once sync.Once
	obs  surrogate.Observations
}

func decode(t *task.Task, payload []byte) (any, error) {
	r, err := protocol.DecodeResults(payload, t.Space, t.Constraints)
	if err != nil {
		return nil, err
	}
	return &Received{Results: r, task: t}, nil
}

// Mapped returns the results as those of another task. design returns the design of that task, or the
// reason why there is none; such results are left out. Readings of constraints are left out as well,
// since the other task may have other constraints. If no result is left, Mapped returns nil and the
// last reason.
func (r *Received) Mapped(to *task.Task, design func(task.Design) (task.Design, string)) (mapped *Received, reason string) {
	mapped = &Received{Results: protocol.Results{Observations: r.Observations}, task: to}
	for _, one := range r.Results.Results {
		moved, why := design(r.task.Space.Decode(one.Point.Encoded(r.task.Space)))
		if why != "" {
			reason = why
			continue
		}
		one.Point, one.Constraints = protocol.PointOf(to.Space, moved), nil
		mapped.Results.Results = append(mapped.Results.Results, one)
	}
	if len(mapped.Results.Results) == 0 {
		return nil, reason
	}
	return mapped, ""
}

// Objective returns the observations of the objective in the form of strategy.Observed: encoded
// designs, and values of which larger is better. Failed evaluations and diverged values are left
// out. The caller must not change the result.
func (r *Received) Objective() surrogate.Observations {
	r.once.Do(func() {
		space := r.task.Space.Whole() // peers may evaluate designs that this node cannot
		var all surrogate.Observations
		for _, one := range r.Results.Results {
			if !one.Failed {
				all.X = append(all.X, space.Encode(space.Decode(one.Point.Encoded(space))))
				all.Y = append(all.Y, r.task.Goal.Sign()*one.Value)
			}
		}
		for i, diverged := range surrogate.Diverged(all) {
			if !diverged {
				r.obs.X, r.obs.Y = append(r.obs.X, all.X[i]), append(r.obs.Y, all.Y[i])
			}
		}
	})
	return r.obs
}

// Peer holds the results of one peer.
type Peer struct {
	Share *strategy.Share
	*Received
}

// Of returns the results of the view's peers, in the order of View.Shares.
func Of(view strategy.View) (all []Peer) {
	for share, r := range strategy.Shares[*Received](view) {
		all = append(all, Peer{share, r})
	}
	return all
}
