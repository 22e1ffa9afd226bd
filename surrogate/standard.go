package surrogate

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrNoObservations says that a surrogate was asked before the first
// observation.
var ErrNoObservations = errors.New("surrogate: no observations")

// Where the bad tail of the outputs begins to bend.
const (
	bendAt      = 0.5    // deviations below the median
	goodShare   = 0.9    // the deviation is estimated from the median to this quantile
	goodNormal  = 1.2816 // which lies here for a standard normal variable
	leastToBend = 4      // observations
)

// Units relate the standardised outputs of one agent to its own: an output is
// Level + Scale times its standardised value, unless it lies in the bent tail.
type Units struct {
	Level, Scale float64 // Scale is 0 when all outputs are the same
}

// Standardise returns the outputs in the units of everything that a posterior
// of these observations says.
func Standardise(obs Observations) ([]float64, Units, error) {
	y, units, err := rescale(obs)
	return y, units, err
}

func standardise(obs Observations) ([]float64, error) {
	y, _, err := rescale(obs)
	return y, err
}

// rescale returns the outputs in the form that the priors of the surrogates
// are stated for: mean zero and deviation one, after the bad tail has been bent.
//
// Objectives are often heavy-tailed where they are bad (a divergent training, a
// polynomial far from its valley). Such values would decide the deviation and
// leave all good ones equal, so what lies more than half a deviation below the
// median grows only by the logarithm of the excess. The order of the outputs
// stays; good values are never bent. The deviation is that of the good half.
//
// Outputs that do not differ, up to rounding, become zeros.
func rescale(obs Observations) ([]float64, Units, error) {
	if len(obs.Y) == 0 {
		return nil, Units{}, ErrNoObservations
	}
	if len(obs.X) != len(obs.Y) {
		return nil, Units{}, fmt.Errorf("surrogate: %d designs but %d values", len(obs.X), len(obs.Y))
	}
	largest := 0.0
	for i, v := range obs.Y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, Units{}, fmt.Errorf("surrogate: value %g of observation %d: must be finite", v, i)
		}
		largest = max(largest, math.Abs(v))
	}
	y := make([]float64, len(obs.Y))
	if largest == 0 {
		return y, Units{}, nil
	}
	for i, v := range obs.Y {
		y[i] = v / largest // so that no square overflows or vanishes
	}
	bend(y)
	mean, deviation := center(y)
	return y, Units{Level: largest * mean, Scale: largest * deviation}, nil
}

// bend changes values of order one in place.
func bend(y []float64) {
	if len(y) < leastToBend {
		return
	}
	sorted := slices.Sorted(slices.Values(y))
	median := quantile(sorted, 0.5)
	deviation := (quantile(sorted, goodShare) - median) / goodNormal
	if !(deviation > rounding) {
		return
	}
	for i, v := range y {
		if excess := (median-v)/deviation - bendAt; excess > 0 {
			y[i] = median - deviation*(bendAt+math.Log1p(excess))
		}
	}
}

// quantile interpolates between the nearest of the sorted values.
func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// rounding is what differences between values of order one are worth.
const rounding = 1e-12

// center takes the mean away and divides by the deviation; it returns both, the
// deviation as 0 when there is none but rounding.
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
