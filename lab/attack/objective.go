package attack

import (
	"math"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

const (
	unlike       = 0.2 // fraction of each member's function that is its own
	objectiveSum = 1000
	// kept is the level above which a drawn function satisfies a constraint; that is so for three
	// quarters of the space on average.
	kept = -0.67
)

// objectives holds the members' objectives: samples of a Gaussian process over the task's encoded
// space that are similar among members, as in the family gp, with variance 1 and lengthscale
// 0.2·√d.
type objectives struct {
	task      *task.Task
	seed      random.Seed
	functions []*rff.Function
	limits    [][]*rff.Function // for each member, one function for each constraint
	further   [][]*rff.Function // for each member, one function for each objective but the first
}

func newObjectives(t *task.Task, count int, seed random.Seed) (*objectives, error) {
	o := &objectives{task: t, seed: seed, limits: make([][]*rff.Function, count), further: make([][]*rff.Function, count)}
	lengthscales := make([]float64, t.Space.Dim())
	for _, block := range t.Space.Blocks() {
		for i := block.Start; i < block.Start+block.Len; i++ {
			lengthscales[i] = 0.2 * math.Sqrt(float64(t.Space.Len()))
			if block.Kind == task.Categorical {
				lengthscales[i] = 1
			}
		}
	}
	features, err := rff.NewMap(seed.Derive("features", 0), rff.Spec{Kernel: rff.SE, Features: objectiveSum, Lengthscales: lengthscales})
	if err != nil {
		return nil, err
	}
	draw := func(name string, k int) *rff.Function {
		common, own := seed.Stream("common "+name, 0), seed.Stream("own "+name, uint64(k))
		w := make([]float64, objectiveSum)
		for i := range w {
			w[i] = math.Sqrt(1-unlike*unlike)*common.NormFloat64() + unlike*own.NormFloat64()
		}
		return features.Function(w)
	}
	for k := range count {
		o.functions = append(o.functions, draw("objective", k))
		for i := range t.Objectives {
			if i > 0 {
				o.further[k] = append(o.further[k], draw("objective "+t.Objectives[i].Name, k))
			}
		}
		for _, c := range t.Constraints {
			o.limits[k] = append(o.limits[k], draw(string(c.Output), k))
		}
	}
	return o, nil
}

// member returns the simulated member with function k and evaluation noise of this standard
// deviation.
func (o *objectives) member(k int, noise float64) sim.Member {
	sign, space := o.task.Goal.Sign(), o.task.Space
	m := sim.Member{Objective: func(d task.Design, trial uint64) float64 {
		value := o.functions[k].Value(space.Encode(d))
		if noise > 0 {
			value += noise * o.seed.Derive("noise", uint64(k)).Stream("trial", trial).NormFloat64()
		}
		return sign * value
	}}
	if o.task.Several() {
		m.Metrics = func(d task.Design, trial uint64) map[string]float64 {
			metrics := map[string]float64{}
			for i, goal := range o.task.Objectives[1:] {
				value := o.further[k][i].Value(space.Encode(d))
				if noise > 0 {
					value += noise * o.seed.Derive("noise "+goal.Name, uint64(k)).Stream("trial", trial).NormFloat64()
				}
				metrics[goal.Name] = goal.Goal.Sign() * value
			}
			return metrics
		}
	}
	if len(o.task.Constraints) > 0 {
		m.Constraints = func(d task.Design, _ uint64) map[string]task.Reading {
			readings := map[string]task.Reading{}
			for i, c := range o.task.Constraints {
				readings[string(c.Output)] = reading(c, o.limits[k][i].Value(space.Encode(d)))
			}
			return readings
		}
	}
	return m
}

// reading returns a reading that satisfies the constraint if value is above kept.
func reading(c task.Constraint, value float64) task.Reading {
	margin := value - kept
	switch {
	case c.Truth:
		return task.Truth(margin > 0)
	case math.IsInf(c.High, 1):
		return task.Number(c.Low + margin)
	case math.IsInf(c.Low, -1):
		return task.Number(c.High - margin)
	}
	return task.Number(c.High - margin*(c.High-c.Low)/4)
}
