package optprior

import (
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
)

// LogPrior returns the function weight·ln(1 - trust + trust·a(x)), where a(x) is the average of the
// densities at x. densities must not be empty. The function is a term to add to the logarithm of an
// acquisition function. Whatever the densities, it is at least weight·ln(1 - trust).
func LogPrior(densities []*Mixture, trust, weight float64) acquisition.Function {
	return &logPrior{densities: densities, trust: trust, weight: weight}
}

type logPrior struct {
	densities     []*Mixture
	trust, weight float64
}

func (w *logPrior) Value(x []float64) float64 {
	average := 0.0
	var each Logs
	for _, m := range w.densities {
		average += math.Exp(m.Log(&each, x)) / float64(len(w.densities))
	}
	return w.weight * math.Log(1-w.trust+w.trust*average)
}

func (w *logPrior) Gradient(grad, x []float64) float64 {
	clear(grad)
	average := 0.0
	var each Logs
	for _, m := range w.densities {
		log := m.Log(&each, x)
		density := math.Exp(log) / float64(len(w.densities))
		average += density
		m.AddGradient(grad, x, &each, log, density)
	}
	total := 1 - w.trust + w.trust*average
	for i := range grad {
		grad[i] *= w.weight * w.trust / total
	}
	return w.weight * math.Log(total)
}
