package acquisition

import (
	"fmt"
	"math"
)

// Mean returns the acquisition function that equals the posterior mean.
func Mean(p Predictor) Function { return &scored{p: p, by: bound{}} }

// UCB returns the upper confidence bound mean + sqrt(beta)·sd (Srinivas et al., "Gaussian Process
// Optimization in the Bandit Setting: No Regret and Experimental Design", ICML 2010, algorithm 1).
// It panics if beta is negative or NaN.
func UCB(p Predictor, beta float64) Function {
	return &scored{p: p, by: bound{rootOf(beta)}}
}

// LCB returns the lower confidence bound mean - sqrt(beta)·sd. Like all functions here it is to be
// maximised, and its maximiser is a design that is good even under pessimistic assumptions. (An
// optimiser that minimises explores with another bound: the UCB of the negated process.) LCB panics
// if beta is negative or NaN.
func LCB(p Predictor, beta float64) Function {
	return &scored{p: p, by: bound{-rootOf(beta)}}
}

func rootOf(beta float64) float64 {
	if !(beta >= 0) {
		panic(fmt.Sprintf("acquisition: beta is %g; it must be at least 0", beta))
	}
	return math.Sqrt(beta)
}

// bound is the mean plus a number of standard deviations, as a score.
type bound struct{ deviations float64 }

func (b bound) value(mean, sd float64) float64 { return mean + b.deviations*sd }

func (b bound) slopes(mean, sd float64) (value, byMean, bySD float64) {
	return b.value(mean, sd), 1, b.deviations
}
