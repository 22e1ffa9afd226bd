package acquisition

import "math"

// Feasibility returns the probability Φ((bound - mean)/sd) that the function of
// p is at most bound, as a factor of a Product: Gardner et al., "Bayesian
// Optimization with Inequality Constraints" (ICML 2014), equation 7. Where sd is
// 0 it is 1 or 0.
func Feasibility(p Predictor, bound float64) Function {
	return &scored{p: p, by: feasibility{bound}}
}

// LogFeasibility returns the logarithm of Feasibility, as a term of a Sum, with
// its value and gradient also where the probability is too small for a float64.
// Where sd is 0 it is 0 or -Inf.
func LogFeasibility(p Predictor, bound float64) Function {
	return &scored{p: p, by: logFeasibility{bound}}
}

type feasibility struct{ bound float64 }

func (f feasibility) value(mean, sd float64) float64 {
	if sd == 0 {
		return certain(mean <= f.bound)
	}
	return cumulative((f.bound - mean) / sd)
}

func (f feasibility) slopes(mean, sd float64) (value, byMean, bySD float64) {
	if sd == 0 {
		return f.value(mean, sd), 0, 0
	}
	z := (f.bound - mean) / sd
	slope := density(z) / sd
	return cumulative(z), -slope, -slope * z
}

func certain(feasible bool) float64 {
	if feasible {
		return 1
	}
	return 0
}

type logFeasibility struct{ bound float64 }

func (f logFeasibility) value(mean, sd float64) float64 {
	value, _, _ := f.slopes(mean, sd)
	return value
}

func (f logFeasibility) slopes(mean, sd float64) (value, byMean, bySD float64) {
	if sd == 0 {
		return math.Log(certain(mean <= f.bound)), 0, 0
	}
	z := (f.bound - mean) / sd
	value, slope := logCumulative(z)
	return value, -slope / sd, -slope * z / sd
}
