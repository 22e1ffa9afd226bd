package optprior

import (
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
)

// LogPrior returns the function weight·ln(1 - trust + trust·a(x)), where a(x) is the average of the
// densities at x. densities must not be empty. The function is a term to add to the logarithm of an
// acquisition function. Whatever the densities, it is at least weight·ln(1 - trust).
func LogPrior(densities []*Mixture, trust, weight float64) acquisition.Function {
	return &logPrior{average: NewAverage(densities), trust: trust, weight: weight}
}

type logPrior struct {
	average       *Average
	trust, weight float64
}

func (w *logPrior) Value(x []float64) float64 {
	return w.weight * math.Log(1-w.trust+w.trust*w.average.Value(x))
}

func (w *logPrior) Gradient(grad, x []float64) float64 {
	total := 1 - w.trust + w.trust*w.average.Gradient(grad, x)
	for i := range grad {
		grad[i] *= w.weight * w.trust / total
	}
	return w.weight * math.Log(total)
}
