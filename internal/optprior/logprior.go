package optprior

import (
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
)

// LogPrior returns weight times the logarithm of 1 - trust + trust times the average of the
// densities, at least one: a term to add to the logarithm of an acquisition function. It is at
// least weight times log(1 - trust) everywhere, for all densities.
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
	value := w.Value(x)
	total := math.Exp(value / w.weight)
	clear(grad)
	var each Logs
	for _, m := range w.densities {
		log := m.Log(&each, x)
		m.AddGradient(grad, x, &each, log, w.weight*w.trust*math.Exp(log)/float64(len(w.densities))/total)
	}
	return value
}
