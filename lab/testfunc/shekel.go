package testfunc

import (
	"fmt"
	"math"
)

// Shekel4 returns Shekel's function of four floats in [0, 10] with m = 5, 7 or 10 wells. It panics
// for other m. The minimum is -10.1532, -10.4029 or -10.5364. The deepest well is narrow and near
// (4, 4, 4, 4).
//
// Source: Shekel (1971), "Test functions for multimodal search techniques",
// Fifth Annual Princeton Conference on Information Science and Systems.
//
// All wells have their centres inside the space, and each rises with the distance from its centre.
// Therefore no point outside the space has a value below the minimum.
func Shekel4(m int) Function {
	var optimum, deviation float64
	var minimizer []float64
	switch m {
	case 5:
		optimum, minimizer = -10.153199679058227, []float64{4.000037152819676, 4.00013327659156, 4.000037152819676, 4.00013327659156}
	case 7:
		optimum, minimizer = -10.402915336777744, []float64{4.000572819251117, 3.9996062096096887, 4.000572819251117, 3.9996062096096887}
	case 10:
		optimum, minimizer = -10.536443153483528, []float64{4.000746868270634, 3.9995094800857736, 4.000746868270634, 3.9995094800857736}
		deviation = shekel4Deviation
	default:
		panic(fmt.Sprintf("testfunc: Shekel4 with %d wells; accepted: 5, 7, 10", m))
	}
	return Function{
		Name:       fmt.Sprintf("shekel4-%d", m),
		Space:      box(4, 0, 10),
		Value:      shekel(m),
		Optimum:    optimum,
		Minimizers: [][]float64{minimizer},
		Deviation:  deviation,
		Reach:      math.Inf(1),
	}
}

func shekel(m int) func(x []float64) float64 {
	centres := [10][4]float64{
		{4, 4, 4, 4}, {1, 1, 1, 1}, {8, 8, 8, 8}, {6, 6, 6, 6}, {3, 7, 3, 7},
		{2, 9, 2, 9}, {5, 3, 5, 3}, {8, 1, 8, 1}, {6, 2, 6, 2}, {7, 3.6, 7, 3.6},
	}
	widths := [10]float64{0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5}
	return func(x []float64) float64 {
		value := 0.0
		for i := range m {
			distance := widths[i]
			for k, centre := range centres[i] {
				distance += (x[k] - centre) * (x[k] - centre)
			}
			value -= 1 / distance
		}
		return value
	}
}
