package optimum

import (
	"math"

	"github.com/fbo-node/fbo/acquisition"
)

// Weighted is a density and its part of an average of several, of which all parts sum to 1.
type Weighted struct {
	*Mixture
	Part float64
}

// Evenly makes densities count alike.
func Evenly(densities ...*Mixture) (all []Weighted) {
	for _, m := range densities {
		all = append(all, Weighted{m, 1 / float64(len(densities))})
	}
	return all
}

// Average returns that of densities at an encoded design.
func Average(densities []Weighted, x []float64) (average float64) {
	var each Logs
	for _, d := range densities {
		average += d.Part * math.Exp(d.Log(&each, x))
	}
	return average
}

// Where returns weight times the logarithm of 1 - trust + trust times the average of the
// densities, of which there is one at least: a term beside the logarithm of an acquisition
// function. It is at least weight times log(1 - trust) everywhere, whatever the densities
// say.
func Where(densities []Weighted, trust, weight float64) acquisition.Function {
	return &where{densities: densities, trust: trust, weight: weight}
}

type where struct {
	densities     []Weighted
	trust, weight float64
}

func (w *where) Value(x []float64) float64 {
	return w.weight * math.Log(1-w.trust+w.trust*Average(w.densities, x))
}

func (w *where) Gradient(grad, x []float64) float64 {
	value := w.Value(x)
	total := math.Exp(value / w.weight)
	clear(grad)
	var each Logs
	for _, d := range w.densities {
		log := d.Log(&each, x)
		d.AddGradient(grad, x, &each, log, w.weight*w.trust*d.Part*math.Exp(log)/total)
	}
	return value
}
