package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/testfunc"
	"github.com/fbo-node/fbo/task"
)

// problem is a test function and the noise of its observations.
type problem struct {
	name     string
	function testfunc.Function
	noise    float64 // standard deviation
}

// problems lists all, in the order of the table.
func problems() []problem {
	return []problem{
		{"branin", testfunc.Branin(), 0},
		{"hartmann3", testfunc.Hartmann3(), 0},
		{"hartmann6", testfunc.Hartmann6(), 0},
		{"ackley5", testfunc.Ackley(5), 0},
		{"levy6", testfunc.Levy(6), 0},
		{"rosenbrock4", testfunc.Rosenbrock(4), 0},
		{"michalewicz5", testfunc.Michalewicz(5), 0},
		{"griewank5", testfunc.Griewank(5), 0},
		{"mixed", testfunc.Mixed(), 0},
		{"hartmann6-noisy", testfunc.Hartmann6(), 0.1},
	}
}

// largeProblems lists those of ten and twenty floats, which take long and run only if named.
func largeProblems() (all []problem) {
	for _, d := range []int{10, 20} {
		for _, f := range []testfunc.Function{
			testfunc.Ackley(d), testfunc.Levy(d), testfunc.Rosenbrock(d),
			testfunc.Michalewicz(d), testfunc.StyblinskiTang(d), testfunc.Embedded(testfunc.Hartmann6(), d),
		} {
			all = append(all, problem{f.Name, f, 0})
		}
	}
	return all
}

func problemNamed(name string) (problem, error) {
	var names []string
	for _, p := range slices.Concat(problems(), largeProblems()) {
		if p.name == name {
			return p, nil
		}
		names = append(names, p.name)
	}
	return problem{}, fmt.Errorf("function %q is not known; accepted: %v", name, names)
}

// shifted is the function as all methods meet it with this seed.
func (p problem) shifted(seed random.Seed) testfunc.Function {
	return testfunc.Shifted(p.function, seed.Stream("shift", 0))
}

// observer measures designs for a method and keeps the regret.
type observer struct {
	quiet, noisy testfunc.Function
	best         float64 // least observed value
	incumbent    float64 // noise-free value there
	regret       []float64
}

func newObserver(p problem, seed random.Seed) *observer {
	quiet := p.shifted(seed)
	return &observer{
		quiet: quiet,
		noisy: testfunc.Noisy(quiet, p.noise, seed.Stream("noise", 0)),
		best:  math.Inf(1),
	}
}

// observe evaluates a design.
func (o *observer) observe(design task.Design) float64 {
	value := o.noisy.At(design)
	if value < o.best {
		o.best, o.incumbent = value, o.quiet.At(design)
	}
	// Rounding may put a value at the optimum a hair below it.
	o.regret = append(o.regret, max(0, o.incumbent-o.quiet.Optimum))
	return value
}
