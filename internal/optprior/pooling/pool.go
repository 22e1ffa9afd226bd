package pooling

import (
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
)

const (
	// UniformShare is κ, the weight of the uniform density in the mixture with a peer's density.
	UniformShare = 0.1
	// Ceiling is C, the upper bound of every density. It hardly changes a normal of spread 0.2 in
	// the middle of six parameters, whose maximum is 62.
	Ceiling = 1000.0

	largestLog = 700 // its exponential is still a finite float64
)

// Rule is a rule that combines densities (see the package comment).
type Rule int

// The rules.
const (
	Alone Rule = iota
	Arithmetic
	Geometric
	Between
	Product
	rules // their number
)

// power returns the factor of Σ_j ℓ_j for n densities. It is 0 for the rules that are no multiple of
// that sum.
func (r Rule) power(n float64) float64 {
	switch r {
	case Geometric:
		return 1 / n
	case Between:
		return 1 / math.Sqrt(n)
	case Product:
		return 1
	}
	return 0
}

// log returns g_h for these bounded logarithms.
func (r Rule) log(each []float64) float64 {
	if r == Arithmetic {
		return logMean(each)
	}
	return r.power(float64(len(each))) * sum(each)
}

// Weights has the weight of each rule. They are at least 0 and sum to 1.
type Weights [rules]float64

// Even returns equal weights, the prior of [Evidence].
func Even() (w Weights) {
	for r := range w {
		w[r] = 1 / float64(rules)
	}
	return w
}

// Only returns the weights that select one rule.
func Only(r Rule) (w Weights) {
	w[r] = 1
	return w
}

// Pool is the term of an acquisition function that several densities give. It is immutable.
type Pool struct {
	densities []acquisition.Function
	factor    float64
	power     float64 // of Σ_j ℓ_j, by all rules
	average   float64 // weight of Arithmetic
}

var _ acquisition.Function = (*Pool)(nil)

// New returns the pool of densities, at least one. Each is the logarithm of a density relative to
// the uniform density. It may be -Inf, with gradient 0 there.
func New(densities []acquisition.Function, weights Weights, factor float64) *Pool {
	p := &Pool{densities: densities, factor: factor, average: weights[Arithmetic]}
	for r, w := range weights {
		p.power += w * Rule(r).power(float64(len(densities)))
	}
	return p
}

// Influence returns Σ_h w_h·S_h of the package comment: the largest change of the term, relative to
// factor, if all bounded logarithms change by at most 1.
func (p *Pool) Influence() float64 { return p.power*float64(len(p.densities)) + p.average }

// Value implements acquisition.Function.
func (p *Pool) Value(x []float64) float64 {
	return p.combine(boundedLogs(p.densities, x))
}

// boundedLogs returns ℓ_j(x) of each density.
func boundedLogs(densities []acquisition.Function, x []float64) []float64 {
	logs := make([]float64, len(densities))
	for j, d := range densities {
		logs[j], _ = Bounded(d.Value(x))
	}
	return logs
}

func (p *Pool) combine(logs []float64) float64 {
	return p.factor * (p.power*sum(logs) + p.average*logMean(logs))
}

// Gradient implements acquisition.Function.
func (p *Pool) Gradient(grad, x []float64) float64 {
	dim := len(x)
	logs, slopes := make([]float64, len(p.densities)), make([]float64, len(p.densities))
	each := make([]float64, len(p.densities)*dim)
	for j, d := range p.densities {
		logs[j], slopes[j] = Bounded(d.Gradient(each[j*dim:(j+1)*dim], x))
	}
	clear(grad)
	total := float64(len(logs)) * math.Exp(logMean(logs))
	for j, slope := range slopes {
		slope *= p.factor * (p.power + p.average*math.Exp(logs[j])/total)
		for i := range grad {
			grad[i] += slope * each[j*dim+i]
		}
	}
	return p.combine(logs)
}

// Bounded returns ln π̂ as a function of ln π, which may be -Inf, and its derivative. With
//
//	π̂ = C·π̃/(C - 1 + π̃),   π̃ = κ + (1 - κ)·π,   κ = 0.1, C = 1000,
//
// the uniform density π = 1 is mapped to 1, and every density lies between about κ and C.
func Bounded(log float64) (value, slope float64) {
	claimed := (1 - UniformShare) * math.Exp(min(log, largestLog))
	mixed := UniformShare + claimed
	value = math.Log(Ceiling) - math.Log1p((Ceiling-1)/mixed)
	return value, (Ceiling - 1) / (Ceiling - 1 + mixed) * (claimed / mixed)
}

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}

// logMean returns the logarithm of the average of the exponentials.
func logMean(logs []float64) float64 {
	largest := math.Inf(-1)
	for _, v := range logs {
		largest = max(largest, v)
	}
	total := 0.0
	for _, v := range logs {
		total += math.Exp(v - largest)
	}
	return largest + math.Log(total/float64(len(logs)))
}
