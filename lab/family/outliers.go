package family

import (
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// lie is the amount, in standard deviations of the objective, by which false values are better than
// the mean.
const lie = 3.0

// odds makes the members that are not honest, in federations in which others is not similar.
type odds struct {
	source
	seed   random.Seed
	victim function  // function of the honest member
	peak   []float64 // place of the false optimum; nil until a deceptive member is made
}

// member returns member k, which has index place, from 0, among the members that are not honest.
func (o *odds) member(others string, k, place int) Member {
	same := func() function { return o.source.member(0, k) }
	switch others {
	case dissimilar:
		return o.playing(o.source.member(1+k, k), Member{Cluster: 1 + k})
	case halfNegated:
		if place%2 == 1 {
			return o.playing(same(), Member{})
		}
		return o.playing(negative(same()), Member{Cluster: 1})
	case negated:
		return o.playing(negative(same()), Member{Cluster: 1})
	case deceptive:
		return o.playing(o.withPeak(same()), Member{Cluster: 1})
	case constant:
		return o.playing(o.flat(), Member{Cluster: 1})
	case noisy:
		return o.random(k)
	case forged:
		return o.playing(same(), Member{Forged: true})
	}
	panic("family: others are " + others)
}

// better returns the sign of an improvement.
func (o *odds) better() float64 {
	if o.goal == task.Minimize {
		return -1
	}
	return 1
}

func negative(g function) function {
	minus := func(f func([]float64) float64) func([]float64) float64 {
		return func(u []float64) float64 { return -f(u) }
	}
	n := function{value: minus(g.value)}
	for _, limit := range g.limits {
		n.limits = append(n.limits, minus(limit))
	}
	return n
}

// flat returns a constant function that satisfies all constraints.
func (o *odds) flat() function {
	always := func(value float64) func([]float64) float64 { return func([]float64) float64 { return value } }
	g := function{value: always(o.better() * lie)}
	for range o.constraints {
		g.limits = append(g.limits, always(-lie))
	}
	return g
}

// random returns a member whose values do not depend on its design smoothly: each design has its
// own standard normal number.
func (o *odds) random(k int) Member {
	seed := o.seed.Derive("noise", uint64(k))
	m := Member{Cluster: 1 + k, Objective: Objective{
		Value:   func(d task.Design) float64 { return seed.Stream(d.Key(), 0).NormFloat64() },
		Optimum: math.NaN(),
	}}
	for i := range o.constraints {
		limit := seed.Derive("constraint", uint64(i))
		m.Constraints = append(m.Constraints, Measure{
			Value: func(d task.Design) float64 { return limit.Stream(d.Key(), 0).NormFloat64() },
		})
		m.Objective.Range = math.NaN()
	}
	return m
}

// withPeak adds a false optimum to the function of a deceptive member, where the honest member's
// function is worse than at most designs. There the constraints are lowered by as much.
func (o *odds) withPeak(g function) function {
	if o.peak == nil {
		o.choosePeak()
	}
	width := 0.1 * math.Sqrt(float64(o.space.Dim()))
	bell := func(u []float64) float64 {
		square := 0.0
		for i, v := range u {
			square += (v - o.peak[i]) * (v - o.peak[i])
		}
		return lie * math.Exp(-square/(2*width*width))
	}
	raised := function{value: func(u []float64) float64 { return g.value(u) + o.better()*bell(u) }}
	for _, limit := range g.limits {
		raised.limits = append(raised.limits, func(u []float64) float64 { return limit(u) - bell(u) })
	}
	return raised
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
	for range 1000 { // one draw would suffice, except for functions that are flat
		u, value := draw()
		if o.peak = u; value < values[points/2] {
			return
		}
	}
}
