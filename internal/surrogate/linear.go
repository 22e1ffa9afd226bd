package surrogate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

const (
	// priorVariance is the prior variance of standardised outputs, without their level.
	priorVariance = 1

	// ownLevel is the prior deviation of the own model's unknown level, the same as in package gp.
	ownLevel = 1

	// The numbers of own features, at least the task's. With few observations more features are
	// affordable, because time grows with the observations times the features until both are equal,
	// and they improve the posterior. Later it grows with the square of the features.
	fewObservations = 256
	featuresOfFew   = 2048
	featuresOfMany  = 1024

	// The search for the noise: a grid over the logarithm, because the evidence may have two
	// maxima, and a golden-section search around its best point.
	noiseCeiling  = 10.0
	noiseGrid     = 12
	noiseSections = 12
)

// linear is the Bayesian linear model over random features. It predicts with its own features, and
// shares weights over the shared features.
type linear struct {
	task       *task.Task
	shared     *rff.Map
	projection func() (*rff.Projection, error)
	process    *exact                           // learns the lengthscales
	units      map[int]func() (*rff.Map, error) // own features at lengthscales 1, by their number
}

func newLinear(t *task.Task, shared *rff.Map) *linear {
	l := &linear{
		task:       t,
		shared:     shared,
		projection: lazyProjection(t, shared),
		process:    newExact(t, ProcessSpec(t), shared),
		units:      map[int]func() (*rff.Map, error){},
	}
	for _, observations := range []int{fewObservations, fewObservations + 1} {
		features := l.features(observations)
		l.units[features] = sync.OnceValues(func() (*rff.Map, error) { return unitFeatures(t, features) })
	}
	return l
}

// unitFeatures returns a map of that number of features at lengthscales 1, and a constant feature.
func unitFeatures(t *task.Task, features int) (*rff.Map, error) {
	return rff.NewMap(taskSeed(t), rff.Spec{
		Kernel:       t.Surrogate.Kernel,
		Features:     features,
		Lengthscales: slices.Repeat([]float64{1}, t.Space.Dim()),
		Basis:        t.Surrogate.Basis,
		Constant:     ownLevel,
	})
}

// Fit learns the lengthscales of the exact process, which uses a limited number of observations. It
// learns the noise over the own and over the shared features from all observations. The noise of
// the exact process is too small for both: features cannot fit everything that the process fits.
func (l *linear) Fit(ctx context.Context, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	y, err := standardise(obs)
	if err != nil {
		return Hyperparameters{}, err
	}
	if previous != nil && len(previous.Lengthscales) == 0 {
		previous = nil
	}
	h, err := l.process.Fit(ctx, obs, previous, rng)
	if err != nil {
		return Hyperparameters{}, err
	}
	h.Features = l.features(len(y))
	own, err := l.own(h)
	if err != nil {
		return Hyperparameters{}, err
	}
	if h.Noise, err = fitNoise(ctx, own, obs.X, y); err != nil {
		return Hyperparameters{}, err
	}
	if h.SharedNoise, err = fitNoise(ctx, l.shared, obs.X, y); err != nil {
		return Hyperparameters{}, err
	}
	return h, nil
}

// features returns the number of own features.
func (l *linear) features(observations int) int {
	if observations <= fewObservations {
		return max(featuresOfFew, l.task.Surrogate.Features)
	}
	return max(featuresOfMany, l.task.Surrogate.Features)
}

// own returns the features of the own model: those at the learned lengthscales with a constant
// feature, or the shared ones if there are no learned lengthscales.
func (l *linear) own(h Hyperparameters) (*rff.Map, error) {
	if len(h.Lengthscales) == 0 {
		return l.shared, nil
	}
	if len(h.Lengthscales) != l.task.Space.Len() {
		return nil, fmt.Errorf("%d lengthscales: the task has %d parameters", len(h.Lengthscales), l.task.Space.Len())
	}
	units, ok := l.units[h.Features]
	if !ok {
		return nil, fmt.Errorf("%d own features: must be %d or %d", h.Features, l.features(fewObservations), l.features(fewObservations+1))
	}
	unit, err := units()
	if err != nil {
		return nil, err
	}
	var factors []float64
	for parameter, block := range l.task.Space.Blocks() {
		factors = append(factors, slices.Repeat(h.Lengthscales[parameter:parameter+1], block.Len)...)
	}
	own, err := unit.Rescaled(factors)
	if err != nil {
		return nil, err
	}
	return own, nil
}

// fitNoise returns the noise of largest posterior density, by the evidence of the features and the
// same prior as the exact surrogate's. It searches the whole range.
func fitNoise(ctx context.Context, features *rff.Map, x [][]float64, y []float64) (float64, error) {
	evidence, err := rff.NewEvidence(features, x, y)
	if err != nil {
		return 0, err
	}
	density := func(logNoise float64) float64 {
		if ctx.Err() != nil {
			return 0 // ends the search early; its result is not used
		}
		value, err := evidence.Log(priorVariance, math.Exp(logNoise))
		if err != nil || math.IsNaN(value) {
			return math.Inf(-1)
		}
		return value + gp.LogNoisePrior(math.Exp(logNoise))
	}
	logNoise := maximum(density, math.Log(gp.NoiseFloor), math.Log(noiseCeiling))
	return math.Exp(logNoise), ctx.Err()
}

// maximum returns the maximiser of f on [low, high] to within a hundredth of a grid step.
func maximum(f func(float64) float64, low, high float64) float64 {
	step := (high - low) / (noiseGrid - 1)
	best, bestValue := low, math.Inf(-1)
	for i := range noiseGrid {
		at := low + float64(i)*step
		if value := f(at); value > bestValue {
			best, bestValue = at, value
		}
	}
	left, right := max(best-step, low), min(best+step, high)
	golden := (math.Sqrt(5) - 1) / 2
	a, b := right-golden*(right-left), left+golden*(right-left)
	valueA, valueB := f(a), f(b)
	for range noiseSections {
		if valueA > valueB {
			right, b, valueB = b, a, valueA
			a = right - golden*(right-left)
			valueA = f(a)
		} else {
			left, a, valueA = a, b, valueB
			b = left + golden*(right-left)
			valueB = f(b)
		}
	}
	if valueA > bestValue {
		best, bestValue = a, valueA
	}
	if valueB > bestValue {
		best = b
	}
	return best
}

func (l *linear) Condition(obs Observations, h Hyperparameters, previous Posterior) (Posterior, error) {
	y, units, err := Standardise(obs)
	if err != nil {
		return nil, err
	}
	if !(h.SharedNoise >= 0) || math.IsInf(h.SharedNoise, 1) {
		return nil, fmt.Errorf("noise %g over the shared features: must be at least 0 and finite", h.SharedNoise)
	}
	p := &linearPosterior{model: l, h: h, x: linalg.Clone(obs.X), units: units}
	p.share = &linearShare{features: l.shared, noise: cmp.Or(h.SharedNoise, h.Noise), x: p.x, y: y}
	if before, ok := previous.(*linearPosterior); ok && before.h.equal(h) && before.begins(obs.X) {
		p.features, p.share.before = before.features, before.share.known()
		p.weights, err = extend(before.weights, obs.X, y)
	} else if p.features, err = l.own(h); err == nil {
		p.weights, err = rff.NewPosterior(p.features, obs.X, y, priorVariance, h.Noise)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// equal reports whether all numbers are the same.
func (h Hyperparameters) equal(other Hyperparameters) bool {
	return h.Features == other.Features && h.SharedNoise == other.SharedNoise && h.Process().Equal(other.Process())
}

// extend adds the points that p lacks and replaces all outputs, because one more observation
// changes the standardisation.
func extend(p *rff.Posterior, x [][]float64, y []float64) (*rff.Posterior, error) {
	for i := p.Len(); i < len(x); i++ {
		var err error
		if p, err = p.Extend(x[i], y[i]); err != nil {
			return nil, err
		}
	}
	return p.WithOutputs(x, y)
}

// linearShare is the posterior over the shared features. It is computed at its first use, so that
// only nodes that share have its cost.
type linearShare struct {
	features *rff.Map
	noise    float64
	x        [][]float64
	y        []float64
	before   *rff.Posterior // of the first observations; nil: unknown

	mu       sync.Mutex
	computed *rff.Posterior // nil before its first use
}

// known returns the posterior if it has been computed, and nil otherwise.
func (s *linearShare) known() *rff.Posterior {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.computed
}

func (s *linearShare) posterior() (p *rff.Posterior, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.computed != nil {
		return s.computed, nil
	}
	if s.before != nil {
		p, err = extend(s.before, s.x, s.y)
	} else {
		p, err = rff.NewPosterior(s.features, s.x, s.y, priorVariance, s.noise)
	}
	if err != nil {
		return nil, err
	}
	s.before, s.computed = nil, p
	return p, nil
}

// must returns posterior's result, for callers that return no error.
func (s *linearShare) must() *rff.Posterior {
	p, err := s.posterior()
	if err != nil {
		panic(err) // the noise makes the matrix positive definite
	}
	return p
}

// linearPosterior predicts and draws with the own features, and shares the posterior over the
// shared features.
type linearPosterior struct {
	model    *linear
	h        Hyperparameters
	features *rff.Map
	weights  *rff.Posterior
	x        [][]float64
	units    Units
	share    *linearShare
}

// begins reports whether the first of the points are those of p.
func (p *linearPosterior) begins(x [][]float64) bool {
	return len(x) >= len(p.x) && slices.EqualFunc(x[:len(p.x)], p.x, slices.Equal[[]float64])
}

func (p *linearPosterior) Predict(x []float64) (mean, variance float64) {
	return p.weights.Predict(x)
}

func (p *linearPosterior) PredictGradient(meanGradient, varianceGradient, x []float64) (mean, variance float64) {
	return p.weights.PredictGradient(meanGradient, varianceGradient, x)
}

func (p *linearPosterior) Draw(rng *rand.Rand) Function {
	return p.features.Function(p.weights.Weights(rng))
}

func (p *linearPosterior) Weights(ctx context.Context, rng *rand.Rand) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	share, err := p.share.posterior()
	if err != nil {
		return nil, err
	}
	return share.Weights(rng), nil
}

// WeightDraw returns Weights, since the model is linear over the shared features.
func (p *linearPosterior) WeightDraw(ctx context.Context, rng *rand.Rand) ([]float64, error) {
	return p.Weights(ctx, rng)
}

func (p *linearPosterior) Mean() (level float64, weights []float64) { return 0, p.share.must().Mean() }

// DetailedMean returns Mean, which is exact here.
func (p *linearPosterior) DetailedMean() (level float64, weights []float64) { return p.Mean() }

func (p *linearPosterior) Explained() (average float64, weights []float64) {
	projection, err := p.model.projection()
	if err != nil {
		panic(err) // the ridge makes the matrix positive definite
	}
	share := p.share.must()
	variances := make([]float64, projection.Len())
	for i := range variances {
		_, variances[i] = share.Predict(projection.Point(i))
	}
	return explained(variances, projection)
}

func (p *linearPosterior) Hyperparameters() Hyperparameters { return p.h }
