package surrogate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/surrogate/gp"
)

const (
	// priorVariance is that of standardised outputs.
	priorVariance = 1

	// The search for the noise: a grid over the logarithm, since the evidence
	// may have two maxima, and a golden-section search around its best point.
	noiseCeiling  = 10.0
	noiseGrid     = 12
	noiseSections = 12
)

// linear is the Bayesian linear model over the shared features.
type linear struct {
	shared     *rff.Map
	projection func() (*rff.Projection, error)
}

// Fit chooses the noise of largest posterior density, by the evidence and the
// same prior as the exact surrogate's. It searches the whole range and so needs
// neither previous nor rng.
func (l *linear) Fit(ctx context.Context, obs Observations, _ *Hyperparameters, _ *rand.Rand) (Hyperparameters, error) {
	y, err := standardise(obs)
	if err != nil {
		return Hyperparameters{}, err
	}
	evidence, err := rff.NewEvidence(l.shared, obs.X, y)
	if err != nil {
		return Hyperparameters{}, fmt.Errorf("surrogate: %w", err)
	}
	density := func(logNoise float64) float64 {
		if ctx.Err() != nil {
			return 0 // the search comes to its end at once, and to nothing
		}
		value, err := evidence.Log(priorVariance, math.Exp(logNoise))
		if err != nil || math.IsNaN(value) {
			return math.Inf(-1)
		}
		return value + gp.LogNoisePrior(math.Exp(logNoise))
	}
	logNoise := maximum(density, math.Log(gp.NoiseFloor), math.Log(noiseCeiling))
	if err := ctx.Err(); err != nil {
		return Hyperparameters{}, err
	}
	return Hyperparameters{Noise: math.Exp(logNoise)}, nil
}

// maximum finds the largest value of f on [low, high] to within a hundredth of
// a grid step.
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
	var p *rff.Posterior
	if before, ok := previous.(*linearPosterior); ok && before.weights.Noise() == h.Noise && before.begins(obs.X) {
		p, err = before.extend(obs.X, y)
	} else {
		p, err = rff.NewPosterior(l.shared, obs.X, y, priorVariance, h.Noise)
	}
	if err != nil {
		return nil, fmt.Errorf("surrogate: %w", err)
	}
	return &linearPosterior{model: l, weights: p, x: linalg.Clone(obs.X), units: units}, nil
}

type linearPosterior struct {
	model   *linear
	weights *rff.Posterior
	x       [][]float64
	units   Units
}

// begins tells whether the first of the points are those of p.
func (p *linearPosterior) begins(x [][]float64) bool {
	return len(x) >= len(p.x) && slices.EqualFunc(x[:len(p.x)], p.x, slices.Equal[[]float64])
}

// extend takes in the points that p does not know and sets all outputs, which
// one more observation changes by the standardisation.
func (p *linearPosterior) extend(x [][]float64, y []float64) (*rff.Posterior, error) {
	next := p.weights
	for i := len(p.x); i < len(x); i++ {
		var err error
		if next, err = next.Extend(x[i], y[i]); err != nil {
			return nil, err
		}
	}
	return next.WithOutputs(x, y)
}

func (p *linearPosterior) Predict(x []float64) (mean, variance float64) {
	return p.weights.Predict(x)
}

func (p *linearPosterior) PredictGradient(meanGradient, varianceGradient, x []float64) (mean, variance float64) {
	return p.weights.PredictGradient(meanGradient, varianceGradient, x)
}

func (p *linearPosterior) Draw(rng *rand.Rand) Function {
	return p.model.shared.Function(p.weights.Weights(rng))
}

func (p *linearPosterior) Weights(ctx context.Context, rng *rand.Rand) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.weights.Weights(rng), nil
}

func (p *linearPosterior) Mean() (level float64, weights []float64) { return 0, p.weights.Mean() }

// DetailedMean is Mean, which loses nothing.
func (p *linearPosterior) DetailedMean() (level float64, weights []float64) { return p.Mean() }

func (p *linearPosterior) Explained() (average float64, weights []float64) {
	projection, err := p.model.projection()
	if err != nil {
		panic(err) // the ridge makes the matrix positive definite
	}
	variances := make([]float64, projection.Len())
	for i := range variances {
		_, variances[i] = p.Predict(projection.Point(i))
	}
	return explained(variances, projection)
}

func (p *linearPosterior) Hyperparameters() Hyperparameters {
	return Hyperparameters{Noise: p.weights.Noise()}
}
