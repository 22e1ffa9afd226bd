package family

import (
	"errors"
	"fmt"
	"math"

	"github.com/fbo-node/fbo/experiment/testfunc"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/task"
)

// base is a test function that families are made of.
type base struct {
	name, about string
	defaultDim  int // 0 when there is no choice
	function    func(d int) testfunc.Function
	deviation   func(d int) float64 // over the space
}

func bases() []base {
	fixed := func(f func() testfunc.Function) func(int) testfunc.Function {
		return func(int) testfunc.Function { return f() }
	}
	always := func(deviation float64) func(int) float64 { return func(int) float64 { return deviation } }
	return []base{
		{"branin", "Branin's function of two floats", 0, fixed(testfunc.Branin), always(braninDeviation)},
		{"hartmann3", "Hartmann's function of three floats", 0, fixed(testfunc.Hartmann3), always(hartmann3Deviation)},
		{"hartmann6", "Hartmann's function of six floats", 0, fixed(testfunc.Hartmann6), always(hartmann6Deviation)},
		{"shekel4", "Shekel's function of four floats with ten wells", 0, fixed(tenWells), always(shekel4Deviation)},
		{"ackley", "Ackley's rippled plain with a hole", 5, testfunc.Ackley, ackleyDeviation},
		{"levy", "Levy's function of many minima", 5, testfunc.Levy, levyDeviation},
	}
}

func tenWells() testfunc.Function { return testfunc.Shekel4(10) }

func classicKinds() []Kind {
	var all []Kind
	for _, b := range bases() {
		all = append(all, b.kind())
	}
	return all
}

func (b base) kind() Kind {
	var keys []Key
	if b.defaultDim > 0 {
		keys = append(keys, Key{Name: "d", Type: Whole, Default: fmt.Sprint(b.defaultDim), Low: 1, High: maxClassicDim, Meaning: "number of floats"})
	}
	keys = append(keys,
		Key{Name: "shift", Type: Number, Default: "0.05", Low: 0, High: 0.5,
			Meaning: "each member's function is moved by up to this part of every range"},
		Key{Name: "scale", Type: Number, Default: "0", Low: 0, High: 0.99, Meaning: "and multiplied by a number within this of 1"},
		Key{Name: "offset", Type: Number, Default: "0", Low: 0, High: 100,
			Meaning: "standard deviation of a number added to it, where that of the published function over its space is 1"},
		Key{Name: "rotate", Type: Number, Default: "0", Low: 0, High: 180,
			Meaning: "degrees up to which coordinates of the cube, paired at random, are turned about the centre"},
		Key{Name: "warp", Type: Number, Default: "0", Low: 0, High: 1,
			Meaning: "standard deviation of the logarithm of the power to which each coordinate of the cube is raised"},
		noiseKey("that of the published function over its space"),
	)
	return Kind{
		Info: Info{
			Name:  b.name,
			About: b.about + ", moved a little for every member, to be minimised",
			Keys:  append(keys, companyKeys()...),
		},
		Build: b.build,
	}
}

func (b base) build(v Values) (*task.Space, DrawFunc, error) {
	d := 0
	if b.defaultDim > 0 {
		d = v.Whole("d")
	}
	f := b.function(d)
	c := classic{
		Function:  f,
		deviation: b.deviation(d),
		low:       make([]float64, f.Space.Len()),
		width:     make([]float64, f.Space.Len()),
		amounts:   amounts{shift: v.Number("shift"), turn: v.Number("rotate") * math.Pi / 180, warp: v.Number("warp")},
		scale:     v.Number("scale"),
		offset:    v.Number("offset"),
	}
	if c.turn > 0 && f.Space.Len() < 2 {
		return nil, nil, errors.New("key rotate: there is one coordinate only; accepted: 0")
	}
	for i, p := range f.Space.Parameters() {
		c.low[i], c.width[i] = p.Low, p.High-p.Low
	}
	return build(v, f.Space, func(seed random.Seed) (source, error) {
		return source{space: f.Space, goal: task.Minimize, noise: v.Number("noise"), member: c.members(seed)}, nil
	})
}

// classic is a test function with what its members differ in.
type classic struct {
	testfunc.Function
	deviation  float64
	low, width []float64 // of the space
	amounts
	scale, offset float64
}

// members returns the member of a source. The first cluster has the function as
// it was published. Others have it moved by up to a quarter of every range, with
// its coordinates in another order, some of them mirrored.
func (c classic) members(seed random.Seed) func(cluster, k int) function {
	return func(cluster, k int) function {
		f, m := c.Function, still(len(c.low))
		if cluster > 0 {
			f = testfunc.Shifted(f, seed.Stream("cluster shift", uint64(cluster)))
			m.mix(seed.Stream("cluster mix", uint64(cluster)))
		}
		own := seed.Derive("own", uint64(k))
		if c.turn > 0 {
			m.turns = make([]turn, len(c.low)/2)
		}
		m.move(c.amounts, own.Stream("shift", 0), own.Stream("turn", 0), own.Stream("warp", 0))
		scale := 1 + c.scale*(2*own.Stream("scale", 0).Float64()-1)
		offset := c.offset * own.Stream("offset", 0).NormFloat64()
		outer := func(value float64) float64 { return scale*value/c.deviation + offset }
		g := function{value: func(u []float64) float64 { return outer(f.Value(c.point(m.forth(u)))) }}
		g.optimum = func() float64 { return c.optimum(f, m, outer, g.value, own.Derive("optimum", 0)) }
		return g
	}
}

// point returns natural coordinates of a point of the cube, which it overwrites.
func (c classic) point(z []float64) []float64 {
	for i := range z {
		z[i] = c.low[i] + z[i]*c.width[i]
	}
	return z
}

// optimum is exact when a minimizer of f is still in the space, since nothing is
// lower anywhere. Otherwise it is searched.
func (c classic) optimum(f testfunc.Function, m motion, outer func(float64) float64, value func([]float64) float64, seed random.Seed) float64 {
	var near [][]float64
	for _, x := range f.Minimizers {
		z := make([]float64, len(x))
		for i := range x {
			z[i] = (x[i] - c.low[i]) / c.width[i]
		}
		u, inside := m.back(z)
		if inside {
			return outer(f.Optimum)
		}
		near = append(near, u)
	}
	negative := differentiable(func(u []float64) float64 { return -value(u) })
	_, best := largest(c.Space, negative, near, seed)
	return -best
}
