package density

import (
	"context"
	"slices"
	"sync"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/exchange/feasibility"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/optprior/pooling"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// priorSpread is the spread of the density around a prior design if the task has no spread.
const priorSpread = 0.2

// maxPeers is the maximum number of peers whose densities one suggestion uses. If more peers have
// shares, the agent draws maxPeers of them for each trial. The mean of their logarithms is then an
// unbiased estimate of the mean over all peers. The product is that of maxPeers densities.
const maxPeers = 64

// Strategy maximises the expected improvement, weighted by peers' densities of the optimum. While no
// feasible design is known, the probability of feasibility replaces the expected improvement. It is
// immutable.
type Strategy struct {
	alone  alone.LogEI
	search search.Search
	task   *task.Task
	layout *optprior.Layout
	spread float64 // spread of the density around a prior design

	evenly func() [][]float64 // designs for the averages that normalise densities; computed once, when first needed
}

var _ strategy.Strategy = Strategy{}

// New returns the strategy of a task of type density.
func New(t *task.Task) Strategy {
	s := Strategy{
		alone:  alone.NewLogEI(t).WithoutCentre(), // peers that all start at the centre would share densities around it
		search: search.New(t),
		task:   t,
		layout: optprior.NewLayout(t.Space),
		spread: priorSpread,
		evenly: sync.OnceValue(func() [][]float64 { return uniform(t) }),
	}
	if shape := shapeOf(t); shape.Components == 1 {
		s.spread = shape.Spread
	}
	return s
}

// Suggest implements strategy.Strategy. If there are no densities, it suggests the design of
// alone.LogEI without a first design at the centre (WithoutCentre), for the same view, trial and
// seed.
func (s Strategy) Suggest(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (strategy.Suggestion, error) {
	blind := search.Uninformed(view)
	if s.starting(view, trial) || blind && seed.Stream("blind", trial).IntN(2) == 0 {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	received, why := s.listen(view, trial, seed)
	factor := exponent(settingsOf(s.task), view.Observations)
	if blind {
		factor *= float64(max(view.Observations, 1))
	}
	if len(received.densities) == 0 || factor == 0 {
		return s.alone.Suggest(ctx, view, trial, seed)
	}
	pool := pooling.New(received.densities, s.weights(view, trial, seed, received, blind), factor)
	if view.Posterior == nil && len(view.Constraints) == 0 {
		why.Phrase = "best guess by the densities of " + sanitize.Count(why.PeerCount, "peer")
		return s.search.Maximise(ctx, view, trial, seed, pool, why)
	}
	score, _ := s.alone.Score(view)
	return s.search.Maximise(ctx, view, trial, seed, acquisition.Sum(score, pool), why)
}

// weights returns the weights of the rules that combine the densities. While the own outcomes are
// uninformative (blind), they are no evidence.
func (s Strategy) weights(view strategy.View, trial uint64, seed strategy.Seed, received information, blind bool) pooling.Weights {
	switch settingsOf(s.task).Pooling {
	case poolingProduct:
		return pooling.Only(pooling.Product)
	case poolingMean:
		return pooling.Only(pooling.Geometric)
	}
	if blind {
		return pooling.Even()
	}
	designs := pooling.Candidates(s.layout, s.evenly(), received.centres, seed.Stream("candidates", trial))
	return pooling.Evidence(view, pooling.Even(), received.densities, designs, seed.Stream("evidence", trial))
}

// UsesSharesFromStart implements strategy.SharesFromStart.
func (s Strategy) UsesSharesFromStart() bool { return true }

// starting reports whether the trial gets a starting design. It differs from search.Starting in two
// cases. If all evaluations have failed and failures are learned, the agent can already use
// densities of peers, since it has a model of failures although none of the objective. And a new
// agent skips its starting designs if a peer has more observations than starting designs.
func (s Strategy) starting(view strategy.View, trial uint64) bool {
	if view.Observations == 0 && len(view.Constraints) > 0 {
		return s.search.AfterStart(trial) == 0
	}
	return s.search.Starting(view, trial) && !s.pastStart(view)
}

// pastStart reports whether a peer has more observations than the starting designs give.
func (s Strategy) pastStart(view strategy.View) bool {
	for _, d := range strategy.Shares[protocol.Density](view) {
		if d.Observations > s.task.Strategy.InitialDesigns {
			return true
		}
	}
	return false
}

// exponent returns γ_t = β/t after t own observations; t = 0 counts as 1.
func exponent(settings Settings, observations int) float64 {
	return settings.Beta / float64(max(observations, 1))
}

// information holds the densities for one suggestion.
type information struct {
	densities []acquisition.Function // logarithms relative to the uniform density
	centres   [][]float64            // of the normals among them
}

// add adds a mixture of normals.
func (i *information) add(m *optprior.Mixture) {
	i.densities = append(i.densities, m)
	i.centres = append(i.centres, m.Centres()...)
}

// listen collects the densities to use: one of each peer, and one around each prior design of the
// user.
func (s Strategy) listen(view strategy.View, trial uint64, seed strategy.Seed) (information, strategy.Why) {
	why := strategy.Why{Source: "density", Phrase: "expected improvement, weighed by the prior designs"}
	var received information
	for _, p := range labelled(view, trial, seed) {
		l, err := learn(s.task, p, s.evenly())
		if err != nil {
			continue // a peer's share must not stop the agent
		}
		received.densities = append(received.densities, l)
		why.PeerCount++
		why.Observations = strategy.AddObservations(why.Observations, p.Observations)
	}
	if why.PeerCount > 0 {
		why.Phrase = "expected improvement, weighed by what " + sanitize.Count(why.PeerCount, "peer") + " found feasible"
	}
	told := optprior.Peers(view, maxPeers, seed.Stream("which peers", trial))
	var noisy []protocol.Density // densities of DP releases
	for _, d := range told {
		why.PeerCount++
		why.Observations = strategy.AddObservations(why.Observations, d.Observations)
		if d.Release > 0 {
			noisy = append(noisy, d)
		} else {
			received.add(optprior.NewMixture(s.layout, s.task.Space, d))
		}
	}
	if len(noisy) > 0 {
		received.densities = append(received.densities, newOptimaDensity(s.layout, s.task, noisy).relative(s.evenly()))
	}
	if len(told) > 0 {
		why.Phrase = "expected improvement, weighed by the densities of " + sanitize.Count(why.PeerCount, "peer")
	}
	for _, design := range view.PriorDesigns {
		received.add(optprior.Around(s.layout, s.spread, s.task.Space.Encode(design)))
	}
	return received, why
}

// labelled returns the labels of the peers that the agent uses in this trial. If some peers have a
// feasible design, it ignores the others, whose labels contain little information and would reduce
// the weight of the rest. If no peer has one and the own outcomes are uninformative
// ([search.Uninformed]), it ignores all.
func labelled(view strategy.View, trial uint64, seed strategy.Seed) []feasibility.Peer {
	all := feasibility.Of(view)
	none := func(p feasibility.Peer) bool { return !slices.Contains(p.Feasible, true) }
	if some := slices.DeleteFunc(slices.Clone(all), none); len(some) > 0 {
		all = some
	} else if search.Uninformed(view) {
		all = nil
	}
	return search.AtMost(maxPeers, all, seed.Stream("which peers", trial))
}
