package baseline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// startsOf is the number of a member's best designs from which the search for its candidate starts
// too.
const startsOf = 5

// From is the source of a global design.
type From int

const (
	// Gradients chooses the maximiser of the members' average expected improvement: the end of an
	// ascent along their averaged gradients, from the best of many starts.
	Gradients From = iota
	// Candidates chooses the average of the designs that maximise the members' own expected
	// improvements: one round of federated averaging.
	Candidates
)

// Global is one strategy for all members of a federation together, with one design for all members
// in each round (Al Kontar, "Collaborative and Federated Black-box Optimization" (2024), equation
// 3, with equal weights). That survey argues against this approach. A member's n-th trial after its
// own starting designs is round n. The design of a round is decided when the first member requests
// it, from all observations at that time. If all members start together, these are all observations
// of earlier rounds.
//
// The members must have the same designs. A Global is safe for concurrent use. It is repeatable
// under the same condition as a Pool.
type Global struct {
	task   *task.Task
	search search.Search
	pool   *Pool
	from   From
	seed   random.Seed

	mu     sync.Mutex
	rounds map[uint64]decision
}

var (
	_ strategy.Strategy    = (*Global)(nil)
	_ strategy.Recommender = (*Global)(nil)
)

// decision is the design of one round.
type decision struct {
	design task.Design
	x      []float64 // the design's encoding
	why    strategy.Why
}

// NewGlobal returns the strategy of all members of a pool. seed determines its searches.
func NewGlobal(t *task.Task, pool *Pool, from From, seed random.Seed) *Global {
	return &Global{task: t, search: search.New(t), pool: pool, from: from, seed: seed, rounds: map[uint64]decision{}}
}

// Suggest implements strategy.Strategy.
func (g *Global) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	if g.search.Starting(view, trial) {
		return g.search.Start(view, trial, seed)
	}
	decided, err := g.round(ctx, g.search.AfterStart(trial))
	return strategy.Suggestion{Design: decided.design, Why: decided.why}, err
}

// Recommend implements strategy.Recommender. The design has the largest lower bound of the average of
// the members' posteriors, which are independent. It is the same for all members that recommend one at
// the same time.
func (g *Global) Recommend(ctx context.Context, _ strategy.View, _ random.Seed) task.Design {
	members, err := utilities(g.pool.now())
	if err != nil || len(members) == 0 {
		return task.Design{}
	}
	var average mean
	for _, m := range members {
		average = append(average, m.process)
	}
	x, _, err := g.search.Maximizer.Maximize(ctx, acquisition.LCB(average, 1), nil, g.seed.Stream("recommend", 0))
	if err != nil {
		return task.Design{}
	}
	return g.task.Space.Decode(x)
}

// mean is the posterior of the average of independent functions.
type mean []*gp.Posterior

func (m mean) Predict(x []float64) (value, variance float64) {
	return m.PredictGradient(make([]float64, len(x)), make([]float64, len(x)), x)
}

func (m mean) PredictGradient(dMean, dVariance, x []float64) (value, variance float64) {
	clear(dMean)
	clear(dVariance)
	count := float64(len(m))
	byMean, byVariance := make([]float64, len(x)), make([]float64, len(x))
	for _, p := range m {
		at, v := p.PredictGradient(byMean, byVariance, x)
		value, variance = value+at/count, variance+v/(count*count)
		for i := range x {
			dMean[i] += byMean[i] / count
			dVariance[i] += byVariance[i] / (count * count)
		}
	}
	return value, variance
}

// round returns the decision of a round, counted from 1. The first caller computes it.
func (g *Global) round(ctx context.Context, number uint64) (decision, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if decided, ok := g.rounds[number]; ok {
		return decided, nil
	}
	members, err := utilities(g.pool.now())
	if err != nil {
		return decision{}, fmt.Errorf("the design of round %d: %w", number, err)
	}
	decided, err := g.decide(ctx, number, members)
	if err != nil {
		return decision{}, err
	}
	g.rounds[number] = decided
	return decided, nil
}

func (g *Global) decide(ctx context.Context, number uint64, members []utility) (decision, error) {
	why := strategy.Why{Source: "global", Phrase: "one design for all", PeerCount: len(members) - 1, Round: int(number)}
	if g.from == Candidates {
		x, err := g.average(ctx, number, members)
		if err != nil {
			return decision{}, err
		}
		design := g.task.Space.Decode(x)
		if !g.decidedBefore(design) {
			return decision{design, g.task.Space.Encode(design), why}, nil
		}
	}
	var all []acquisition.Function
	for _, m := range members {
		all = append(all, m.f)
	}
	suggestion, err := g.search.Maximise(ctx, g.view(members), number, g.seed, acquisition.LogMean(all...), why)
	return decision{suggestion.Design, g.task.Space.Encode(suggestion.Design), suggestion.Why}, err
}

// average returns the average of the members' candidates, encoded.
func (g *Global) average(ctx context.Context, number uint64, members []utility) ([]float64, error) {
	average := make([]float64, g.task.Space.Dim())
	for _, m := range members {
		rng := g.seed.Derive("member", uint64(m.member)).Stream("candidate", number)
		x, _, err := g.search.Maximizer.Maximize(ctx, m.f, m.top(startsOf), rng)
		if err != nil {
			return nil, err
		}
		for i, v := range x {
			average[i] += v / float64(len(members))
		}
	}
	return average, nil
}

func (g *Global) decidedBefore(design task.Design) bool {
	for _, before := range g.rounds {
		if before.design.Key() == design.Key() {
			return true
		}
	}
	return false
}

// view returns a view with the earlier rounds as trials, whose outcomes are the average predictions
// of the members' models. It prevents that a design is decided twice.
func (g *Global) view(members []utility) strategy.View {
	view := strategy.View{Task: g.task}
	for number, decided := range g.rounds {
		mean := 0.0
		for _, m := range members {
			mean += m.process.Mean(decided.x) / float64(len(members))
		}
		view.Trials = append(view.Trials, strategy.Trial{
			ID: number, Design: decided.design, State: strategy.Done,
			Outcome: &strategy.Outcome{Value: g.task.Goal.Sign() * mean},
		})
	}
	slices.SortFunc(view.Trials, func(a, b strategy.Trial) int { return cmp.Compare(a.ID, b.ID) })
	return view
}

// utility is a member with its expected improvement over its own best observed design.
type utility struct {
	peer
	process *gp.Posterior
	f       acquisition.Function // logarithm of the expected improvement
}

// utilities returns the utilities of all members that have observations.
func utilities(now *snapshot) ([]utility, error) {
	var all []utility
	for _, p := range present(now.members) {
		process, err := p.process()
		if err != nil {
			return nil, fmt.Errorf("the model of member %d: %w", p.member, err)
		}
		all = append(all, utility{p, process, acquisition.LogEI(process, alone.BestMean(process, p.x))})
	}
	return all, nil
}

// top returns the designs with the largest outputs, at most this many, best first.
func (k *known) top(most int) [][]float64 {
	order := make([]int, len(k.y))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(k.y[j], k.y[i]) })
	var best [][]float64
	for _, i := range order[:min(most, len(order))] {
		best = append(best, k.x[i])
	}
	return best
}
