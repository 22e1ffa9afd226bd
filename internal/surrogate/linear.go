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
	// priorVariance is the prior variance of the function in standardised units, without its level.
	priorVariance = 1

	// ownLevel is the prior standard deviation of the unknown level of the agent's own model, as in
	// package gp.
	ownLevel = 1

	// Numbers of own features; the task's number is used if it is larger. Up to fewObservations the
	// model uses featuresOfFew, and beyond that featuresOfMany. More features improve the
	// posterior. The time grows with observations times features while there are fewer observations
	// than features, and with the square of the features afterwards.
	fewObservations = 256
	featuresOfFew   = 2048
	featuresOfMany  = 1024

	// Settings of the search for the noise: a grid over the logarithm, because the evidence may
	// have two maxima, and then a golden-section search around the best grid point.
	noiseCeiling  = 10.0
	noiseGrid     = 12
	noiseSections = 12
)

// linear is the Bayesian linear model over random features. It predicts with its own features, at
// learned lengthscales, and shares weights over the shared features.
type linear struct {
	task       *task.Task
	shared     *rff.Map
	projection func() (*rff.Projection, error)
	process    *exact                           // learns the lengthscales
	units      map[int]func() (*rff.Map, error) // own features at lengthscales 1; the key is the number of features
}

func newLinear(t *task.Task, shared *rff.Map) *linear {
	l := &linear{
		task:       t,
		shared:     shared,
		projection: lazyProjection(t, shared),
		process:    newExact(t, ProcessSpec(t), shared),
		units:      map[int]func() (*rff.Map, error){},
	}
	l.process.end = endOf(t)
	for _, observations := range []int{fewObservations, fewObservations + 1} {
		features := l.features(observations)
		l.units[features] = sync.OnceValues(func() (*rff.Map, error) { return unitFeatures(t, features) })
	}
	return l
}

// unitFeatures returns a map with the given number of features at lengthscales 1, plus a constant
// feature.
func unitFeatures(t *task.Task, features int) (*rff.Map, error) {
	return rff.NewMap(taskSeed(t), rff.Spec{
		Kernel:       t.Surrogate.Kernel,
		Features:     features,
		Lengthscales: slices.Repeat([]float64{1}, t.Space.Dim()),
		Basis:        t.Surrogate.Basis,
		Constant:     ownLevel,
	})
}

// Fit learns the lengthscales by fitting the exact process, which uses a limited number of
// observations. It then learns two noise variances from all observations: one for the own features
// and one for the shared features. The noise of the exact process is too small for both, because
// features cannot fit everything that the exact process fits.
func (l *linear) Fit(ctx context.Context, obs Observations, previous *Hyperparameters, rng *rand.Rand) (Hyperparameters, error) {
	y, _, err := rescale(obs, l.process.end)
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

// features returns the number of own features for this number of observations.
func (l *linear) features(observations int) int {
	if observations <= fewObservations {
		return max(featuresOfFew, l.task.Surrogate.Features)
	}
	return max(featuresOfMany, l.task.Surrogate.Features)
}

// own returns the features with which the model predicts: own features at the learned lengthscales
// with a constant feature, or the shared features if h has no lengthscales.
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

// fitNoise returns the noise variance with the largest posterior density over the whole allowed
// range. The density is the evidence of the features times the noise prior of the exact process.
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
	y, scale, err := rescale(obs, l.process.end)
	if err != nil {
		return nil, err
	}
	if !(h.SharedNoise >= 0) || math.IsInf(h.SharedNoise, 1) {
		return nil, fmt.Errorf("noise %g over the shared features: must be at least 0 and finite", h.SharedNoise)
	}
	p := &linearPosterior{model: l, h: h, x: linalg.Clone(obs.X), units: scale.units()}
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

// equal reports whether both have the same number of features and the same shared noise,
// lengthscales, noise and prior.
func (h Hyperparameters) equal(other Hyperparameters) bool {
	return h.Features == other.Features && h.SharedNoise == other.SharedNoise && h.Process().Equal(other.Process())
}

// extend adds the observations that p lacks. It replaces the outputs of all observations, because
// one more observation changes the standardisation.
func extend(p *rff.Posterior, x [][]float64, y []float64) (*rff.Posterior, error) {
	for i := p.Len(); i < len(x); i++ {
		var err error
		if p, err = p.Extend(x[i], y[i]); err != nil {
			return nil, err
		}
	}
	return p.WithOutputs(x, y)
}

// linearShare holds the posterior over the shared features. It computes the posterior at its first
// use, so only nodes that share pay for it.
type linearShare struct {
	features *rff.Map
	noise    float64
	x        [][]float64
	y        []float64
	before   *rff.Posterior // posterior of the first observations in x, to be extended; nil if there is none

	mu       sync.Mutex
	computed *rff.Posterior // nil before its first use
}

// known returns the posterior if it has been computed already, and nil otherwise.
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

// must returns the posterior, for callers that cannot return an error.
func (s *linearShare) must() *rff.Posterior {
	p, err := s.posterior()
	if err != nil {
		panic(err) // the noise makes the matrix positive definite
	}
	return p
}

// linearPosterior predicts and draws with the own features. Its share holds the posterior over the
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

// begins reports whether the first points of x are exactly the points of p.
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

// DetailedMean returns Mean, because the mean of this model needs no projection and is exact.
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
