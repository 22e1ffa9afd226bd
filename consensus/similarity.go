package consensus

import (
	"math"

	"github.com/fbo-node/fbo/internal/normal"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// similarities returns for each candidate how well it fits the agent's own observations, 0 to 1:
//
//	min(1, 2P)^√n,  P = P(f((x+y)/2) >= f(x))
//
// with x the own candidate, y the peer's, n the number of own observations and f a function with
// the own posterior as its distribution. The similarity is 1 if no observation speaks against y, as
// before the first observation. It is near 0 if the agent knows of a valley or a slope between x
// and y.
//
// P refers to the point halfway, since the agent evaluates an average: candidates on two hills may
// both be good although the designs between them are not. The exponent √n gives the own candidate
// more weight as own evidence grows, even if each P is only slightly below 1/2.
//
// If the posterior is no surrogate.JointPosterior, all similarities are 0, and the agent uses its
// own candidate.
func similarities(space *task.Space, view strategy.View, own []float64, candidates []PeerCandidate) []float64 {
	fits := make([]float64, len(candidates))
	posterior, ok := view.Posterior.(surrogate.JointPosterior)
	if !ok {
		return fits
	}
	for i, voice := range candidates {
		halfway := voice.Candidate.Point.Encoded(space)
		for d := range halfway {
			halfway[d] = (halfway[d] + own[d]) / 2
		}
		p := notWorse(posterior.Joint([][]float64{own, halfway}))
		fits[i] = math.Pow(min(1, 2*p), math.Sqrt(float64(view.Observations)))
	}
	return fits
}

// notWorse returns the probability that the second of two jointly normal values is at least the
// first.
func notWorse(both surrogate.Joint) float64 {
	mean, covariance := both.Mean(), both.Covariance()
	gain := mean[1] - mean[0]
	sd := math.Sqrt(max(0, covariance.At(0, 0)+covariance.At(1, 1)-2*covariance.At(0, 1)))
	switch {
	case sd > 0:
		return normal.CDF(gain / sd)
	case gain < 0:
		return 0
	default: // the same point
		return 0.5
	}
}
