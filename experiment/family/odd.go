package family

import (
	"math"
	"slices"

	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/task"
)

// lie is by how many standard deviations of the objective lies are better than
// what is common.
const lie = 3.0

// odds makes the members of an odd company.
type odds struct {
	source
	seed   random.Seed
	victim function  // of the honest member
	peak   []float64 // nil until somebody lies
}

// member returns member k, who is at a place, from 0, among the others.
func (o *odds) member(others string, k, place int) Member {
	same := func() function { return o.source.member(0, k) }
	switch others {
	case unlike:
		return Member{Objective: o.objective(o.source.member(1+k, k)), Cluster: 1 + k}
	case halfNegated:
		if place%2 == 1 {
			return Member{Objective: o.objective(same())}
		}
		return Member{Objective: o.objective(negative(same())), Cluster: 1}
	case negated:
		return Member{Objective: o.objective(negative(same())), Cluster: 1}
	case lying:
		return Member{Objective: o.objective(o.withPeak(same())), Cluster: 1}
	case constant:
		return Member{Objective: o.objective(function{value: func([]float64) float64 { return o.better() * lie }}), Cluster: 1}
	case noisy:
		return Member{Objective: o.random(k), Cluster: 1 + k}
	case forged:
		return Member{Objective: o.objective(same()), Forged: true}
	}
	panic("family: others are " + others)
}

// better is the sign of an improvement.
func (o *odds) better() float64 {
	if o.goal == task.Minimize {
		return -1
	}
	return 1
}

func negative(g function) function {
	return function{value: func(u []float64) float64 { return -g.value(u) }}
}

// random is no function of the design but a normal number for each.
func (o *odds) random(k int) Objective {
	seed := o.seed.Derive("noise", uint64(k))
	return Objective{
		Value:   func(d task.Design) float64 { return seed.Stream(d.Key(), 0).NormFloat64() },
		Optimum: math.NaN(),
	}
}

// withPeak adds what looks like an optimum to those who share in the lie, where
// the honest member's function is worse than at most designs.
func (o *odds) withPeak(g function) function {
	if o.peak == nil {
		o.choosePeak()
	}
	width := 0.1 * math.Sqrt(float64(o.space.Dim()))
	height := o.better() * lie
	return function{value: func(u []float64) float64 {
		square := 0.0
		for i, v := range u {
			square += (v - o.peak[i]) * (v - o.peak[i])
		}
		return g.value(u) + height*math.Exp(-square/(2*width*width))
	}}
}

func (o *odds) choosePeak() {
	const points = 501
	rng := o.seed.Stream("peak", 0)
	draw := func() ([]float64, float64) {
		u := make([]float64, o.space.Dim())
		for i := range u {
			u[i] = rng.Float64()
		}
		return u, o.better() * o.victim.value(u)
	}
	values := make([]float64, points)
	for i := range values {
		_, values[i] = draw()
	}
	slices.Sort(values)
	for range 1000 { // one would do but for functions that are flat
		u, value := draw()
		if o.peak = u; value < values[points/2] {
			return
		}
	}
}
