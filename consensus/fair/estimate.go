package fair

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

const (
	// estimateWork names the computation of an estimate.
	estimateWork = "estimate"
	// firstEstimate is the number of own evaluations at the first estimate. Each further estimate
	// follows after twice as many evaluations, so that all estimates together cost no more than a
	// few suggestions.
	firstEstimate = 10
	// estimateDraws is the number of posterior draws over which an estimate is averaged.
	estimateDraws = 3
)

// estimate is the state of the estimates of the node's reward without peers.
type estimate struct {
	wanted bool
	begun  int // number of own evaluations at the start of the latest estimate, finished or not
	latest *Estimate
}

// estimateWhenDue begins an estimate when the number of own evaluations reaches 10, 20, 40, 80 and
// so on. After a restart with 10 evaluations or more it begins one at once.
func (e *Exchange) estimateWhenDue() {
	own := counted(e.book.entries[e.self])
	due := firstEstimate
	for due <= e.estimate.begun {
		due *= 2
	}
	if !e.estimate.wanted || own < due {
		return
	}
	e.estimate.begun = own
	chooser, book, self := e.chooser, e.book.upTo(e.book.counts()), e.self
	e.emit(strategy.Work{Name: estimateWork, Run: func(ctx context.Context, _ strategy.View, seed strategy.Seed) (any, error) {
		result, err := chooser.alone(ctx, book, self, seed)
		if err != nil && ctx.Err() == nil {
			return err, nil // returned as a result: an error of this work would end the wait of a suggestion
		}
		return result, err
	}})
}

func (e *Exchange) estimated(in strategy.WorkDone) {
	switch result := in.Result.(type) {
	case Estimate:
		e.estimate.latest = &result
		e.show()
	case error:
		e.warn("what this node would have got by itself is not known: %v", result)
	}
}

// counted returns the number of entries that are part of their party's gain.
func counted(list []entry) (n int) {
	for _, entry := range list {
		if entry.isGain() {
			n++
		}
	}
	return n
}

// alone estimates the reward of a party without peers, for as many evaluations as it has made. It
// simulates the strategy ucb, with the constants of the task ([alone.UCBSettings]), on draws from
// the posterior of all results in the book, and returns averages. The party's starting designs and
// imported trials keep their results. Later designs are evaluated on the drawn function plus noise.
//
// S21 has no such estimate. Two simplifications make it cheap. From the beginning the simulated
// party uses the hyperparameters that fit all results in the book, whereas a party without peers
// would have to learn them. And there are only three draws.
func (c chooser) alone(ctx context.Context, b *book, party int, seed strategy.Seed) (Estimate, error) {
	p := c.pool(b)
	h, err := c.model.Fit(ctx, p.Observations, nil, seed.Stream("estimate fit", 0))
	if err != nil {
		return Estimate{}, err
	}
	posterior, err := c.model.Condition(p.Observations, h, nil)
	if err != nil {
		return Estimate{}, err
	}
	scaled, ok := posterior.(surrogate.Scaled)
	if !ok {
		return Estimate{}, fmt.Errorf("the surrogate does not report its units")
	}
	sign := c.task.Goal.Sign()
	result := Estimate{Evaluations: counted(b.entries[party])}
	for _, entry := range b.entries[party] {
		if entry.isGain() {
			result.ActualSum += sign * *entry.Value
		}
	}
	for i := range estimateDraws {
		g := game{
			chooser: c,
			h:       h,
			truth:   posterior.Draw(seed.Stream("estimate draw", uint64(i))),
			units:   scaled.Units(),
			noise:   seed.Stream("estimate noise", uint64(i)),
			seed:    seed.Derive("estimate play", uint64(i)),
		}
		sum, best, err := g.play(ctx, b.entries[party], result.Evaluations)
		if err != nil {
			return Estimate{}, err
		}
		result.Sum += sign * sum / estimateDraws
		result.Best += sign * best / estimateDraws
	}
	return result, nil
}

// game is one simulation of a party without peers.
type game struct {
	chooser
	h     surrogate.Hyperparameters
	truth surrogate.Function // in standardised units
	units surrogate.Units
	noise *rand.Rand
	seed  strategy.Seed
}

// evaluate returns a result of the drawn function with noise; larger is better.
func (g game) evaluate(x []float64) float64 {
	y := g.units.Output(g.truth.Value(x) + math.Sqrt(g.h.Noise)*g.noise.NormFloat64())
	return min(max(y, -protocol.MaxUnit), protocol.MaxUnit) // results of parties have the same limits
}

// play simulates a party that starts with these entries and uses no peers. It returns the sum and
// the best of its first results, as many as evaluations; larger is better.
func (g game) play(ctx context.Context, entries []entry, evaluations int) (sum, best float64, err error) {
	solo := *g.task
	solo.Strategy.Settings = alone.UCBSettings{C1: g.settings.C1, C2: g.settings.C2}
	player := alone.NewUCB(&solo)
	view := strategy.View{Task: &solo, Trials: g.beginning(entries)}
	best = math.Inf(-1)
	var counts int
	count := func(trial strategy.Trial) {
		if trial.State == strategy.Done && trial.Why.Source != strategy.Imported {
			y := solo.Goal.Sign() * trial.Outcome.Value
			counts, sum, best = counts+1, sum+y, max(best, y)
		}
	}
	for _, trial := range view.Trials {
		count(trial)
	}
	for counts < evaluations {
		if obs := strategy.Observed(&solo, view.Trials, task.Objective); len(obs.Y) > 0 {
			if view.Posterior, err = g.model.Condition(obs, g.h, view.Posterior); err != nil {
				return 0, 0, err
			}
		}
		id := uint64(len(view.Trials) + 1)
		suggestion, err := player.Suggest(ctx, view, id, g.seed)
		if err != nil {
			return 0, 0, err
		}
		trial := strategy.Trial{ID: id, Design: suggestion.Design, Why: suggestion.Why, State: strategy.Done, Outcome: &strategy.Outcome{
			Value: solo.Goal.Sign() * g.evaluate(solo.Space.Encode(suggestion.Design)),
		}}
		view.Trials = append(slices.Clip(view.Trials), trial)
		count(trial)
	}
	return sum, best, nil
}

// beginning returns the trials of a party that do not depend on other parties: imported trials and
// starting designs.
func (g game) beginning(entries []entry) (trials []strategy.Trial) {
	for i, entry := range entries {
		if i >= g.task.Strategy.InitialDesigns && !entry.Imported {
			continue
		}
		trial := strategy.Trial{
			ID: uint64(len(trials) + 1), State: strategy.Failed,
			Design: g.task.Space.Decode(entry.Point.Encoded(g.task.Space)), Why: strategy.Why{Source: strategy.Initial},
		}
		if entry.Imported {
			trial.Why.Source = strategy.Imported
		}
		if entry.Value != nil {
			trial.State, trial.Outcome = strategy.Done, &strategy.Outcome{Value: g.task.Goal.Sign() * *entry.Value}
		}
		trials = append(trials, trial)
	}
	return trials
}
