package family

import (
	"errors"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/testfunc"
	"github.com/fbo-node/fbo/task"
)

// Values of the key grade.
const (
	noHeterogeneity     = "none"
	smallHeterogeneity  = "small"
	strongHeterogeneity = "strong"
)

// benchmark is a function of the experiments of GUIDE-FBO with the number by which they divide its
// values.
type benchmark struct {
	name string
	unit float64
	new  func(d int) testfunc.Function
}

// benchmarks returns the twelve functions of the experiments of GUIDE-FBO (arXiv 2609.35038).
func benchmarks() []benchmark {
	return []benchmark{
		{"ackley", 20, testfunc.Ackley},
		{"levy", 200, testfunc.Levy},
		{"griewank", 200, testfunc.Griewank},
		{"rastrigin", 200, testfunc.Rastrigin},
		{"rosenbrock", 5000, testfunc.Rosenbrock},
		{"sphere", 200, testfunc.Sphere},
		{"weierstrass", 50, testfunc.Weierstrass},
		{"ellipsoid", 2000, testfunc.Ellipsoid},
		{"zakharov", 1e7, testfunc.Zakharov},
		{"michalewicz", 10, testfunc.Michalewicz},
		{"powell", 5000, testfunc.Powell},
		{"styblinskitang", 400, testfunc.StyblinskiTang},
	}
}

func benchmarkNamed(name string) benchmark {
	for _, b := range benchmarks() {
		if b.name == name {
			return b
		}
	}
	panic("family: no function " + name) // unexpected: the key has checked it
}

// guideKind returns the federations of the experiments of GUIDE-FBO: member k has f(R_k(x − z_k)),
// where z_k is normal with the grade's shift times the range in each coordinate, and R_k is
// exp(rotation·(A − Aᵀ)) with a standard normal matrix A. Both act on the function's own coordinates. The members
// minimise, where the publication maximises the negative.
//
// The publication does not state the bounds of the functions; here they are those of package testfunc. It deals
// the starting designs of all members from one Latin hypercube, as experiment.Plan.Dealt does.
func guideKind() Kind {
	var names []string
	for _, b := range benchmarks() {
		names = append(names, b.name)
	}
	return Kind{
		Info: Info{
			Name:  "guide",
			About: "the functions of the experiments of GUIDE-FBO, shifted and rotated differently for every member, to be minimised",
			Keys: append([]Key{
				{Name: "function", Type: Choice, Default: "ackley", Choices: names, Meaning: "the function, divided by the number that the publication uses"},
				{Name: "grade", Type: Choice, Default: smallHeterogeneity, Choices: []string{noHeterogeneity, smallHeterogeneity, strongHeterogeneity},
					Meaning: "how much members differ: not; by shifts of .05 of the range and rotations of .1; by .3 and 1"},
				{Name: "moved", Type: Switch, Default: "false",
					Meaning: "the function itself is moved by up to a quarter of every range, for all members alike; else most optima are near the centre"},
				{Name: "d", Type: Whole, Default: "10", Low: 4, High: maxClassicDim, Meaning: "number of floats"},
				{Name: "noise", Type: Number, Default: "0.1", Low: 0, High: 10, Meaning: "standard deviation of the noise of the divided values"},
			}, compositionKeys()...),
		},
		Build: buildGuide,
	}
}

func buildGuide(v Values) (*task.Space, DrawFunc, error) {
	switch v.Choice(othersKey) {
	case deceptive, constant, noisy:
		return nil, nil, errors.New("key others: deceptive, constant and noise are stated in deviations, and guide has the publication's units")
	}
	b := benchmarkNamed(v.Choice("function"))
	g := guide{Function: b.new(v.Whole("d")), unit: b.unit, moved: v.Switch("moved")}
	switch v.Choice("grade") {
	case smallHeterogeneity:
		g.shift, g.rotation = 0.05, 0.1
	case strongHeterogeneity:
		g.shift, g.rotation = 0.3, 1
	}
	return build(v, g.Space, func(seed random.Seed) (source, error) {
		return source{space: g.Space, goal: task.Minimize, noise: v.Number("noise"), member: g.members(seed)}, nil
	})
}

// guide is a function with the sizes of the differences between members.
type guide struct {
	testfunc.Function
	unit            float64
	shift, rotation float64
	moved           bool
}

// members returns the field member of a source. Members of other clusters than the first have
// functions moved by up to a quarter of every range before that, as are those of the first if moved is set.
func (g guide) members(seed random.Seed) func(cluster, k int) function {
	return func(cluster, k int) function {
		f := g.Function
		if cluster > 0 || g.moved {
			f = testfunc.Shifted(f, seed.Stream("cluster shift", uint64(cluster)))
		}
		own := seed.Derive("own", uint64(k))
		m := g.rigid(own.Stream("shift", 0), own.Stream("rotation", 0))
		value := func(u []float64) float64 { return f.Value(m.forth(g.natural(u))) / g.unit }
		return function{value: value, optimum: func() float64 { return g.optimum(f, m, value, own.Derive("optimum", 0)) }}
	}
}

// natural returns the coordinates of an encoded design.
func (g guide) natural(u []float64) []float64 {
	x := make([]float64, len(u))
	for i, p := range g.Space.Parameters() {
		x[i] = p.Low + u[i]*(p.High-p.Low)
	}
	return x
}

// optimum returns the best value of a member. It is exact if a minimizer of the function stays inside
// the space, since no function is lower outside. Otherwise optimum searches for it.
func (g guide) optimum(f testfunc.Function, m rigidMotion, value func([]float64) float64, seed random.Seed) float64 {
	var near [][]float64
	for _, z := range f.Minimizers {
		u, inside := m.back(z), true
		for i, p := range g.Space.Parameters() {
			u[i] = (u[i] - p.Low) / (p.High - p.Low)
			inside = inside && u[i] >= 0 && u[i] <= 1
			u[i] = min(max(u[i], 0), 1)
		}
		if inside {
			return f.Optimum / g.unit
		}
		near = append(near, u)
	}
	negative := Differentiable(func(u []float64) float64 { return -value(u) })
	_, best := largest(g.Space, negative, near, seed)
	return -best
}

// rigidMotion maps x to R(x − z).
type rigidMotion struct {
	z []float64
	r *mat.Dense // orthogonal
}

func (g guide) rigid(shifts, rotations *rand.Rand) rigidMotion {
	d := g.Space.Len()
	m := rigidMotion{z: make([]float64, d), r: mat.NewDense(d, d, nil)}
	for i, p := range g.Space.Parameters() {
		m.z[i] = g.shift * (p.High - p.Low) * shifts.NormFloat64()
	}
	a := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			a.Set(i, j, g.rotation*rotations.NormFloat64())
		}
	}
	var skew mat.Dense
	skew.Sub(a, a.T())
	m.r.Exp(&skew)
	return m
}

// forth returns R(x − z).
func (m rigidMotion) forth(x []float64) []float64 {
	moved := mat.NewVecDense(len(x), nil)
	for i, v := range x {
		moved.SetVec(i, v-m.z[i])
	}
	var y mat.VecDense
	y.MulVec(m.r, moved)
	return y.RawVector().Data
}

// back returns the x that forth maps to y.
func (m rigidMotion) back(y []float64) []float64 {
	var x mat.VecDense
	x.MulVec(m.r.T(), mat.NewVecDense(len(y), y))
	for i, z := range m.z {
		x.SetVec(i, x.AtVec(i)+z)
	}
	return x.RawVector().Data
}
