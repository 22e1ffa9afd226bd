package search

import (
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/strategy"
)

// feasibleDeviations is the number of posterior standard deviations by which a design must satisfy
// a constraint to count as probably feasible. 1.96 means a probability of 97.5 %.
const feasibleDeviations = 1.96

// Limits returns the view's constraints in the form that acquisition functions take. Completion is
// one of them if the view has a posterior of it.
func Limits(view strategy.View) []Limit {
	var limits []Limit
	for _, c := range bounded(view) {
		limits = append(limits, Limit{Predictor: c.Posterior, Low: c.Low, High: c.High, Noise: c.Noise})
	}
	return limits
}

func bounded(view strategy.View) []*surrogate.Constraint {
	if view.Completion == nil {
		return view.Constraints
	}
	return append(slices.Clip(view.Constraints), view.Completion)
}

// Uninformed reports whether the model has too little information to choose designs: some boolean
// constraint has never been true, or the outcomes are a plateau. Such a model prefers unexplored
// designs, and first those at the bounds of the space. With many parameters there are many of
// these. Random designs do not prefer the bounds and find a different outcome sooner.
func Uninformed(view strategy.View) bool { return neverTrue(view) || plateau(view) }

func neverTrue(view strategy.View) bool {
	for _, bound := range view.Task.Bounds() {
		kept := func(trial strategy.Trial) bool {
			value, ok := trial.Measured(bound.Output)
			return ok && bound.Keeps(value)
		}
		if bound.Truth && !slices.ContainsFunc(view.Trials, kept) {
			return true
		}
	}
	return false
}

const (
	plateauShare    = 0.8   // minimum fraction of outcomes that are equal to the best one
	plateauRounding = 1e-12 // outcomes count as equal if they differ by at most this fraction of the larger magnitude
)

// plateau reports whether at least two outcomes, and 80 % of all, equal the best outcome. It
// returns false for tasks with constraints or further objectives, since a model can learn from these.
func plateau(view strategy.View) bool {
	if len(view.Task.Bounds()) > 0 || view.Task.Several() {
		return false
	}
	sign, best := view.Task.Goal.Sign(), math.Inf(-1)
	var values []float64
	for _, trial := range finished(view, func(*strategy.Trial) bool { return true }) {
		values = append(values, sign*trial.Outcome.Value)
		best = max(best, sign*trial.Outcome.Value)
	}
	equal := 0
	for _, v := range values {
		if best-v <= plateauRounding*max(math.Abs(best), math.Abs(v)) {
			equal++
		}
	}
	return equal > 1 && float64(equal) >= plateauShare*float64(len(values))
}

// AmongFeasible returns f restricted to designs that are probably feasible: each satisfies all
// constraints by 1.96 posterior standard deviations. Without constraints it returns f. Boolean
// constraints may never reach this confidence. For them the margin of the best feasible design
// suffices.
func AmongFeasible(view strategy.View, f Function) Function {
	var margins []Bounded
	for _, limit := range Limits(view) {
		deviations := feasibleDeviations
		if limit.Noise > 0 {
			deviations = min(deviations, margin(view, limit))
		}
		margins = append(margins, acquisition.Margin(limit, deviations)...)
	}
	return acquisition.Penalised(f, margins...)
}

// completionDeviations is the number of posterior standard deviations by which a design must be
// predicted to complete after a failure. 1 means a probability of 84 %.
const completionDeviations = 1

// amongCompleting returns f. If the newest ended trial failed, f is restricted to designs that are
// likely to complete. The largest predicted gains often lie among designs that fail, so that
// without the restriction trial after trial would fail.
func amongCompleting(view strategy.View, f Function) Function {
	if view.Completion == nil || !LastFailed(view) {
		return f
	}
	c := view.Completion
	return acquisition.Penalised(f, acquisition.Margin(Limit{Predictor: c.Posterior, Low: c.Low, High: c.High, Noise: c.Noise}, completionDeviations)...)
}

// LastFailed reports whether the newest ended trial failed.
func LastFailed(view strategy.View) bool {
	for _, trial := range slices.Backward(view.Trials) {
		if trial.State.Ended() {
			return trial.State == strategy.Failed
		}
	}
	return false
}

// margin returns the number of standard deviations by which the best feasible design satisfies the
// limit. It is 0 if no design is feasible or the best one is predicted to violate the limit.
func margin(view strategy.View, limit Limit) float64 {
	best := strategy.Best(view.Task, view.Trials)
	if best == nil {
		return 0
	}
	mean, variance := limit.Predict(view.Task.Space.Encode(best.Design))
	return max((mean-limit.Low)/math.Sqrt(variance+limit.Noise), 0)
}

// Draw returns a sample of the objective's posterior. With constraints, the sample is restricted to
// designs that are feasible in one sample of each constraint's posterior. This is the Thompson
// sampling of Eriksson and Poloczek, "Scalable Constrained Bayesian Optimization" (AISTATS 2021),
// section 3. name and number select the random stream. The sample of the objective does not depend
// on whether there are constraints.
func Draw(view strategy.View, seed strategy.Seed, name string, number uint64) Function {
	f, limited := Sample(view, seed, name, number)
	return acquisition.Penalised(f, limited...)
}

// Sample returns the parts of Draw: a sample of the objective, and a sample of each constraint with
// its bounds.
func Sample(view strategy.View, seed strategy.Seed, name string, number uint64) (f Function, limited []Bounded) {
	f = view.Posterior.Draw(seed.Stream(name, number))
	for _, c := range bounded(view) {
		sample := c.Draw(seed.Stream(name+" of "+string(c.Output), number))
		limited = append(limited, Bounded{Function: sample, Low: c.Low, High: c.High})
	}
	return f, limited
}

// LikelyFeasible reports whether the encoded design x is feasible with probability 1/2 or more. An
// agent publishes no other design as a good one.
func LikelyFeasible(view strategy.View, x []float64) bool { return Feasibility(view, x) >= 0.5 }

// Feasibility returns the probability that the encoded design x satisfies all constraints.
func Feasibility(view strategy.View, x []float64) float64 {
	return math.Exp(acquisition.LogFeasibility(Limits(view)...).Value(x))
}
