package sums

import (
	"math"
	"slices"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// step is the value of one unit of the integers that are added up.
const step = 1.0 / (1 << 24)

// minUnits is the minimum number of observations from which units are computed.
const minUnits = 3

// units standardise outputs: (y − Level) / Scale. Each contribution has those of the node's model at
// that time. An observation is contributed once, so none is sent in two units.
type units struct {
	Level float64 `json:"level"`
	Scale float64 `json:"scale"` // above 0
}

func (u units) valid() bool {
	return u.Scale > 0 && !math.IsInf(u.Scale, 1) && !math.IsInf(u.Level, 0) && !math.IsNaN(u.Level)
}

// standardise returns the standardised output, clipped to MaxOutput.
func (u units) standardise(y float64) float64 {
	return clip((y/u.Scale - u.Level/u.Scale), MaxOutput)
}

// clip returns v within ±limit, and 0 for NaN.
func clip(v, limit float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return min(max(v, -limit), limit)
}

// unitsOf returns the median of outputs, and their median absolute deviation in the scale of a
// standard deviation. If more than half of the outputs are equal, the scale is the standard
// deviation. The result is invalid for too few or constant outputs.
func unitsOf(y []float64) units {
	if len(y) < minUnits {
		return units{}
	}
	u := units{Level: median(y)}
	var deviations []float64
	squares := 0.0
	for _, v := range y {
		deviations = append(deviations, math.Abs(v-u.Level))
		squares += (v - u.Level) * (v - u.Level) / float64(len(y))
	}
	const consistent = 1.4826 // standard deviation of a normal distribution, relative to its median absolute deviation
	if u.Scale = consistent * median(deviations); u.Scale == 0 {
		u.Scale = math.Sqrt(squares)
	}
	return u
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

// observation is one measured trial.
type observation struct {
	trial uint64
	y     float64 // larger is better
}

// observations returns the measured trials of a view in order of their IDs, without their encoded
// designs.
func observations(view strategy.View) (all []observation, trials []*strategy.Trial) {
	for i := range view.Trials {
		t := &view.Trials[i]
		if value, ok := t.Measured(task.Objective); ok && t.State == strategy.Done {
			all, trials = append(all, observation{trial: t.ID, y: view.Task.Goal.Sign() * value}), append(trials, t)
		}
	}
	return all, trials
}

// batch is what a node contributes in one round.
type batch struct {
	units  units
	trials []uint64
	vector []int64
}

// available returns the number of contributions that a node could make now.
func (e *Exchange) available(view strategy.View) int {
	all, _ := observations(view)
	if !e.units.valid() {
		if len(all) < view.Task.Strategy.InitialDesigns || !unitsOf(outputs(all)).valid() {
			return 0
		}
	}
	fresh := 0
	for _, o := range all {
		if !e.spent[o.trial] {
			fresh++
		}
	}
	return fresh / e.every
}

func outputs(all []observation) (y []float64) {
	for _, o := range all {
		y = append(y, o.y)
	}
	return y
}

// next returns the contribution of the oldest observations that were not contributed before.
// available must be above 0.
func (e *Exchange) next(view strategy.View) batch {
	all, trials := observations(view)
	b := batch{units: modelUnits(view, outputs(all), trials)}
	if !b.units.valid() {
		b.units = e.units
	}
	var x [][]float64
	var y []float64
	for i, o := range all {
		if e.spent[o.trial] || len(b.trials) == e.every {
			continue
		}
		b.trials = append(b.trials, o.trial)
		x, y = append(x, view.Task.Space.Encode(trials[i].Design)), append(y, b.units.standardise(o.y))
	}
	b.vector = vectorOf(e.statistic, x, y)
	return b
}

// vectorOf returns the statistic of observations, in units of step.
func vectorOf(s Statistic, x [][]float64, y []float64) []int64 {
	sum, one, vector := make([]float64, s.Numbers()), make([]float64, s.Numbers()), make([]int64, s.Numbers())
	for i := range x {
		clear(one)
		s.Add(one, x[i], y[i])
		for k, v := range one {
			sum[k] += clip(v, s.Limit())
		}
	}
	for k, v := range sum {
		vector[k] = int64(math.RoundToEven(v / step))
	}
	return vector
}

// Contribution returns the standardised outputs of a node's observations and the vector of a
// contribution with those from first to last-1, as receivers of a sum could compute it if they knew
// all other vectors. Units are those of the first `initial` observations; ok is false if these have
// none.
func Contribution(s Statistic, x [][]float64, y []float64, initial, first, last int) (standardised, vector []float64, ok bool) {
	u := unitsOf(y[:min(initial, len(y))])
	if !u.valid() {
		return nil, nil, false
	}
	for _, v := range y[first:last] {
		standardised = append(standardised, u.standardise(v))
	}
	for _, v := range vectorOf(s, x[first:last], standardised) {
		vector = append(vector, float64(v)*step)
	}
	return standardised, vector, true
}

// maxUnits returns the largest absolute value of a number in a contribution.
func maxUnits(s Statistic, every int) int64 {
	return int64(math.Ceil(float64(every) * s.Limit() / step))
}
