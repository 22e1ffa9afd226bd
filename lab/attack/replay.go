package attack

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

const (
	particles      = 16
	functionDraws  = 20  // prior draws for each particle
	functionPoints = 300 // points at which the maximum of a draw is searched
	// fits is the standard deviation allowed between a particle's share and the real share.
	fits = 0.1
)

// replayAttacks returns attacks that run the node's strategy on possible data. Except for random
// numbers, everybody knows the rule by which designs follow from data.
func replayAttacks() []Attack {
	return []Attack{{Name: "replays of the strategy that fit the shares", Kinds: designKinds(), Scene: Listen, Most: 10, Guess: replayed}}
}

// particle is one possible history of a node's evaluations, on an objective drawn from the prior.
type particle struct {
	objective *rff.Function
	x         [][]float64
	y         []float64
}

// replayed is a particle filter. It draws many objectives from the prior, and keeps those whose
// maxima are nearest to the last shared location. On each objective the strategy chooses designs as
// if it received no shares. After each share it resamples the particles by the distance of their
// estimated optimum from the shared one.
func replayed(ctx context.Context, seen *Seen, rng *rand.Rand) (Guess, error) {
	shares := seen.Disclosures[0].Shares
	if len(shares) == 0 {
		return Guess{}, nil
	}
	p, err := newPlayer(seen.Task)
	if err != nil {
		return Guess{}, err
	}
	places := placesOf(seen.Task, shares[len(shares)-1].Value)
	if len(places) == 0 || seen.Task.Constrained() {
		return Guess{}, nil // outcomes of constraints cannot be replayed from locations
	}
	cloud := p.draw(places[0], rng)
	for n := 1; n <= seen.Observations; n++ {
		logs := make([]float64, len(cloud))
		for i := range cloud {
			seed := random.SeedOf(rng.Uint64())
			if err := p.step(ctx, &cloud[i], seed); err != nil {
				return Guess{}, err
			}
			for _, share := range shares {
				if share.Observations != n {
					continue
				}
				if told := placesOf(seen.Task, share.Value); len(told) > 0 {
					believed, err := p.believed(ctx, cloud[i], seed)
					if err != nil {
						return Guess{}, err
					}
					logs[i] -= squared(minus(believed, told[0])) / (2 * fits * fits)
				}
			}
		}
		cloud = resample(cloud, logs, rng)
	}
	return Guess{X: cloud[0].x, Best: places[0]}, nil
}

// resample draws as many particles as before, with the exponentials of logs as weights. The first
// is the particle with the largest weight.
func resample(cloud []particle, logs []float64, rng *rand.Rand) []particle {
	most, total := slices.Max(logs), 0.0
	for _, w := range logs {
		total += math.Exp(w - most)
	}
	drawn := []particle{cloud[slices.Index(logs, most)]}
	for len(drawn) < len(cloud) {
		mark, at := rng.Float64()*total, 0
		for i, w := range logs {
			at = i
			if mark -= math.Exp(w - most); mark <= 0 {
				break
			}
		}
		drawn = append(drawn, cloud[at])
	}
	return drawn
}

// player chooses designs as a node of the task does.
type player struct {
	task     *task.Task
	features *rff.Map
	model    surrogate.Model
	strategy strategy.Strategy
	find     search.Search
}

func newPlayer(t *task.Task) (*player, error) {
	registration, err := all.Strategies().Of(t)
	if err != nil {
		return nil, err
	}
	p := &player{task: t, find: search.New(t)}
	if p.features, err = surrogate.SharedMap(t); err != nil {
		return nil, err
	}
	if p.model, err = surrogate.New(t); err != nil {
		return nil, err
	}
	p.strategy, err = registration.NewStrategy(t)
	return p, err
}

// draw returns particles whose objectives have their maxima near there.
func (p *player) draw(there []float64, rng *rand.Rand) []particle {
	type drawn struct {
		particle
		away float64
	}
	var all []drawn
	for range particles * functionDraws {
		w := make([]float64, p.features.Features())
		for i := range w {
			w[i] = rng.NormFloat64()
		}
		f := p.features.Function(w)
		var top []float64
		highest := math.Inf(-1)
		for range functionPoints {
			x := acquisition.Sample(p.task.Space, rng)
			if v := f.Value(x); v > highest {
				top, highest = x, v
			}
		}
		all = append(all, drawn{particle{objective: f}, squared(minus(top, there))})
	}
	slices.SortFunc(all, func(a, b drawn) int {
		if a.away < b.away {
			return -1
		}
		return 1
	})
	cloud := make([]particle, particles)
	for i := range cloud {
		cloud[i] = all[i].particle
	}
	return cloud
}

// view returns the view of a node that has the particle's history.
func (p *player) view(ctx context.Context, so particle, seed random.Seed) (strategy.View, error) {
	view := strategy.View{Task: p.task, Observations: len(so.x)}
	for i, x := range so.x {
		view.Trials = append(view.Trials, strategy.Trial{ID: uint64(i + 1), Design: p.task.Space.Decode(slices.Clone(x)), State: strategy.Done,
			Outcome: &strategy.Outcome{Value: p.task.Goal.Sign() * so.y[i]}})
	}
	if len(so.x) == 0 {
		return view, nil
	}
	obs := surrogate.Observations{X: so.x, Y: so.y}
	h, err := p.model.Fit(ctx, obs, nil, seed.Stream("fit", 0))
	if err != nil {
		return view, err
	}
	view.Posterior, err = p.model.Condition(obs, h, nil)
	return view, err
}

// step lets a particle evaluate one more design.
func (p *player) step(ctx context.Context, so *particle, seed random.Seed) error {
	view, err := p.view(ctx, *so, seed)
	if err != nil {
		return err
	}
	suggestion, err := p.strategy.Suggest(ctx, view, uint64(len(so.x)+1), seed)
	if err != nil {
		return err
	}
	if suggestion.Design.IsZero() { // the strategy would wait for peers; the particle continues without
		view.Waited = suggestion.Wait.Exchange
		if suggestion, err = p.strategy.Suggest(ctx, view, uint64(len(so.x)+1), seed); err != nil {
			return err
		}
	}
	x := p.task.Space.Encode(suggestion.Design)
	so.x, so.y = append(slices.Clone(so.x), x), append(slices.Clone(so.y), so.objective.Value(x))
	return nil
}

// believed returns the optimum that a node with the particle's history estimates.
func (p *player) believed(ctx context.Context, so particle, seed random.Seed) ([]float64, error) {
	view, err := p.view(ctx, so, seed)
	if err != nil {
		return nil, err
	}
	return p.task.Space.Encode(p.find.Optimum(ctx, view, seed)), ctx.Err()
}
