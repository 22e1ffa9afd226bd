package acquisition

import (
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/normal"
)

// LogGain returns the acquisition function of max-value entropy search. It is the logarithm of the
// information gain, in nats, that an outcome at x would have about the optimal value y*. optima
// holds samples of y* in the units of p, at least one; the gain is averaged over them. With limits,
// y* is the largest value among the designs that satisfy all limits. A sample of -Inf means that no
// design satisfies them in this sample, so that only the limits contain information.
//
// Given y*, an outcome cannot lie in the box in which the objective exceeds y* and all limits are
// satisfied. Let M be the predicted probability of the box, and Z = 1 - M. Let a and b be the lower
// and upper bound of the box for one output, in standard deviations from its mean. With m = Φ(b) -
// Φ(a) and e = aφ(a) - bφ(b), the gain is
//
//	gain = -ln Z + M/(2Z)·Σ e/m
//
// where the sum is over all outputs, which are independent. The gain is the entropy of a normal
// distribution minus the entropy of the same distribution outside the box. Without limits it is
// equation 6 of Wang and Jegelka, "Max-value Entropy Search for Efficient Bayesian Optimization"
// (ICML 2017). With limits it is the acquisition function of Perrone et al., "Constrained Bayesian
// Optimization with Max-Value Entropy Search" (2019), extended to outputs with two limits.
//
// The logarithm has the same maximiser as the gain. It also has a gradient where M underflows,
// which happens everywhere as long as the known outcomes are far from the limits. The gain itself
// can be negative if two or more outputs have two narrow limits, because a normal distribution
// without its middle is wider. There the function returns the gain minus 1e9, which is less than
// the logarithm of any gain above exp(-1e9).
//
// A limit with Noise is treated as a number with that noise. For a boolean output this is an
// approximation, because its evaluation measures no number.
//
// An output without variance contains no information. If the mean is more than 37 standard
// deviations above a sample of y*, it counts as 37 above. LogGain panics if optima is empty.
func LogGain(p Predictor, optima []float64, limits ...Limit) Function {
	if len(optima) == 0 {
		panic("acquisition: LogGain needs at least one sampled optimum")
	}
	return &gain{p: p, optima: slices.Clone(optima), limits: slices.Clone(limits)}
}

const (
	belowLogs = -1e9 // added to gains that are not positive; a float64 still distinguishes gains with it
	certain   = 37.0 // standard deviations at which Φ, and with it Z, is near underflow
)

type gain struct {
	p      Predictor
	optima []float64
	limits []Limit
	memory scratch
}

func (g *gain) Value(x []float64) float64 {
	kept := portion{}
	for _, l := range g.limits {
		mean, variance := l.predictor().Predict(x)
		kept.times(portionOf(mean, math.Sqrt(max(variance, 0)), l.Low, l.High))
	}
	mean, variance := g.p.Predict(x)
	value, _ := g.average(mean, math.Sqrt(max(variance, 0)), kept)
	return value
}

func (g *gain) Gradient(grad, x []float64) float64 {
	held := g.memory.take(5 * len(x))
	defer g.memory.put(held)
	part := func(i int) []float64 { return (*held)[i*len(x) : (i+1)*len(x)] }
	dMean, dVariance, dLog, dRatio := part(0), part(1), part(2), part(3)
	clear(dLog)
	clear(dRatio)
	kept := portion{}
	for _, l := range g.limits {
		mean, variance := l.predictor().PredictGradient(dMean, dVariance, x)
		sd := math.Sqrt(max(variance, 0))
		s := portionOf(mean, sd, l.Low, l.High)
		kept.times(s)
		for i := range x {
			dSD := slopeOfSD(dVariance[i], sd)
			dLog[i] += s.logByMean*dMean[i] + s.logBySD*dSD
			dRatio[i] += s.ratioByMean*dMean[i] + s.ratioBySD*dSD
		}
	}
	mean, variance := g.p.PredictGradient(dMean, dVariance, x)
	sd := math.Sqrt(max(variance, 0))
	value, by := g.average(mean, sd, kept)
	for i := range x {
		grad[i] = by.mean*dMean[i] + by.sd*slopeOfSD(dVariance[i], sd) + by.log*dLog[i] + by.ratio*dRatio[i]
	}
	return value
}

// slopeOfSD converts a derivative of the variance to that of the standard deviation; 0 if sd is 0.
func slopeOfSD(ofVariance, sd float64) float64 {
	if sd == 0 {
		return 0
	}
	return ofVariance / (2 * sd)
}

// portion is the probability of the box for one output or several, with the terms of the gain.
type portion struct {
	log   float64 // logarithm of the probability, which is the product of all m
	ratio float64 // sum of all e/m

	// Derivatives of log and ratio with respect to mean and standard deviation, for one output.
	logByMean, logBySD, ratioByMean, ratioBySD float64
}

func (p *portion) times(other portion) {
	p.log += other.log
	p.ratio += other.ratio
}

// portionOf returns the portion of one output, for a box from low to high.
func portionOf(mean, sd, low, high float64) portion {
	if sd == 0 {
		if low <= mean && mean <= high {
			return portion{}
		}
		return portion{log: math.Inf(-1)}
	}
	a, b := (low-mean)/sd, (high-mean)/sd
	aBySD, bBySD := -a/sd, -b/sd
	if b-a < normal.MinWidth { // normal.LogBetween widens the interval in the same way
		centre := (a + b) / 2
		a, b = centre-normal.MinWidth/2, centre+normal.MinWidth/2
		aBySD, bBySD = -centre/sd, -centre/sd
	}
	value, byA, byB := normal.LogBetween(a, b)
	if out := normal.CDF(a) + normal.CDF(-b); out < 0.5 {
		value = math.Log1p(-out) // keeps all digits of the probability outside, which determines Z
	}
	// An infinite bound has density 0 and contributes no term.
	if math.IsInf(a, 0) {
		a, aBySD = 0, 0
	}
	if math.IsInf(b, 0) {
		b, bBySD = 0, 0
	}
	s := portion{log: value, ratio: -a*byA - b*byB}
	// The density at the lower and upper bound, divided by m, is -byA and byB.
	ratioByA, ratioByB := -byA*(1+s.ratio-a*a), -byB*(1+s.ratio-b*b)
	s.logByMean, s.logBySD = -(byA+byB)/sd, byA*aBySD+byB*bBySD
	s.ratioByMean, s.ratioBySD = -(ratioByA+ratioByB)/sd, ratioByA*aBySD+ratioByB*bBySD
	return s
}

// exceeding returns the portion of the objective above the sampled optimum.
func exceeding(mean, sd, optimum float64) portion {
	if least := mean - certain*sd; optimum < least {
		s := portionOf(mean, sd, least, math.Inf(1))
		return portion{log: s.log, ratio: s.ratio}
	}
	return portionOf(mean, sd, optimum, math.Inf(1))
}

// slopes holds the derivatives of the function with respect to the objective's mean and standard
// deviation, and to the fields log and ratio of the limits' portion.
type slopes struct{ mean, sd, log, ratio float64 }

func (s *slopes) scale(factor float64) {
	s.mean, s.sd, s.log, s.ratio = s.mean*factor, s.sd*factor, s.log*factor, s.ratio*factor
}

// average returns the function for an objective with this mean and standard deviation; kept is the
// portion of the limits. It sums the gains as multiples of the largest probability so far, because
// the probabilities themselves may underflow.
func (g *gain) average(mean, sd float64, kept portion) (value float64, by slopes) {
	largest, sum := math.Inf(-1), 0.0 // logarithm of the largest probability, and the sum of gains divided by this probability
	for _, optimum := range g.optima {
		s := exceeding(mean, sd, optimum)
		log := s.log + kept.log
		if math.IsInf(log, -1) {
			continue
		}
		if log > largest {
			factor := math.Exp(largest - log)
			sum *= factor
			by.scale(factor)
			largest = log
		}
		multiple, byLog, byRatio := gainOf(log, s.ratio+kept.ratio)
		weight := math.Exp(log - largest)
		sum += weight * multiple
		byLog, byRatio = weight*byLog, weight*byRatio
		by.log += byLog
		by.ratio += byRatio
		by.mean += byLog*s.logByMean + byRatio*s.ratioByMean
		by.sd += byLog*s.logBySD + byRatio*s.ratioBySD
	}
	switch {
	case math.IsInf(largest, -1): // no sample contains information
		return largest, slopes{}
	case sum > 0:
		by.scale(1 / sum)
		return largest + math.Log(sum/float64(len(g.optima))), by
	}
	scale := math.Exp(largest) / float64(len(g.optima))
	by.scale(scale)
	return belowLogs + scale*sum, by
}

// gainOf returns the gain divided by M, given log = ln M and ratio = Σ e/m. It also returns the
// derivatives of the gain with respect to log and ratio, divided by M.
func gainOf(log, ratio float64) (multiple, byLog, byRatio float64) {
	m, z := math.Exp(log), -math.Expm1(log)
	first := 1.0 // -ln Z / M
	switch {
	case z == 0: // no output has variance
		return 0, 0, 0
	case m > 0.5:
		first = -math.Log(z) / m
	case m > 0:
		first = -math.Log1p(-m) / m
	}
	half := ratio / (2 * z)
	return first + half, (1 + half) / z, 1 / (2 * z)
}
