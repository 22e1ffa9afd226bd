package family

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/testfunc"
	"github.com/fbo-node/fbo/task"
)

// Values of the key units.
const (
	unitsKey     = "units"
	inDeviations = "deviation"
	inOwn        = "own"
)

// maxClassicDim is the largest number of floats for functions that are defined for any number.
const maxClassicDim = 20

func classicKinds() []Kind {
	var all []Kind
	for _, n := range testfunc.All() {
		all = append(all, base{n}.kind())
	}
	return all
}

// base is a test function from which families are made.
type base struct{ testfunc.Named }

func (b base) kind() Kind {
	var keys []Key
	if b.Usual > 0 {
		keys = append(keys, Key{Name: "d", Type: Whole, Default: fmt.Sprint(b.Usual), Low: float64(b.Least), High: maxClassicDim, Meaning: "number of floats"})
	}
	keys = append(keys,
		Key{Name: unitsKey, Type: Choice, Default: inDeviations, Choices: []string{inDeviations, inOwn},
			Meaning: "the unit of values: the standard deviation of the published function over its space, or the function's own"},
		Key{Name: "shift", Type: Number, Default: "0.05", Low: 0, High: 0.5,
			Meaning: "each member's function is moved by up to this part of every range, along ints by whole numbers"},
		Key{Name: "scale", Type: Number, Default: "0", Low: 0, High: 0.99, Meaning: "and multiplied by a number within this of 1"},
		Key{Name: "offset", Type: Number, Default: "0", Low: 0, High: 100,
			Meaning: "standard deviation of a number added to it, where the unit of values is 1"},
		Key{Name: "rotate", Type: Number, Default: "0", Low: 0, High: 180,
			Meaning: "degrees up to which floats of the cube, paired at random, are turned about the centre"},
		Key{Name: "warp", Type: Number, Default: "0", Low: 0, High: 1,
			Meaning: "standard deviation of the logarithm of the power to which each float of the cube is raised"},
		noiseKey("the unit of values"),
	)
	return Kind{
		Info: Info{
			Name:  b.Name,
			About: b.About + ", moved a little for every member, to be minimised",
			Keys:  append(keys, compositionKeys()...),
		},
		Build: b.build,
	}
}

func (b base) build(v Values) (*task.Space, DrawFunc, error) {
	d := 0
	if b.Usual > 0 {
		d = v.Whole("d")
	}
	f := b.New(d)
	unit := f.Deviation
	if v.Choice(unitsKey) == inOwn {
		switch others := v.Choice(othersKey); others {
		case deceptive, constant, noisy:
			return nil, nil, fmt.Errorf("keys %s=%s and %s=%s: what such members say is stated in deviations; accepted: %s=%s", unitsKey, inOwn, othersKey, others, unitsKey, inDeviations)
		}
		unit = 1
	}
	c := classic{
		Function:   f,
		unit:       unit,
		parameters: f.Space.Parameters(),
		blocks:     f.Space.Blocks(),
		amounts:    amounts{shift: v.Number("shift"), turn: v.Number("rotate") * math.Pi / 180, warp: v.Number("warp")},
		scale:      v.Number("scale"),
		offset:     v.Number("offset"),
	}
	for i, block := range c.blocks {
		switch block.Kind {
		case task.Float:
			c.floats = append(c.floats, i)
		case task.Int:
			c.ints = append(c.ints, i)
		}
	}
	if c.turn > 0 && len(c.floats) < 2 {
		return nil, nil, errors.New("key rotate: there is one float only; accepted: 0")
	}
	return build(v, f.Space, func(seed random.Seed) (source, error) {
		return source{space: f.Space, goal: task.Minimize, noise: v.Number("noise"), member: c.members(seed)}, nil
	})
}

// classic is a test function with the settings by which members differ.
type classic struct {
	testfunc.Function
	unit         float64 // unit in which values are returned, in the function's own units
	parameters   []task.Parameter
	blocks       []task.Block // of the encoded space
	floats, ints []int        // indices of the float and the int parameters
	amounts
	scale, offset float64
}

// members returns the field member of a source. The first cluster has the published function. In
// other clusters the function is shifted by up to a quarter of every range, the choices are
// permuted, and the floats are permuted and partly mirrored.
func (c classic) members(seed random.Seed) func(cluster, k int) function {
	return func(cluster, k int) function {
		f := c.Function
		m := movement{still(len(c.floats)), make([]float64, len(c.ints))}
		if cluster > 0 {
			f = testfunc.Shifted(f, seed.Stream("cluster shift", uint64(cluster)))
			m.mix(seed.Stream("cluster mix", uint64(cluster)))
		}
		own := seed.Derive("own", uint64(k))
		if c.turn > 0 {
			m.turns = make([]turn, len(c.floats)/2)
		}
		m.move(c.amounts, own.Stream("shift", 0), own.Stream("turn", 0), own.Stream("warp", 0))
		steps := own.Stream("steps", 0)
		for n, i := range c.ints {
			m.steps[n] = math.Round(c.shift * (2*steps.Float64() - 1) * (c.parameters[i].High - c.parameters[i].Low))
		}
		scale := 1 + c.scale*(2*own.Stream("scale", 0).Float64()-1)
		offset := c.offset * own.Stream("offset", 0).NormFloat64()
		outer := func(value float64) float64 { return scale*value/c.unit + offset }
		g := function{value: func(u []float64) float64 { return outer(f.Value(c.lookedUp(m, u))) }}
		g.optimum = func() float64 { return c.optimum(f, m, outer, g.value, own.Derive("optimum", 0)) }
		return g
	}
}

// movement is the map that a member applies to a design before it evaluates the function.
type movement struct {
	motion           // of the floats
	steps  []float64 // whole numbers by which the function is shifted along each int
}

// lookedUp returns the point, in natural coordinates, at which the function is evaluated for the
// encoded design u. It does not change choices.
func (c classic) lookedUp(m movement, u []float64) []float64 {
	x, floats := make([]float64, len(c.parameters)), make([]float64, len(c.floats))
	for n, i := range c.floats {
		floats[n] = u[c.blocks[i].Start]
	}
	for n, z := range m.forth(floats) {
		p := &c.parameters[c.floats[n]]
		x[c.floats[n]] = p.Low + z*(p.High-p.Low)
	}
	for n, i := range c.ints {
		x[i] = c.parameters[i].Low + float64(c.Space.Number(i, u[c.blocks[i].Start])) - m.steps[n]
	}
	for i, block := range c.blocks {
		if block.Kind == task.Categorical {
			part := u[block.Start : block.Start+block.Len]
			x[i] = float64(slices.Index(part, slices.Max(part)))
		}
	}
	return x
}

// reached returns the encoded design u for which the function is evaluated at x, in natural
// coordinates. inside is false if there is no such u in the space; u is then a point near it.
func (c classic) reached(m movement, x []float64) (u []float64, inside bool) {
	u = make([]float64, c.Space.Dim())
	z := make([]float64, len(c.floats))
	for n, i := range c.floats {
		p := &c.parameters[i]
		z[n] = (x[i] - p.Low) / (p.High - p.Low)
	}
	floats, inside := m.back(z)
	for n, i := range c.floats {
		u[c.blocks[i].Start] = floats[n]
	}
	for n, i := range c.ints {
		p := &c.parameters[i]
		v := x[i] + m.steps[n]
		inside = inside && v >= p.Low && v <= p.High
		u[c.blocks[i].Start] = c.Space.Place(i, int64(min(max(v, p.Low), p.High)-p.Low))
	}
	for i, block := range c.blocks {
		if block.Kind == task.Categorical {
			u[block.Start+int(x[i])] = 1
		}
	}
	return u, inside
}

// optimum returns the best value of a member. If a minimizer of f is still inside the space, this
// value is exact, because f is nowhere lower. Otherwise optimum searches for it.
func (c classic) optimum(f testfunc.Function, m movement, outer func(float64) float64, value func([]float64) float64, seed random.Seed) float64 {
	var near [][]float64
	for _, x := range f.Minimizers {
		u, inside := c.reached(m, x)
		if inside {
			return outer(f.Optimum)
		}
		near = append(near, u)
	}
	negative := Differentiable(func(u []float64) float64 { return -value(u) })
	_, best := largest(c.Space, negative, near, seed)
	return -best
}
