package alone

import (
	"context"
	"fmt"
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/pareto"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
)

const (
	// volumeDraws is the number of draws of the objectives at the evaluated designs. Each gives a Pareto
	// front.
	volumeDraws = 8

	// maxVolumeObjectives is the number of objectives up to which Engine maximises the hypervolume. With
	// more the region beyond a front has too many boxes, and Engine scalarises the objectives at random.
	maxVolumeObjectives = 3
)

// front is what the acquisition functions for several objectives have in common: the scores of the
// designs that count, in standardised units of each objective.
type front struct {
	models    []surrogate.LatentPosterior
	pending   [][]float64
	counted   []bool      // for each modelled and each pending design: it is, or probably is, feasible
	scores    [][]float64 // of the modelled designs that count
	reference []float64
}

// frontOf returns the front of a view, whose Objectives must not be nil. Without a design that counts its
// scores are empty.
func (s Engine) frontOf(view strategy.View) (f front, err error) {
	for _, p := range view.Objectives {
		drawer, ok := p.(surrogate.LatentPosterior)
		if !ok {
			return f, fmt.Errorf("a model of type %T, expected an exact process", p)
		}
		f.models = append(f.models, drawer)
	}
	for _, at := range view.ExactlyModelled() {
		trial := &view.Trials[at]
		feasible := view.Task.Feasible(trial.Outcome)
		f.counted = append(f.counted, feasible)
		if scores, ok := view.Task.Scores(trial.Outcome); ok && feasible {
			for k := range scores {
				scores[k] = standardised(f.models[k].Units(), scores[k])
			}
			f.scores = append(f.scores, scores)
		}
	}
	for _, x := range s.search.Pending(view) {
		f.pending, f.counted = append(f.pending, x), append(f.counted, search.LikelyFeasible(view, x))
	}
	if len(f.scores) == 0 {
		return f, nil
	}
	f.reference = pareto.Reference(f.scores)
	for k, stated := range view.Task.References() {
		if !math.IsNaN(stated) {
			f.reference[k] = standardised(f.models[k].Units(), stated)
		}
	}
	return f, nil
}

// standardised is Units.Standardised, and the difference if all values of the objective are equal.
func standardised(units surrogate.Units, value float64) float64 {
	if units.Scale == 0 {
		return min(max(value-units.Level, -1), 1)
	}
	return units.Standardised(value)
}

// Volume returns the logarithm of the noisy expected improvement of the hypervolume, and the Why of its
// maximiser ([acquisition.LogNEHVI]). The volume is in standardised units of each objective, above the
// task's references. A reference that the task does not state is derived from the front
// ([pareto.Reference]). While no evaluated design is feasible, Volume returns the logarithm of the
// probability of feasibility. With more than three objectives it returns the logarithm of the expected
// improvement of a random scalarisation instead ([Engine.scalarised]).
//
// The view must have the posteriors of all objectives.
func (s Engine) Volume(ctx context.Context, view strategy.View, trial uint64, seed strategy.Seed) (search.Function, strategy.Why, error) {
	limits := search.Limits(s.search.WithPending(view))
	f, err := s.frontOf(view)
	switch {
	case err != nil:
		return nil, strategy.Why{}, err
	case len(f.scores) == 0:
		return acquisition.LogFeasibility(limits...), strategy.Why{Source: "feasibility", Phrase: "probability of feasibility"}, nil
	case len(f.models) > maxVolumeObjectives:
		return s.scalarised(ctx, view, f, trial, seed)
	}
	var drawn []acquisition.Latent
	for k, model := range f.models {
		latent, err := model.Latent(f.pending, volumeDraws, seed.Derive("front", trial).Stream("objective", uint64(k)))
		if err != nil {
			return nil, strategy.Why{}, err
		}
		drawn = append(drawn, latent)
	}
	gain := acquisition.LogNEHVI(drawn, f.counted, f.reference)
	if len(limits) > 0 {
		gain = acquisition.Sum(gain, acquisition.LogFeasibility(limits...))
	}
	return gain, strategy.Why{Source: "ehvi", Phrase: "expected improvement of the hypervolume"}, ctx.Err()
}
