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

// units standardise outputs: (y − Level) / Scale. They are fixed at the first contribution, so that
// no observation is contributed again in other units.
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
	x     []float64
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
	b := batch{units: e.units, vector: make([]int64, e.statistic.Numbers())}
	if !b.units.valid() {
		b.units = modelUnits(view, outputs(all), trials)
	}
	sum, one := make([]float64, len(b.vector)), make([]float64, len(b.vector))
	for i, o := range all {
		if e.spent[o.trial] || len(b.trials) == e.every {
			continue
		}
		b.trials = append(b.trials, o.trial)
		clear(one)
		e.statistic.Add(one, view.Task.Space.Encode(trials[i].Design), b.units.standardise(o.y))
		for k, v := range one {
			sum[k] += clip(v, e.statistic.Limit())
		}
	}
	for k, v := range sum {
		b.vector[k] = int64(math.RoundToEven(v / step))
	}
	return b
}

// maxUnits returns the largest absolute value of a number in a contribution.
func maxUnits(s Statistic, every int) int64 {
	return int64(math.Ceil(float64(every) * s.Limit() / step))
}
