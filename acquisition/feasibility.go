package acquisition

import "math"

// Limit is a constraint on a predicted output: it is kept from Low to High, in the
// units of the predictor. One of these may be infinite.
type Limit struct {
	Predictor
	Low, High float64
}

// LogFeasibility returns the logarithm of the probability that all limits are kept,
// the outputs being independent: Gardner et al., "Bayesian Optimization with Inequality
// Constraints" (ICML 2014), equation 7. It stays finite, with a slope, where the
// probability underflows. Limits closer together than 1e-6 deviations count as so
// far apart, since what is exactly one number has probability 0 everywhere.
func LogFeasibility(limits ...Limit) Function {
	terms := make([]Function, len(limits))
	for i, l := range limits {
		terms[i] = &scored{p: l.Predictor, by: within{l.Low, l.High}}
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return Sum(terms...)
}

// within is the log probability of lying from low to high.
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
	value, byA, byB := logBetween(a, b)
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

const (
	leastWidth  = 1e-6 // of an interval, in standard deviations
	narrowWidth = 1e-3 // below which the density's course within the interval hardly counts
)

// logBetween returns log(Φ(b) - Φ(a)) for a <= b, with the derivatives by a and b.
func logBetween(a, b float64) (value, byA, byB float64) {
	switch {
	case math.IsInf(a, -1) && math.IsInf(b, 1):
		return 0, 0, 0
	case math.IsInf(a, -1):
		value, byB = logCumulative(b)
		return value, 0, byB
	case math.IsInf(b, 1):
		value, slope := logCumulative(-a)
		return value, -slope, 0
	case a+b > 0: // the lower tail has the digits
		value, byB, byA = logBetween(-b, -a)
		return value, -byA, -byB
	}
	centre, width := (a+b)/2, max(b-a, leastWidth)
	if width*max(1, math.Abs(centre)) < narrowWidth {
		// The density's logarithm is a parabola: its integral over the interval, to
		// the second order in the width.
		value = math.Log(width) - centre*centre/2 - halfLog2Pi + width*width*(centre*centre-1)/24
		byCentre, byWidth := -centre+width*width*centre/12, 1/width+width*(centre*centre-1)/12
		return value, byCentre/2 - byWidth, byCentre/2 + byWidth
	}
	logA, _ := logCumulative(a)
	logB, _ := logCumulative(b)
	value = logB + math.Log(-math.Expm1(logA-logB))
	byA = -math.Exp(-a*a/2 - halfLog2Pi - value)
	byB = math.Exp(-b*b/2 - halfLog2Pi - value)
	return value, byA, byB
}
