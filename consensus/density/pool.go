package density

import (
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/optprior"
)

const (
	// uniformShare is κ, the weight of the uniform density in the mixture with a peer's density.
	uniformShare = 0.1
	// ceiling is C, the upper bound of every density. It hardly changes a normal of spread 0.2 in
	// the middle of six parameters, whose maximum is 62.
	ceiling = 1000.0

	largestLog = 700 // its exponential is still a finite float64
)

// pool is the term that is added to LogEI: weight times the sum of the logarithms of the bounded
// densities.
type pool struct {
	densities []*optprior.Mixture
	learned   []learned
	weight    float64 // γ_t/n
}

// len returns n, the number of densities.
func (p *pool) len() int { return len(p.densities) + len(p.learned) }

var _ acquisition.Function = (*pool)(nil)

// Value implements acquisition.Function.
func (p *pool) Value(x []float64) float64 {
	sum := 0.0
	var each optprior.Logs
	for _, m := range p.densities {
		value, _ := bounded(m.Log(&each, x))
		sum += value
	}
	for _, l := range p.learned {
		value, _ := bounded(l.Value(x) - l.level)
		sum += value
	}
	return p.weight * sum
}

// Gradient implements acquisition.Function.
func (p *pool) Gradient(grad, x []float64) float64 {
	clear(grad)
	sum := 0.0
	var each optprior.Logs
	for _, m := range p.densities {
		total := m.Log(&each, x)
		value, slope := bounded(total)
		sum += value
		m.AddGradient(grad, x, &each, total, p.weight*slope)
	}
	if len(p.learned) == 0 {
		return p.weight * sum
	}
	of := make([]float64, len(x))
	for _, l := range p.learned {
		value, slope := bounded(l.Gradient(of, x) - l.level)
		sum += value
		for i := range grad {
			grad[i] += p.weight * slope * of[i]
		}
	}
	return p.weight * sum
}

// bounded returns ln π̂ as a function of ln π, which may be -Inf, and its derivative. See the
// package comment.
func bounded(log float64) (value, slope float64) {
	told := (1 - uniformShare) * math.Exp(min(log, largestLog))
	doubted := uniformShare + told
	value = math.Log(ceiling) - math.Log1p((ceiling-1)/doubted)
	return value, (ceiling - 1) / (ceiling - 1 + doubted) * (told / doubted)
}
