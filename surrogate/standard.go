package surrogate

import (
	"errors"
	"fmt"
	"math"
)

// ErrNoObservations says that a surrogate was asked before the first
// observation.
var ErrNoObservations = errors.New("surrogate: no observations")

// standard is the map between an agent's units and standardised ones.
type standard struct {
	center, scale float64
}

// standardise returns (y - mean) / deviation and the map back. Outputs that do
// not differ, up to rounding, are left in their units.
func standardise(obs Observations) ([]float64, standard, error) {
	y := obs.Y
	if len(y) == 0 {
		return nil, standard{}, ErrNoObservations
	}
	if len(obs.X) != len(y) {
		return nil, standard{}, fmt.Errorf("surrogate: %d designs but %d values", len(obs.X), len(y))
	}
	largest := 0.0
	for i, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, standard{}, fmt.Errorf("surrogate: value %g of observation %d: must be finite", v, i)
		}
		largest = max(largest, math.Abs(v))
	}
	s := standard{center: y[0], scale: 1}
	if largest > 0 && len(y) > 1 {
		s = moments(y, largest)
	}
	scaled := make([]float64, len(y))
	for i, v := range y {
		// Halves, since the difference of two large values may overflow.
		scaled[i] = (v/2 - s.center/2) / (s.scale / 2)
	}
	return scaled, s, nil
}

// moments works in units of the largest value, so that no square overflows or
// vanishes.
func moments(y []float64, largest float64) standard {
	mean, square := 0.0, 0.0
	for _, v := range y {
		mean += v / largest / float64(len(y))
	}
	for _, v := range y {
		d := v/largest - mean
		square += d * d / float64(len(y)-1)
	}
	const rounding = 1e-12
	s := standard{center: mean * largest, scale: min(math.Sqrt(square)*largest, math.MaxFloat64)}
	if math.Sqrt(square) < rounding || s.scale/2 == 0 {
		s.scale = 1
	}
	return s
}

// inUnits takes a standardised prediction back to the agent's units.
func (s standard) inUnits(mean, variance float64) (float64, float64) {
	return s.center + s.scale*mean, s.scale * s.scale * variance
}
