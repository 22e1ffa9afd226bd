package density

import (
	"fmt"
	"time"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/search"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Kind names the exchange and its shares.
const Kind = "density"

// ttl is how long a density stays valid, whether or not its author is present.
const ttl = 24 * time.Hour

// How a density of more than one component is found. What is wanted is on which
// hills the samples have their maxima, not where exactly, so that a maximisation
// may be short.
const (
	samples          = 32
	sampleCandidates = 256
	sampleSearches   = 8
)

// Sharing is the exchange that publishes where the agent believes the optimum to
// be, after the starting designs and then after every observation. It never
// waits.
type Sharing struct {
	task *task.Task

	sharedAt  int // observations behind the newest density that was asked for
	computing bool
}

var _ strategy.Exchange = (*Sharing)(nil)

// NewSharing returns the exchange of one agent on a task of type density.
func NewSharing(t *task.Task) *Sharing { return &Sharing{task: t} }

// Name implements strategy.Exchange.
func (*Sharing) Name() string { return Kind }

// Decode implements strategy.Exchange; the value is a protocol.Density of no more
// components than the task has.
func (s *Sharing) Decode(payload []byte) (any, error) {
	d, err := protocol.DecodeDensity(payload, s.task.Space)
	if err != nil {
		return nil, err
	}
	if most := s.task.Strategy.Density.Components; len(d.Components) > most {
		return nil, fmt.Errorf("%w: a density of %d components, the task allows %d", protocol.ErrMalformed, len(d.Components), most)
	}
	return d, nil
}

// Step implements strategy.Exchange.
func (s *Sharing) Step(view strategy.View, in strategy.Input) []strategy.Output {
	switch in := in.(type) {
	case strategy.Start, strategy.Told:
		return s.compute(view)
	case strategy.WorkDone:
		s.computing = false
		d, ok := in.Result.(protocol.Density)
		if !ok {
			return nil // the agent has reported in.Err; the next observation brings the next try
		}
		s.sharedAt = d.Observations // the work may have seen more than there was when it was asked for
		payload, err := d.Encode(s.task.Space)
		if err != nil {
			return s.compute(view) // beyond the bounds of a share; the next one will do
		}
		return append([]strategy.Output{strategy.Publish{Payload: payload, TTL: ttl}}, s.compute(view)...)
	}
	return nil
}

func (s *Sharing) compute(view strategy.View) []strategy.Output {
	if s.computing || view.Observations <= s.sharedAt || view.Observations < s.task.Strategy.InitialDesigns {
		return nil
	}
	s.computing, s.sharedAt = true, view.Observations
	return []strategy.Output{strategy.Work{Name: "density", Run: func(view strategy.View, seed random.Seed) (any, error) {
		if view.Posterior == nil {
			return nil, nil // the surrogate could not be fitted; nothing to say yet
		}
		return believed(s.task, view, seed), nil
	}}}
}

// believed is where an agent with a posterior believes the optimum to be.
func believed(t *task.Task, view strategy.View, seed random.Seed) protocol.Density {
	d := protocol.Density{Observations: view.Observations}
	seed = seed.Derive("density", uint64(view.Observations))
	find := search.New(t)
	if settings := t.Strategy.Density; settings.Components == 1 {
		best := find.Recommend(view, seed)
		d.Components = []protocol.Component{{Weight: 1, Spread: settings.Spread, Centre: protocol.PointOf(t.Space, best)}}
		return d
	}
	find.Maximizer.Candidates, find.Maximizer.Searches = sampleCandidates, sampleSearches
	maximisers := make([][]float64, samples)
	for i := range maximisers {
		f := view.Posterior.Draw(seed.Stream("sample", uint64(i)))
		maximisers[i], _ = find.Maximizer.Maximize(f, find.Best(view), seed.Stream("maximise", uint64(i)))
	}
	d.Components = fit(newLayout(t.Space), maximisers, t.Strategy.Density.Components, seed.Stream("clusters", 0))
	return d
}
