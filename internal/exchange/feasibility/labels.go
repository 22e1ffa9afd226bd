// Package feasibility lets agents on tasks with constraints share which designs they have evaluated
// and whether each was feasible, without measured values. Such a pair is called a label. The
// exchange [NewSharing] publishes labels, [Of] returns the peers' labels, and [Peer.Limit] derives
// from them a constraint on all designs.
//
// A label covers all constraints together. If the task counts failures as infeasible, a failed
// evaluation has the label infeasible. Otherwise it has no label.
//
// Labels disclose designs. They omit the objective and the measured values of constraints, but that
// gives no privacy in the sense of package privacy: later designs lie near the best ones.
package feasibility

import (
	"context"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/task"
)

// NewSharing returns the exchange of one agent. It publishes the newest labels of the agent's own
// trials, at most protocol.MaxLabels, in order of trial ID. The first share follows when there are
// as many labels as starting designs, and a new one after every further label.
func NewSharing(t *task.Task) *latest.Latest {
	return latest.New(latest.Spec{
		Kind:   protocol.FeasibilityKind,
		From:   t.Strategy.InitialDesigns,
		TTL:    protocol.MaxTTL,
		Count:  Count,
		Decode: func(payload []byte) (any, error) { return decode(t, payload) },
		Compute: func(_ context.Context, view strategy.View, _ random.Seed) ([]byte, error) {
			all := own(t, view.Trials)
			newest := all[max(0, len(all)-protocol.MaxLabels):]
			return protocol.Feasibility{Observations: len(all), Labels: newest}.Encode(t.Space)
		},
	})
}

// Count returns the number of labels of the agent's own trials. Trials with an outcome have one,
// and failed trials if failures count as infeasible.
func Count(view strategy.View) int {
	count := 0
	for i := range view.Trials {
		if labelled(view.Task, &view.Trials[i]) {
			count++
		}
	}
	return count
}

func labelled(t *task.Task, trial *strategy.Trial) bool {
	return trial.State == strategy.Done || trial.State == strategy.Failed && t.Failures == task.ConstrainFailures
}

// own returns the labels of an agent's trials.
func own(t *task.Task, trials []strategy.Trial) []protocol.Label {
	var all []protocol.Label
	for i := range trials {
		if trial := &trials[i]; labelled(t, trial) {
			all = append(all, protocol.Label{
				Point:    protocol.PointOf(t.Space, trial.Design),
				Feasible: trial.State == strategy.Done && t.Feasible(trial.Outcome),
			})
		}
	}
	return all
}

// decode returns a protocol.Feasibility.
func decode(t *task.Task, payload []byte) (any, error) {
	f, err := protocol.DecodeFeasibility(payload, t.Space)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Peer holds the labels of one peer.
type Peer struct {
	Share        *strategy.Share
	Observations int         // number of all labels of the peer, including older ones that the share omits
	X            [][]float64 // encoded designs of the task, 1 to protocol.MaxLabels; the same design may occur twice
	Feasible     []bool      // whether each design was feasible
}

// Of returns the labels of the view's peers, in the order of View.Shares.
func Of(view strategy.View) []Peer {
	var all []Peer
	space := view.Task.Space.Whole() // peers may evaluate designs that this node cannot
	for share, f := range strategy.Shares[protocol.Feasibility](view) {
		p := Peer{Share: share, Observations: f.Observations}
		for _, l := range f.Labels {
			p.X = append(p.X, space.Encode(space.Decode(l.Point.Encoded(space))))
			p.Feasible = append(p.Feasible, l.Feasible)
		}
		all = append(all, p)
	}
	return all
}

// Limit returns the constraint on all designs that follows from the labels. It is a Gaussian
// process with probit likelihood (Rasmussen and Williams, "Gaussian Processes for Machine
// Learning", 2006, section 3.6), and designs are feasible where the process is above 0. Its
// hyperparameters are the mode of the prior, so that a peer cannot choose them. The cost is cubic
// in the number of labels. An error means that the labels are unusable.
func (p Peer) Limit(t *task.Task) (acquisition.Limit, error) {
	sides := make([]gp.Interval, len(p.Feasible))
	for i, feasible := range p.Feasible {
		sides[i] = gp.Side(feasible)
	}
	spec := surrogate.ConstraintSpec(t)
	h := gp.PriorMode(spec)
	process, err := gp.NewIntervalPosterior(spec, p.X, sides, h)
	if err != nil {
		return acquisition.Limit{}, err
	}
	return acquisition.Limit{Predictor: process, High: math.Inf(1), Noise: h.Noise}, nil
}

// forge returns a payload with the same number of labels. Their designs come from the attack, and
// each is feasible with probability one half.
func forge(t *task.Task, _ string, payload []byte, attack strategy.Forgery) ([]byte, error) {
	f, err := protocol.DecodeFeasibility(payload, t.Space)
	if err != nil {
		return nil, err
	}
	for i := range f.Labels {
		f.Labels[i].Point = protocol.PointOf(t.Space, attack.Design(t.Space))
		f.Labels[i].Feasible = attack.Rand.IntN(2) == 1
	}
	return f.Encode(t.Space)
}
