package baseline

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling"
	"github.com/fbo-node/fbo/tsampling/ftsde"
)

// Trusted holds the settings of DP-FTS-DE in its published form, in which a server sees all
// members' samples (Dai, Low and Jaillet, NeurIPS 2021, algorithm 2).
type Trusted struct {
	Cells int     // P, a power of 2, 1 to 16; 1 means without distributed exploration
	Clip  float64 // S, more than 0, the norm limit of all P copies of a sample together
	Rate  float64 // q, the probability that an agent is in a round's sum, above 0 to 1
	Noise float64 // z, the noise multiplier, 0 or more
}

// PublishedTrusted returns the settings of the published experiments.
func PublishedTrusted() Trusted { return Trusted{Cells: 4, Clip: 22, Rate: 0.35, Noise: 1} }

// Validate returns an error that names the setting that is out of range.
func (s Trusted) Validate() error {
	switch {
	case s.Cells < 1 || s.Cells > 16 || bits.OnesCount(uint(s.Cells)) != 1:
		return fmt.Errorf("cells must be a power of 2 from 1 to 16, not %d", s.Cells)
	case !(s.Clip > 0 && s.Clip <= 1e9):
		return fmt.Errorf("clip must be more than 0 and at most 1e9, not %g", s.Clip)
	case !(s.Rate > 0 && s.Rate <= 1):
		return fmt.Errorf("rate must be more than 0 and at most 1, not %g", s.Rate)
	case !(s.Noise >= 0 && s.Noise <= 1e6):
		return fmt.Errorf("noise must be from 0 to 1e6, not %g", s.Noise)
	}
	return nil
}

// Server is the trusted aggregator of one simulated federation. Agents add a new sample after each
// observation by Watch, and read the averages. A Server is safe for concurrent use. As with Pool, a
// simulation is repeatable only if nothing is added while suggestions are computed. Its noise
// consists of floats and gives no protection, which is sufficient for simulations.
type Server struct {
	settings Trusted
	task     *task.Task
	cells    ftsde.Cells
	features *rff.Map
	seed     random.Seed

	mu      sync.Mutex
	samples [][]float64            // latest sample of each member; nil before the member has evaluated its starting designs
	rounds  map[uint64][][]float64 // for each round, the averages by cell
}

// NewServer returns a server for this number of members of a task. The settings must be valid.
func NewServer(t *task.Task, members int, settings Trusted, seed random.Seed) (*Server, error) {
	features, err := surrogate.SharedMap(t)
	if err != nil {
		return nil, err
	}
	return &Server{
		settings: settings,
		task:     t,
		cells:    ftsde.NewCells(t.Space, settings.Cells),
		features: features,
		seed:     seed,
		samples:  make([][]float64, members),
		rounds:   map[uint64][][]float64{},
	}, nil
}

// Watch replaces a member's sample by a new one from its view.
func (s *Server) Watch(member int, view strategy.View) {
	if view.Posterior == nil || view.Observations < s.task.Strategy.InitialDesigns {
		return
	}
	sample, err := view.Posterior.Weights(context.Background(), s.seed.Derive("member", uint64(member)).Stream("sample", uint64(view.Observations)))
	if err != nil {
		panic(err) // unexpected: the surrogate's own projection never fails
	}
	ftsde.Shorten(sample, s.settings.Clip/math.Sqrt(float64(s.settings.Cells)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.samples[member] = sample
}

// averages returns the averages of a round, counted from 1. The first caller computes them.
func (s *Server) averages(round uint64) [][]float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rounds[round] == nil {
		s.rounds[round] = s.aggregate(round)
	}
	return s.rounds[round]
}

// aggregate sums over a random selection of members: (1/q) Σ w ω + N(0, (z w_max S/q)²). Without a
// selected member the sum is noise only; the published code differs in this case.
func (s *Server) aggregate(round uint64) [][]float64 {
	rng := s.seed.Stream("round", round)
	selected := make([]bool, len(s.samples))
	for i := range selected {
		selected[i] = rng.Float64() < s.settings.Rate
	}
	other := ftsde.Elsewhere(int(round) - 1)
	averages := make([][]float64, s.settings.Cells)
	for cell := range averages {
		total := 0.0
		for member := range s.samples {
			total += s.weight(member, cell, other)
		}
		noise := s.settings.Noise * s.settings.Clip / s.settings.Rate / total // 1/total is w_max
		average := make([]float64, s.task.Surrogate.Features)
		for member, sample := range s.samples {
			if !selected[member] || sample == nil {
				continue
			}
			weight := s.weight(member, cell, other) / total / s.settings.Rate
			for i, v := range sample {
				average[i] += weight * v
			}
		}
		for i := range average {
			average[i] += noise * rng.NormFloat64()
		}
		averages[cell] = average
	}
	return averages
}

func (s *Server) weight(member, cell int, other float64) float64 {
	if s.cellOf(member) == cell {
		return 1
	}
	return other
}

func (s *Server) cellOf(member int) int { return member % s.settings.Cells }

// trusted is one member's strategy.
type trusted struct {
	server *Server
	self   int
	search search.Search
	alone  alone.TS
}

// NewTrusted returns the strategy of member self. With probability p_t = 1-1/t, where p_1 = 0, it
// maximises its own sample. Otherwise it maximises the function that has in each cell the cell's
// average. t is the server's task, with the member's own space.
func NewTrusted(t *task.Task, server *Server, self int) strategy.Strategy {
	return trusted{server: server, self: self, search: search.New(t), alone: alone.NewTS(t)}
}

// Suggest implements strategy.Strategy.
func (s trusted) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	if s.search.Starting(view, trial) {
		cell := s.server.cellOf(s.self)
		return s.search.StartWithin(view, trial, seed, func(x []float64) bool { return s.server.cells.Of(x) == cell })
	}
	round := s.search.AfterStart(trial)
	own := tsampling.Schedule{Name: tsampling.Inverse}.Own(round)
	if seed.Stream("whose sample", trial).Float64() < own {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	f := s.server.cells.Function(s.server.features, s.server.averages(round))
	return s.search.Maximise(ctx, view, trial, seed, f, strategy.Why{Source: "sum", OwnProbability: &own, PeerCount: len(s.server.samples)})
}
