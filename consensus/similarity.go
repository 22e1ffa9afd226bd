package consensus

import (
	"math"

	"github.com/fbo-node/fbo/internal/normal"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// similarities returns, for each voice, how well its candidate fits what the agent has seen:
//
//	min(1, 2P)^√n,  P = P(f((x+y)/2) >= f(x))
//
// with x the own candidate, y the peer's, n the own observations and f the own posterior. It
// is 1 where nothing speaks against y, as before the first observation, and near 0 where
// the agent knows of a valley or a slope between the two.
//
// P is of the point halfway, since what is evaluated is an average: candidates on two hills
// may both be good, and what lies between them not. The exponent lets the own candidate
// weigh more with own evidence, also while each P is a little below 1/2.
//
// All are 0, so that the own candidate is taken, with a posterior that is no
// surrogate.JointPosterior.
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

// notWorse is the probability that the second of two values is at least the first.
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
