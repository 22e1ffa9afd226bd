package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fbo-node/fbo/lab/testfunc"
	"github.com/fbo-node/fbo/task"
)

// row is an objective, and what goes wrong with it.
type row struct {
	name  string // GROUP/NAME
	space *task.Space
	evals int // attempts, failed ones included

	// value is the regret at a point: one natural coordinate per parameter, of a
	// categorical the index of the choice.
	value func(x []float64) float64

	// observe returns what the k-th evaluation, from 1, reports; nil reports the value.
	observe func(k int, value float64, rng *rand.Rand) float64

	// fails reports whether an evaluation has no outcome; nil: it always has one.
	fails func(x []float64, rng *rand.Rand) bool

	plateau float64 // value of the flat part; 0: there is none
	clean   string  // row with the same objective and no outlier
	outcome int     // outcomes that a node's run of this row has to reach; 0: no such run
	gp      bool    // one of the twelve objectives of Optuna's GPSampler
}

// groups of rows, by the first part of their names.
const (
	flat      = "flat"
	huge      = "huge"
	outliers  = "outliers"
	failure   = "failure"
	penalty   = "penalty"
	noisy     = "noise"
	valley    = "valley"
	objective = "objective"
)

// rows lists all, in the order of the table.
func rows() []row {
	var all []row
	for _, group := range [][]row{flatRows(), hugeRows(), failureRows(), penaltyRows(), {
		{name: noisy + "/quadratic", space: box(2, 0, 1), evals: 60, value: quadratic, observe: normalNoise(0.5)},
		{name: valley + "/rosenbrock2", space: box(2, -2, 2), evals: 50, value: testfunc.Rosenbrock(2).Value},
	}, objectives()} {
		all = append(all, group...)
	}
	return all
}

// flatRows are plateaus with a region that differs. The centre of the space is in it in
// some of them only.
func flatRows() []row {
	bump := func(radius float64, centre ...float64) row {
		return row{
			space: box(len(centre), 0, 1), evals: 40, plateau: 1,
			value:   func(x []float64) float64 { return min(math.Sqrt(squares(x, centre...))/radius, 1) },
			observe: func(_ int, value float64, _ *rand.Rand) float64 { return value - 1 },
		}
	}
	named := func(name string, r row) row {
		r.name = flat + "/" + name
		return r
	}
	constant := bump(0.25, 0.35, 0.6)
	constant.observe = func(_ int, value float64, _ *rand.Rand) float64 { return 1e15 * value }
	return []row{
		named("bump2-r.25", bump(0.25, 0.5, 0.5)),
		named("bump2-r.15", bump(0.15, 0.5, 0.5)),
		named("bump3-r.35", bump(0.35, 0.5, 0.5, 0.5)),
		named("bump2-r.25-aside", bump(0.25, 0.3, 0.65)),
		named("bump2-r.15-aside", bump(0.15, 0.7, 0.35)),
		named("bump3-r.35-aside", bump(0.35, 0.3, 0.6, 0.35)),
		named("bump2-of-1e15", constant),
		{
			name: flat + "/accuracy", evals: 40, plateau: 0.85,
			space: space(
				task.Parameter{Name: "rate", Kind: task.Float, Low: 1e-6, High: 1, Scale: task.Log},
				task.Parameter{Name: "momentum", Kind: task.Float, Low: 0, High: 1},
				task.Parameter{Name: "layers", Kind: task.Int, Low: 1, High: 8},
			),
			// The accuracy is 0.1 unless the rate is within a factor of ten of 2e-4, and
			// at most 0.95.
			value: func(x []float64) float64 {
				off := math.Abs(math.Log10(x[0] / 2e-4))
				if off >= 1 {
					return 0.85
				}
				return 0.85 - 0.85*(1-off)*(1-0.3*(x[1]-0.8)*(x[1]-0.8))*(1-0.03*math.Abs(x[2]-4))
			},
			observe: func(_ int, value float64, _ *rand.Rand) float64 { return value - 0.95 },
		},
		{
			// A reward of some steps, of which almost all are 0.
			name: flat + "/steps", space: box(2, 0, 1), evals: 40, plateau: 1,
			value: func(x []float64) float64 {
				return math.Ceil(4*min(math.Sqrt(squares(x, 0.65, 0.7))/0.25, 1)) / 4
			},
			observe: func(_ int, value float64, _ *rand.Rand) float64 { return value - 1 },
		},
	}
}

// hugeRows have evaluations that report far too much.
func hugeRows() []row {
	const clean = huge + "/none"
	all := []row{{name: clean, space: box(2, 0, 1), evals: 50, value: quadratic}}
	for _, size := range []float64{1e6, 1e12, 1e100, 1e300} {
		all = append(all, row{
			name: fmt.Sprintf("%s/second-is-%.0e", huge, size), space: box(2, 0, 1), evals: 50, value: quadratic, clean: clean,
			observe: second(size),
		})
	}
	const cleanBranin = huge + "/branin-none"
	return append(all,
		row{name: cleanBranin, space: testfunc.Branin().Space, evals: 50, value: branin},
		row{name: huge + "/branin-second-is-1e+12", space: testfunc.Branin().Space, evals: 50, value: branin, clean: cleanBranin, observe: second(1e12)},
		row{name: outliers + "/branin-10%-1e+06", space: testfunc.Branin().Space, evals: 50, value: branin, clean: cleanBranin, observe: outlier(0.1, 1e6)},
		row{name: outliers + "/quadratic-15%-50", space: box(2, 0, 1), evals: 50, value: quadratic, clean: clean, observe: outlier(0.15, 50)},
	)
}

// second makes the second evaluation report this, as a diverged loss.
func second(size float64) func(int, float64, *rand.Rand) float64 {
	return func(k int, value float64, _ *rand.Rand) float64 {
		if k == 2 {
			return size
		}
		return value
	}
}

// outlier makes each evaluation report this with a probability.
func outlier(probability, size float64) func(int, float64, *rand.Rand) float64 {
	return func(_ int, value float64, rng *rand.Rand) float64 {
		if rng.Float64() < probability {
			return size
		}
		return value
	}
}

func normalNoise(deviation float64) func(int, float64, *rand.Rand) float64 {
	return func(_ int, value float64, rng *rand.Rand) float64 { return value + deviation*rng.NormFloat64() }
}

// failureRows have parts of the space that fail, and objectives that are best at their
// borders or near them, but for the rows choice and machines.
func failureRows() []row {
	beyond := func(border float64) row {
		return row{
			space: box(2, 0, 1), evals: 60, outcome: 30,
			value: func(x []float64) float64 { return x[0]*x[0] - border*border + (x[1]-0.3)*(x[1]-0.3) },
			fails: func(x []float64, _ *rand.Rand) bool { return x[0] < border },
		}
	}
	half, edge := beyond(0.4), beyond(0.1)
	half.name, edge.name = failure+"/half-plane", failure+"/edge"
	return []row{half, edge, {
		// The memory that a batch takes grows with the width of the network.
		name: failure + "/memory", evals: 30, outcome: 10,
		space: space(
			task.Parameter{Name: "batch", Kind: task.Int, Low: 8, High: 1024, Scale: task.Log},
			task.Parameter{Name: "width", Kind: task.Int, Low: 16, High: 4096, Scale: task.Log},
			task.Parameter{Name: "rate", Kind: task.Float, Low: 1e-5, High: 1e-1, Scale: task.Log},
		),
		value: func(x []float64) float64 {
			off := math.Log10(x[2] / 3e-3)
			return 10 - (0.4*math.Log2(x[0]/8) + 0.6*math.Log2(x[1]/16)) + off*off - 6.4
		},
		fails: func(x []float64, _ *rand.Rand) bool { return x[0]*x[1] > 8192 },
	}, {
		name: failure + "/choice", evals: 60, outcome: 30,
		space: space(
			task.Parameter{Name: "solver", Kind: task.Categorical, Choices: []string{"a", "b", "c", "d"}},
			task.Parameter{Name: "x", Kind: task.Float, Low: 0, High: 1},
			task.Parameter{Name: "y", Kind: task.Float, Low: 0, High: 1},
		),
		value: func(x []float64) float64 { return []float64{0.3, 0, 0.1, 0.2}[int(x[0])] + quadratic(x[1:]) },
		fails: func(x []float64, _ *rand.Rand) bool { return x[0] == 2 },
	}, {
		name: failure + "/machines-30%", evals: 60, outcome: 30, space: box(2, 0, 1), value: quadratic,
		fails: func(_ []float64, rng *rand.Rand) bool { return rng.Float64() < 0.3 },
	}, {
		name: failure + "/machines-60%", evals: 60, outcome: 30, space: box(2, 0, 1), value: quadratic,
		fails: func(_ []float64, rng *rand.Rand) bool { return rng.Float64() < 0.6 },
	},
		part("corner", []float64{0.8, 0.75}, 0.0025, func(x []float64) bool { return x[0] > 0.7 && x[1] > 0.7 }),
		part("disc", []float64{0.3, 0.7}, 0, func(x []float64) bool { return squares(x, 0.5, 0.5) < 0.25*0.25 }),
		part("half-line", []float64{0}, 0.16, func(x []float64) bool { return x[0] < 0.4 }),
		part("half-space6", []float64{0, 0.3, 0.7, 0.6, 0.2, 0.8}, 0.16, func(x []float64) bool { return x[0] < 0.4 }),
	}
}

// part has a part of the unit cube that fails, and squared distances to a place, of which the
// least outside of that part is given.
func part(name string, place []float64, least float64, failing func(x []float64) bool) row {
	return row{
		name: failure + "/" + name, space: box(len(place), 0, 1), evals: 60, outcome: 30,
		value: func(x []float64) float64 { return squares(x, place...) - least },
		fails: func(x []float64, _ *rand.Rand) bool { return failing(x) },
	}
}

// penaltyRows have a finite penalty beyond a border on which the optimum lies.
func penaltyRows() []row {
	var all []row
	for _, p := range []float64{10, 100, 1e4} {
		all = append(all, cliff(fmt.Sprintf("%s/%g", penalty, p), p, 40))
	}
	return all
}

func cliff(name string, penalty float64, evals int) row {
	return row{name: name, space: box(2, 0, 1), evals: evals, value: func(x []float64) float64 {
		if x[0]+x[1] > 1.1 {
			return penalty
		}
		return 1.1 - x[0] - x[1] + (x[0]-0.8)*(x[0]-0.8)
	}}
}

// squares returns the square of the distance.
func squares(x []float64, centre ...float64) float64 {
	sum := 0.0
	for i, c := range centre {
		sum += (x[i] - c) * (x[i] - c)
	}
	return sum
}

func quadratic(x []float64) float64 { return squares(x, 0.3, 0.7) }

func branin(x []float64) float64 {
	f := testfunc.Branin()
	return f.Value(x) - f.Optimum
}

func space(parameters ...task.Parameter) *task.Space {
	s, err := task.NewSpace(parameters)
	if err != nil {
		panic(err) // a mistake in this file
	}
	return s
}

// box has d floats between two bounds.
func box(d int, low, high float64) *task.Space { return space(floats(d, low, high)...) }

func floats(d int, low, high float64) []task.Parameter {
	var all []task.Parameter
	for i := range d {
		all = append(all, task.Parameter{Name: fmt.Sprintf("x%d", i+1), Kind: task.Float, Low: low, High: high})
	}
	return all
}
