package optprior

import (
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
)

// LogPrior returns the function weight·ln(1 - trust + trust·a(x)), where a(x) is the average of the
// densities at x with these parts, which must sum to 1. densities must not be empty. The function is a term to add to the logarithm of an
// acquisition function. Whatever the densities, it is at least weight·ln(1 - trust).
func LogPrior(densities []*Mixture, parts []float64, trust, weight float64) acquisition.Function {
	return &logPrior{densities: densities, parts: parts, trust: trust, weight: weight}
}

// Even returns n equal parts.
func Even(n int) []float64 { return slices.Repeat([]float64{1 / float64(n)}, n) }

type logPrior struct {
	densities     []*Mixture
	parts         []float64
	trust, weight float64
}

func (w *logPrior) Value(x []float64) float64 {
	average := 0.0
	var each Logs
	for i, m := range w.densities {
		average += w.parts[i] * math.Exp(m.Log(&each, x))
	}
	return w.weight * math.Log(1-w.trust+w.trust*average)
}

func (w *logPrior) Gradient(grad, x []float64) float64 {
	value := w.Value(x)
	total := math.Exp(value / w.weight)
	clear(grad)
	var each Logs
	for i, m := range w.densities {
		log := m.Log(&each, x)
		m.AddGradient(grad, x, &each, log, w.weight*w.trust*w.parts[i]*math.Exp(log)/total)
	}
	return value
}
