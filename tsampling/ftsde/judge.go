package ftsde

import (
	"slices"

	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/tsampling/peerprior"
)

// statements combines the sums of a view into one statement about the objective for package
// peerprior. The mean of the statement is the average of the sums, weighted by their observations
// and noise. The fraction of the variance that it explains is 1 minus the variance of its noise
// over the total variance of its mean. The noise is known.
func (s *Strategy) statements(view strategy.View) []peerprior.Statement {
	sums := sumsOf(view)
	if len(sums) == 0 {
		return nil
	}
	weights, noise := Pooled(sums)
	p := s.patches(weights)
	average, square, ofNoise := 0.0, 0.0, 0.0
	n := float64(len(s.points))
	for _, x := range s.points {
		value := p.Value(x)
		average += value / n
		square += value * value / n
	}
	for cell, gain := range s.gains {
		ofNoise += noise[cell] * gain
	}
	variance := square - average*average
	if !(variance > ofNoise) {
		return nil
	}
	return []peerprior.Statement{{
		Observations: sums[len(sums)-1].Observations,
		Explained:    1 - ofNoise/variance,
		Value:        p.Value,
	}}
}

// gains returns the effect of noise for each cell: the variance over the points of a function whose
// weights in this cell are independent with mean 0 and variance 1. The function is 0 in other
// cells. Its average over the points is subtracted, because noise changes the average too, and the
// average is not used.
func gains(cells Cells, features *rff.Map, points [][]float64) []float64 {
	gains, centre := make([]float64, cells.Len()), make([][]float64, cells.Len())
	phi, n := make([]float64, features.Features()), float64(len(points))
	for cell := range centre {
		centre[cell] = make([]float64, len(phi))
	}
	for _, x := range points {
		cell := cells.Of(x)
		features.Phi(phi, x)
		for i, v := range phi {
			gains[cell] += v * v / n
			centre[cell][i] += v / n
		}
	}
	for cell := range centre {
		for _, v := range centre[cell] {
			gains[cell] -= v * v
		}
	}
	return gains
}

// Pooled returns the weighted average of the sums' weights by cell, and by cell the variance of the
// noise on each weight of that average. As in a matched filter, a sum is weighted by the strength
// of its signal divided by the variance of its noise. The strength is assumed to be proportional to
// the observations of each contributor.
func Pooled(sums []Sum) (weights [][]float64, noise []float64) {
	cells := len(sums[0].Weights)
	weights, noise = make([][]float64, cells), make([]float64, cells)
	for cell := range cells {
		weights[cell] = make([]float64, len(sums[0].Weights[cell]))
		total := 0.0
		for _, s := range sums {
			if !slices.ContainsFunc(s.Weights[cell], func(w float64) bool { return w != 0 }) {
				continue // the sum has no information on this cell, and its noise was removed too (see drowned)
			}
			variance := s.Noise[cell] * s.Noise[cell]
			weight := float64(max(1, s.Observations)) / variance
			total += weight
			noise[cell] += weight * weight * variance
			for i, w := range s.Weights[cell] {
				weights[cell][i] += weight * w
			}
		}
		if total == 0 {
			continue
		}
		for i := range weights[cell] {
			weights[cell][i] /= total
		}
		noise[cell] /= total * total
	}
	return weights, noise
}
