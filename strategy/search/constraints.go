package search

import (
	"math"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/strategy"
)

// confidence is the deviations by which a design must keep every constraint to be
// believed feasible: 97.5 % for each.
const confidence = 1.96

// Limits are the view's constraints as acquisition functions take them.
func Limits(view strategy.View) []acquisition.Limit {
	var limits []acquisition.Limit
	for _, c := range view.Constraints {
		limits = append(limits, acquisition.Limit{Predictor: c.Posterior, Low: c.Low, High: c.High})
	}
	return limits
}

// Believed returns f among the designs that are believed to be feasible: each
// constraint is kept by 1.96 standard deviations of its posterior. Without constraints
// it is f.
func Believed(view strategy.View, f acquisition.Function) acquisition.Function {
	var margins []acquisition.Bounded
	for _, limit := range Limits(view) {
		margins = append(margins, acquisition.Margin(limit, confidence)...)
	}
	return acquisition.Penalised(f, margins...)
}

// Draw returns a sample of the objective's posterior, and with constraints one of each
// of theirs: the sample among the designs that are feasible in it. It is the Thompson
// sampling of Eriksson and Poloczek, "Scalable Constrained Bayesian Optimization"
// (AISTATS 2021), section 3. The sample of the objective is from the stream of this
// name and number, the same with constraints and without.
func Draw(view strategy.View, seed random.Seed, name string, number uint64) acquisition.Function {
	f, bounded := Sample(view, seed, name, number)
	return acquisition.Penalised(f, bounded...)
}

// Sample returns what Draw is made of: the sample of the objective, and those of the
// constraints with their limits.
func Sample(view strategy.View, seed random.Seed, name string, number uint64) (f acquisition.Function, bounded []acquisition.Bounded) {
	f = view.Posterior.Draw(seed.Stream(name, number))
	for _, c := range view.Constraints {
		sample := c.Draw(seed.Stream(name+" of "+string(c.Output), number))
		bounded = append(bounded, acquisition.Bounded{Function: sample, Low: c.Low, High: c.High})
	}
	return f, bounded
}

// Feasibility is the probability that the design at x keeps all constraints.
func Feasibility(view strategy.View, x []float64) float64 {
	return math.Exp(acquisition.LogFeasibility(Limits(view)...).Value(x))
}
