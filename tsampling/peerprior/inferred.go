package peerprior

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/surrogate/gp"
)

// inferred are pseudo-observations: points, values and noise that reproduce a peer's mean
// and variance where it is surest. They stand for its real ones, which a share does not
// contain. Each is inferred given those before it, and no noise is below peerNoise.
type inferred struct {
	at     []int     // of the reference points
	values []float64 // less its level, in its units
	noise  []float64 // variance, in units of the prior's
}

// infer takes what an author knows and its mean at the reference points, which have these
// correlations under its lengthscales. Each observation adds to those before it what these
// do not tell.
func infer(correlations *mat.SymDense, known, mean []float64, observations int) inferred {
	n := correlations.SymmetricDim()
	var o inferred
	untold := make([]float64, n) // of what is known
	copy(untold, known)
	foretold := make([]float64, n)
	var columns [][]float64 // of the root of what the observations tell of the covariance
	for range min(observations, mostInferred) {
		at := 0
		for i, v := range untold {
			if v > untold[at] {
				at = i
			}
		}
		covariance := make([]float64, n)
		for i := range covariance {
			covariance[i] = correlations.At(at, i)
		}
		for _, column := range columns {
			for i, v := range column {
				covariance[i] -= column[at] * v
			}
		}
		variance := covariance[at]
		if !(min(untold[at], variance) > leastInferred) {
			break
		}
		noise := max(peerNoise, variance*(variance/untold[at]-1))
		surprise := (mean[at] - foretold[at]) / variance
		o.at = append(o.at, at)
		o.values = append(o.values, min(max(foretold[at]+surprise*(variance+noise), -mostDeviations), mostDeviations))
		o.noise = append(o.noise, noise)
		for i, v := range covariance {
			foretold[i] += surprise * v
			covariance[i] = v / math.Sqrt(variance+noise)
			untold[i] -= covariance[i] * covariance[i]
		}
		columns = append(columns, covariance)
	}
	return o
}

// infer is of an author whose process has these lengthscales, that says this at the
// reference points.
func (s *Strategy) infer(lengthscales, known, mean []float64, observations int) inferred {
	initial := s.initialLengthscales()
	if len(lengthscales) != len(initial) {
		lengthscales = initial // its surrogate learns none
	}
	points := s.points[:min(comparedPoints, len(s.points))]
	return infer(gp.Covariance(s.spec, points, lengthscales), known[:len(points)], mean[:len(points)], observations)
}
