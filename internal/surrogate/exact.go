package surrogate

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

const (
	// drawFeatures is the number of random features that represent the prior part of a sample path.
	// The part that depends on observations is exact.
	drawFeatures = 512

	// A path is projected onto M shared features by its values at 3·M designs, but at least 1,000
	// and at most 3,000, which limits memory and time. The ridge is 0.05, where the process has the
	// prior variance 1. The ridge determines the norm of the weights (see rff.Projection). A limit
	// on that norm, as for privacy, must be chosen together with the ridge.
	minPoints        = 1000
	pointsPerFeature = 3
	maxPoints        = 3000
	ridge            = 0.05
)

// exact is the Gaussian process as a Model.
type exact struct {
	end        tail
	spec       gp.Spec
	space      *task.Space
	shared     *rff.Map
	projection func() (*rff.Projection, error)
	seed       random.Seed // seed of everything that is derived from the task alone
}

func newExact(t *task.Task, spec gp.Spec, shared *rff.Map) *exact {
	return &exact{
		end:        bent,
		spec:       spec,
		space:      t.Space,
		shared:     shared,
		projection: lazyProjection(t, shared),
		seed:       taskSeed(t),
	}
}

// lazyProjection returns a function that computes the projection at its first call, once. Only
// agents that share pay for it.
func lazyProjection(t *task.Task, shared *rff.Map) func() (*rff.Projection, error) {
	return sync.OnceValues(func() (*rff.Projection, error) {
		return rff.NewProjection(shared, projectionPoints(t), ridge)
	})
}

// projectionPoints returns points that are uniform in the cube and then moved to the nearest
// design. The function is never evaluated between designs, so the projection need not fit it there.
func projectionPoints(t *task.Task) [][]float64 {
	rng := taskSeed(t).Stream("projection", 0)
	count := max(minPoints, pointsPerFeature*t.Surrogate.Features)
	points := make([][]float64, min(count, maxPoints))
	for i := range points {
		points[i] = make([]float64, t.Space.Dim())
		for k := range points[i] {
			points[i][k] = rng.Float64()
		}
		t.Space.Snap(points[i])
	}
	return points
}

var _ Process = (*exact)(nil)

// Spec implements Process.
func (e *exact) Spec() gp.Spec { return e.spec }

// Standardize implements Process.
func (e *exact) Standardize(obs Observations) ([]float64, error) {
	y, _, err := rescale(obs, e.end)
	return y, err
}

func (e *exact) Fit(ctx context.Context, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	return e.FitUnder(ctx, nil, obs, previous, rng)
}

// startsOf returns the previous hyperparameters, if any, as an additional starting point of a fit.
func startsOf(previous *Hyperparameters) []gp.Hyperparameters {
	if previous == nil {
		return nil
	}
	return []gp.Hyperparameters{previous.Process()}
}

func (e *exact) Condition(obs Observations, h Hyperparameters, previous Posterior) (Posterior, error) {
	y, s, err := rescale(obs, e.end)
	if err != nil {
		return nil, err
	}
	return e.given(obs, y, s.units(), h, previous)
}

// given conditions the process on standardised outputs y. It extends the previous posterior if that
// posterior has the same hyperparameters, and all outputs are measured.
func (e *exact) given(obs Observations, y []float64, units Units, h Hyperparameters, previous Posterior) (Posterior, error) {
	extra := units.Variances(obs)
	before, ok := previous.(*exactPosterior)
	var p *gp.Posterior
	var err error
	if ok && extra == nil && before.extra == nil && before.process.Hyperparameters().Equal(h.Process()) {
		p, err = before.process.Extend(obs.X, y)
	} else {
		p, err = withExtra(e.spec, obs.X, y, h.Process(), extra)
	}
	if err != nil {
		return nil, err
	}
	return &exactPosterior{model: e, process: p, units: units, extra: extra}, nil
}

// withExtra conditions a process on outputs with variances besides the noise; nil means none.
func withExtra(spec gp.Spec, x [][]float64, y []float64, h gp.Hyperparameters, extra []float64) (*gp.Posterior, error) {
	if extra == nil {
		return gp.NewPosterior(spec, x, y, h)
	}
	noise := make([]float64, len(extra))
	for i, v := range extra {
		noise[i] = h.Noise + v
	}
	return gp.NewUnequalPosterior(spec, x, y, h, noise)
}

type exactPosterior struct {
	model   *exact
	process *gp.Posterior
	units   Units     // zero if the observations are intervals
	extra   []float64 // variance of each output besides the noise; nil if all are measured
}

func (p *exactPosterior) Predict(x []float64) (mean, variance float64) {
	return p.process.Predict(x)
}

func (p *exactPosterior) PredictGradient(meanGradient, varianceGradient, x []float64) (mean, variance float64) {
	return p.process.PredictGradient(meanGradient, varianceGradient, x)
}

func (p *exactPosterior) Hyperparameters() Hyperparameters {
	return OfProcess(p.process.Hyperparameters())
}

func (p *exactPosterior) Draw(rng *rand.Rand) Function {
	return p.process.Draw(drawFeatures, rng)
}
