package surrogate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrNoObservations means that a model was fitted or conditioned without any observation.
var ErrNoObservations = errors.New("no observations")

// Constants of the bent tail of bad values.
const (
	bendAt     = 0.5    // distance below the median at which bending begins, in standard deviations
	goodShare  = 0.9    // the standard deviation is estimated from the median and this quantile
	goodNormal = 1.2816 // value of that quantile for a standard normal variable
	minToBend  = 4      // smallest number of observations; with fewer, nothing is bent
)

// Units relates standardised outputs of one agent to its outputs. An output is Level + Scale times
// its standardised value, unless it lies in the bent tail.
type Units struct {
	Level, Scale float64 // Scale is 0 if all outputs are the same

	tail *scaling // nil means that nothing is bent
}

// Output converts a standardised value to an output. If all outputs are the same, it returns their
// common value.
func (u Units) Output(standardised float64) float64 {
	if u.tail != nil {
		return u.tail.output(standardised)
	}
	return u.Level + u.Scale*standardised
}

// Standardised converts an output to a standardised value; it is the inverse of Output.
func (u Units) Standardised(output float64) float64 {
	if u.tail != nil {
		return u.tail.of(output)
	}
	return (output - u.Level) / u.Scale
}

// Variances returns the squares of obs.Deviations in standardised units; nil if there are none.
func (u Units) Variances(obs Observations) (variances []float64) {
	for i, deviation := range obs.Deviations {
		if u.Scale > 0 {
			deviation /= u.Scale
		}
		if u.tail != nil && u.tail.bending > 0 {
			if excess := (u.tail.median-obs.Y[i]/u.tail.largest)/u.tail.bending - bendAt; excess > 0 {
				deviation /= 1 + excess
			}
		}
		variances = append(variances, min(deviation*deviation, maxVariance))
	}
	return variances
}

// maxVariance limits Variances. An output with this variance contains nothing about the objective.
const maxVariance = 1e6

// Standardise returns the outputs in standardised units, with the tail of bad values bent, and these
// units. Outputs returns those of a task's posterior.
func Standardise(obs Observations) ([]float64, Units, error) {
	y, s, err := rescale(obs, bent)
	if err != nil {
		return nil, Units{}, err
	}
	return y, s.units(), nil
}

// tail states whether the tail of bad outputs is bent.
type tail bool

const (
	bent     tail = true
	straight tail = false
)

// scaling maps outputs to standardised values. All fields except largest are in units of largest.
type scaling struct {
	largest         float64 // largest absolute value of the outputs; 0 if all outputs are 0
	median, bending float64 // median of the outputs, and the unit of bending; bending 0 means that nothing is bent
	mean, deviation float64 // after bending; deviation 0 means that all outputs are the same
}

// units returns the Units of this scaling.
func (s scaling) units() Units {
	return Units{Level: s.largest * s.mean, Scale: s.largest * s.deviation, tail: &s}
}

// of standardises a value. If all outputs are the same, there is no unit for differences: a smaller
// value becomes -1, and a larger value becomes 1.
func (s scaling) of(v float64) float64 {
	if s.deviation == 0 {
		return float64(cmp.Compare(v, s.largest*s.mean))
	}
	return (s.bend(v/s.largest) - s.mean) / s.deviation
}

func (s scaling) bend(v float64) float64 {
	if s.bending == 0 {
		return v
	}
	if excess := (s.median-v)/s.bending - bendAt; excess > 0 {
		return s.median - s.bending*(bendAt+math.Log1p(excess))
	}
	return v
}

// output is the inverse of the method of.
func (s scaling) output(z float64) float64 { return s.largest * s.unbend(s.mean+s.deviation*z) }

func (s scaling) unbend(v float64) float64 {
	if s.bending == 0 {
		return v
	}
	if excess := (s.median-v)/s.bending - bendAt; excess > 0 {
		return s.median - s.bending*(bendAt+math.Expm1(excess))
	}
	return v
}

// rescale returns the outputs in the form that the surrogates' priors assume: mean zero and
// standard deviation one, after the tail of bad values has been bent.
//
// Objectives often have heavy tails of bad values (a divergent training, a polynomial far from its
// valley). Such values would dominate the standard deviation, and all good values would look equal.
// Therefore values more than half a standard deviation below the median are bent: beyond that point
// they grow only with the logarithm of the excess. For this purpose the standard deviation is
// estimated from the better half of the outputs. Bending keeps the order of the outputs and does
// not change good values.
//
// Outputs that are all the same, up to rounding, become zeros.
func rescale(obs Observations, end tail) ([]float64, scaling, error) {
	if len(obs.Y) == 0 {
		return nil, scaling{}, ErrNoObservations
	}
	if err := checkLengths(obs); err != nil {
		return nil, scaling{}, err
	}
	s := scaling{}
	for i, v := range obs.Y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, scaling{}, fmt.Errorf("value %g of observation %d: must be finite", v, i)
		}
		s.largest = max(s.largest, math.Abs(v))
	}
	y := make([]float64, len(obs.Y))
	if s.largest == 0 {
		return y, s, nil
	}
	for i, v := range obs.Y {
		y[i] = v / s.largest // the largest absolute value becomes 1, so that squares neither overflow nor vanish
	}
	if end == bent {
		s.measureTail(y)
		for i, v := range y {
			y[i] = s.bend(v)
		}
	}
	s.mean, s.deviation = center(y)
	return y, s, nil
}

func checkLengths(obs Observations) error {
	if len(obs.X) != len(obs.Y) {
		return fmt.Errorf("%d designs but %d values", len(obs.X), len(obs.Y))
	}
	return nil
}

// measureTail sets the median and the unit of bending, given outputs y in units of s.largest.
func (s *scaling) measureTail(y []float64) {
	if len(y) < minToBend {
		return
	}
	sorted := slices.Sorted(slices.Values(y))
	median := quantile(sorted, 0.5)
	if deviation := (quantile(sorted, goodShare) - median) / goodNormal; deviation > rounding {
		s.median, s.bending = median, deviation
	}
}

// quantile interpolates linearly between the two nearest sorted values.
func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// rounding is the difference below which outputs in units of the largest count as equal.
const rounding = 1e-12

// center subtracts the mean from y and divides by the standard deviation, in place. It returns
// both. The returned deviation is 0 if it is no larger than rounding errors.
func center(y []float64) (mean, deviation float64) {
	square := 0.0
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		square += (v - mean) * (v - mean) / float64(max(len(y)-1, 1))
	}
	if deviation = math.Sqrt(square); !(deviation > rounding) {
		clear(y)
		return mean, 0
	}
	for i := range y {
		y[i] = (y[i] - mean) / deviation
	}
	return mean, deviation
}
