package surrogate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrNoObservations means that a surrogate was fitted or conditioned before the first observation.
var ErrNoObservations = errors.New("no observations")

// Constants of the bent bad tail.
const (
	bendAt     = 0.5    // upper quantile for estimating the deviation, together with the median
	goodShare  = 0.9    // the deviation is estimated from the median to this quantile
	goodNormal = 1.2816 // this quantile of a standard normal variable
	minToBend  = 4      // observations
)

// Units relates the standardised outputs of one agent to its own: an output is Level + Scale times
// its standardised value, unless it lies in the bent tail.
type Units struct {
	Level, Scale float64 // Scale is 0 if all outputs are the same

	tail *scaling // nil: nothing is bent
}

// Output returns what has this value in the standardised units. Where the outputs did not
// differ, it returns their common value.
func (u Units) Output(standardised float64) float64 {
	if u.tail != nil {
		return u.tail.output(standardised)
	}
	return u.Level + u.Scale*standardised
}

// Standardised is the inverse of Output.
func (u Units) Standardised(output float64) float64 {
	if u.tail != nil {
		return u.tail.of(output)
	}
	return (output - u.Level) / u.Scale
}

// Standardise returns the outputs in the units of all results of a posterior of these observations,
// if the process is learned.
func Standardise(obs Observations) ([]float64, Units, error) {
	y, s, err := rescale(obs, bent)
	if err != nil {
		return nil, Units{}, err
	}
	return y, s.units(), nil
}

func standardise(obs Observations) ([]float64, error) {
	y, _, err := rescale(obs, bent)
	return y, err
}

// tail states whether the bad tail of the outputs is bent.
type tail bool

const (
	bent     tail = true
	straight tail = false
)

// scaling maps outputs to standardised ones. All fields but largest are in units of largest.
type scaling struct {
	largest         float64 // largest absolute output; 0 if all are 0
	median, bending float64 // start of the bent tail, and its unit; bending 0: nothing is bent
	mean, deviation float64 // deviation 0: the outputs do not differ
}

// units returns the units of outputs outside the bent tail.
func (s scaling) units() Units {
	return Units{Level: s.largest * s.mean, Scale: s.largest * s.deviation, tail: &s}
}

// of standardises a value. If the outputs do not differ, the size of a difference is unknown: a
// smaller value becomes -1, a larger one 1.
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

// output is the inverse of of.
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

// rescale returns the outputs in the form that the priors of the surrogates assume: mean zero and
// deviation one, after the bad tail has been bent.
//
// Objectives are often heavy-tailed where they are bad (a divergent training, a polynomial far from
// its valley). Such values would dominate the deviation and make all good ones equal. Therefore
// values more than half a deviation below the median grow only with the logarithm of the excess.
// The order of the outputs stays; good values are never bent. The deviation is that of the good
// half.
//
// Outputs that do not differ, up to rounding, become zeros.
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
		y[i] = v / s.largest // so that no square overflows or vanishes
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

// measureTail determines where values of order one begin to bend.
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

// quantile interpolates between the nearest two sorted values.
func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// rounding is the difference below which values of order one count as equal.
const rounding = 1e-12

// center subtracts the mean and divides by the deviation. It returns both, the deviation as 0 if it
// is only rounding.
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
