package constrained

import (
	"fmt"
	"time"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/search"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/surrogate"
	"github.com/fbo-node/fbo/task"
)

// Kind names the exchange and its shares.
const Kind = "design"

// open is the threshold with which shares carry their bound.
const open = "open"

// ttl is how long a design stays valid without a word from its author.
const ttl = 24 * time.Hour

// Sharing is the exchange that publishes, after every observation from the last
// starting design on, the maximiser of the lower confidence bound of the agent's
// posterior. It never waits.
type Sharing struct {
	task   *task.Task
	search search.Search

	sharedAt  int // observations behind the newest design that was asked for
	computing bool
}

var _ strategy.Exchange = (*Sharing)(nil)

// NewSharing returns the exchange of one agent on a task of type constrained-gp.
func NewSharing(t *task.Task) *Sharing {
	return &Sharing{task: t, search: search.New(t)}
}

// Name implements strategy.Exchange.
func (*Sharing) Name() string { return Kind }

// Decode implements strategy.Exchange; the value is a protocol.NearOptimal, with
// a bound if and only if the task's threshold is open.
func (s *Sharing) Decode(payload []byte) (any, error) {
	n, err := protocol.DecodeNearOptimal(payload, s.task.Space)
	if err != nil {
		return nil, err
	}
	threshold := s.task.Strategy.Constrained.Threshold
	if bounded := n.Bound != nil; bounded != (threshold == open) {
		return nil, fmt.Errorf("%w: a design with a bound (%t), but the task's threshold is %q", protocol.ErrMalformed, bounded, threshold)
	}
	return n, nil
}

// Step implements strategy.Exchange.
func (s *Sharing) Step(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Start, strategy.Told:
		return s.compute(view)
	case strategy.WorkDone:
		s.computing = false
		design, ok := in.Result.(protocol.NearOptimal)
		if !ok {
			return nil // the agent has reported in.Err; the next observation brings the next try
		}
		s.sharedAt = design.Observations // the work may have seen more than there was when it was asked for
		payload, err := design.Encode(s.task.Space)
		if err != nil {
			return s.compute(view) // a bound beyond all limits says nothing; the next one will do
		}
		return append([]strategy.Output{strategy.Publish{Payload: payload, TTL: ttl}}, s.compute(view)...)
	}
	return nil
}

// compute asks for a new design when there is news.
func (s *Sharing) compute(view strategy.View) []strategy.Output {
	if s.computing || view.Observations <= s.sharedAt || view.Observations < s.task.Strategy.InitialDesigns {
		return nil
	}
	s.computing, s.sharedAt = true, view.Observations
	return []strategy.Output{strategy.Work{Name: Kind, Run: func(view strategy.View, seed random.Seed) (any, error) {
		return nearOptimal(s.task, s.search, view, seed)
	}}}
}

// nearOptimal returns a protocol.NearOptimal, or nil while there is nothing to
// say.
func nearOptimal(t *task.Task, s search.Search, view strategy.View, seed random.Seed) (any, error) {
	if view.Posterior == nil {
		return nil, nil // the surrogate could not be fitted
	}
	units, err := unitsOf(t, view)
	if err != nil {
		return nil, err
	}
	if units.Scale == 0 {
		return nil, nil // all designs have turned out the same, and none is near-optimal
	}
	deviations := t.Strategy.Constrained.Confidence
	lcb := acquisition.LCB(view.Posterior, deviations*deviations)
	x, bound := s.Maximizer.Maximize(lcb, s.Best(view), seed.Stream("near-optimal", uint64(view.Observations)))
	n := protocol.NearOptimal{Observations: view.Observations, Point: protocol.PointOf(t.Space, t.Space.Decode(x))}
	if t.Strategy.Constrained.Threshold == open {
		bound = own(units, bound)
		n.Bound = &bound
	}
	return n, nil
}

// unitsOf relates what the posterior of the view says to the objective's own
// units, larger being better. The view has an observation.
func unitsOf(t *task.Task, view strategy.View) (surrogate.Units, error) {
	sign := 1.0
	if t.Goal == task.Minimize {
		sign = -1
	}
	var obs surrogate.Observations
	for _, trial := range view.Trials {
		if trial.State == strategy.Done {
			obs.X = append(obs.X, t.Space.Encode(trial.Design))
			obs.Y = append(obs.Y, sign*trial.Outcome.Value)
		}
	}
	_, units, err := surrogate.Standardise(obs)
	if err != nil {
		return surrogate.Units{}, fmt.Errorf("constrained: %w", err)
	}
	return units, nil
}

// own turns a standardised value into the objective's units. In the bent tail the
// result is too high, but where objectives are comparable no bound from there
// passes a threshold.
func own(units surrogate.Units, value float64) float64 { return units.Level + units.Scale*value }
