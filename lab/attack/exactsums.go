package attack

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
	exactsum "github.com/fbo-node/fbo/internal/exchange/sums"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// kindExactSum is the kind of what colluding nodes know about the others from a sum without noise.
// No share has this kind.
const kindExactSum = "exact sum"

// exactSum is what remains of one sum after all that colluding nodes know is subtracted.
type exactSum struct {
	statistic exactsum.Statistic
	count     int // number of observations in it
	vector    []float64
}

func exactSumAttacks() []Attack {
	guess := func(ctx context.Context, seen *Seen, rng *rand.Rand) (g Guess, err error) {
		for _, s := range valuesOf[exactSum](seen.Disclosures[0]) {
			x, y := s.invert(ctx, seen.Task, rng)
			g.X, g.Y = append(g.X, x...), append(g.Y, y...)
		}
		return g, ctx.Err()
	}
	return []Attack{
		{Name: "inversion of sums, max_colluding nodes subtract theirs", Kinds: []string{kindExactSum}, Scene: Collude, Most: maxInverted, Guess: guess},
		{Name: "inversion of one node's part, all other nodes collude", Kinds: []string{kindExactSum}, Scene: Listen, Most: maxInverted, Guess: guess},
	}
}

// maxInverted is the largest number of observations for which the inversion takes minutes at most.
const maxInverted = 40

// playExactSums evaluates as many nodes as the smallest sum has, without peers. Each sum has the next
// share_every observations of each node. No difference of sums is simpler than single sums, since no
// observation is in two of them. In the scene Collude, what is left are the observations of all nodes
// that do not collude, and the truth is the observations of these nodes. Otherwise all other nodes
// collude, and what is left are those of the attacked node.
func playExactSums(ctx context.Context, t *task.Task, settings exactsum.Settings, scene Scene, counts []int, noise float64, seed random.Seed) (*played, error) {
	statistic, err := exactsum.NewStatistic(t)
	if err != nil {
		return nil, err
	}
	alone := *t
	alone.Strategy = task.Strategy{Type: "alone", InitialDesigns: t.Strategy.InitialDesigns}
	objectives, err := newObjectives(&alone, settings.MinContributors, seed.Derive("objectives", 0))
	if err != nil {
		return nil, err
	}
	s := sim.Scenario{Task: &alone, Seed: seed, Network: sim.Network{Delay: delay}, Workers: 1}
	for i := range settings.MinContributors {
		m := objectives.member(i, noise)
		m.Evaluations, m.Duration = slices.Max(counts), othersDuration
		s.Members = append(s.Members, m)
	}
	views := make([]strategy.View, settings.MinContributors)
	s.Watch = func(member int, view strategy.View) { views[member] = view }
	if _, err := sim.Run(ctx, s); err != nil {
		return nil, err
	}
	honest := 1
	if scene == Collude {
		honest = settings.MinContributors - settings.MaxColluding
	}
	p := &played{seen: &Seen{Task: t, Observations: slices.Max(counts)}, truths: map[int]Truth{}}
	disclosure := Disclosure{Task: t}
	var truth Truth
	every := strategy.ChoiceOf(t).ShareEvery
	optimum := truthOf(ctx, &alone, views[0], seed).EstimatedOptimum
	for last := every; last <= p.seen.Observations; last += every {
		left := exactSum{statistic: statistic, vector: make([]float64, statistic.Numbers())}
		for _, view := range views[:honest] {
			o := strategy.Observed(&alone, view.Trials, task.Objective)
			if len(o.Y) < last {
				return nil, fmt.Errorf("%d observations of a node, expected %d", len(o.Y), last)
			}
			y, vector, ok := exactsum.Contribution(statistic, o.X, o.Y, max(every, t.Strategy.InitialDesigns), last-every, last)
			if !ok {
				return nil, fmt.Errorf("the first outcomes of a node are constant")
			}
			for k, v := range vector {
				left.vector[k] += v
			}
			left.count += every
			truth.X, truth.Y = append(truth.X, o.X[last-every:last]...), append(truth.Y, y...)
		}
		disclosure.Shares = append(disclosure.Shares, Share{Kind: kindExactSum, Observations: last, Value: left})
		for _, n := range counts {
			if n >= last && n < last+every {
				p.truths[n] = Truth{X: slices.Clone(truth.X), Y: slices.Clone(truth.Y), EstimatedOptimum: optimum}
			}
		}
	}
	p.seen.Disclosures = []Disclosure{disclosure}
	return p, nil
}

const (
	exactStarts  = 6
	exactTries   = 400 // observations tried for each one of a starting guess
	exactSteps   = 80
	exactMatched = 1e-10 // squared difference, relative to that of the sum, at which the inversion is complete
)

// invert returns the observations whose vectors add up to the sum, as far as a search from several
// starts finds them: greedy starts, then least squares over all coordinates at once.
func (s exactSum) invert(ctx context.Context, t *task.Task, rng *rand.Rand) (x [][]float64, y []float64) {
	dim, best := t.Space.Dim(), math.Inf(1)
	total := squared(s.vector)
	misfit := func(u []float64) []float64 {
		left := slices.Clone(s.vector)
		one := make([]float64, len(left))
		for _, at := range rows(u, dim+1) {
			fold([][]float64{at[:dim]})
			clear(one)
			s.statistic.Add(one, at[:dim], at[dim])
			for k, v := range one {
				left[k] -= v
			}
		}
		return left
	}
	for range exactStarts {
		var u []float64
		left := slices.Clone(s.vector)
		for range s.count {
			pick, least := s.nearest(t, left, rng), make([]float64, len(left))
			s.statistic.Add(least, pick[:dim], pick[dim])
			left = minus(left, least)
			u = append(u, pick...)
		}
		at, away := leastSquares(ctx, misfit, u, exactSteps, exactMatched*total)
		if away < best {
			best, x, y = away, nil, nil
			for _, row := range rows(at, dim+1) {
				fold([][]float64{row[:dim]})
				x, y = append(x, row[:dim]), append(y, row[dim])
			}
		}
		if best < exactMatched*total || ctx.Err() != nil {
			break
		}
	}
	return x, y
}

// nearest returns the drawn observation whose vector is nearest to what is left.
func (s exactSum) nearest(t *task.Task, left []float64, rng *rand.Rand) (pick []float64) {
	least := math.Inf(1)
	one := make([]float64, len(left))
	for range exactTries {
		at := append(acquisition.Sample(t.Space, rng), 1.2*rng.NormFloat64())
		clear(one)
		s.statistic.Add(one, at[:len(at)-1], at[len(at)-1])
		if away := squared(minus(left, one)); away < least {
			least, pick = away, at
		}
	}
	return pick
}
