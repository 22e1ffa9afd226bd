package acquisition

import (
	"math"

	"github.com/fbo-node/fbo/internal/normal"
)

// Limit is a constraint on a predicted output. Values from Low to High, in the units of the
// predictor, satisfy it. One of the two may be infinite.
type Limit struct {
	Predictor
	Low, High float64
	// Noise is a variance, 0 or more, that is added to the predicted variance, for example the
	// noise of a boolean's label.
	Noise float64
}

// predictor returns the predictor of the output including Noise.
func (l Limit) predictor() Predictor {
	if l.Noise == 0 {
		return l.Predictor
	}
	return noisy{l.Predictor, l.Noise}
}

// noisy is a predictor whose variance is increased by noise.
type noisy struct {
	Predictor
	noise float64
}

func (n noisy) Predict(x []float64) (mean, variance float64) {
	mean, variance = n.Predictor.Predict(x)
	return mean, variance + n.noise
}

func (n noisy) PredictGradient(meanGradient, varianceGradient, x []float64) (mean, variance float64) {
	mean, variance = n.Predictor.PredictGradient(meanGradient, varianceGradient, x)
	return mean, variance + n.noise
}

// LogFeasibility returns the log probability that all limits are satisfied, if the outputs are
// independent (Gardner et al., "Bayesian Optimization with Inequality Constraints", ICML 2014,
// equation 7). It stays finite and has a gradient where the probability itself underflows. If the
// two limits of an output are closer than 1e-6 standard deviations, they count as 1e-6 apart,
// because a single value would have probability 0 everywhere.
func LogFeasibility(limits ...Limit) Function {
	terms := make([]Function, len(limits))
	for i, l := range limits {
		terms[i] = &scored{p: l.predictor(), by: within{l.Low, l.High}}
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return Sum(terms...)
}

// within is the log probability of the range from low to high, as a score.
type within struct{ low, high float64 }

func (w within) value(mean, sd float64) float64 {
	value, _, _ := w.slopes(mean, sd)
	return value
}

func (w within) slopes(mean, sd float64) (value, byMean, bySD float64) {
	if sd == 0 {
		if w.low <= mean && mean <= w.high {
			return 0, 0, 0
		}
		return math.Inf(-1), 0, 0
	}
	a, b := (w.low-mean)/sd, (w.high-mean)/sd
	value, byA, byB := normal.LogBetween(a, b)
	if !math.IsInf(a, 0) {
		byMean -= byA / sd
		bySD -= byA * a / sd
	}
	if !math.IsInf(b, 0) {
		byMean -= byB / sd
		bySD -= byB * b / sd
	}
	return value, byMean, bySD
}
