package main

import (
	"math"
	"math/rand/v2"

	"github.com/fbo-node/fbo/lab/testfunc"
	"github.com/fbo-node/fbo/task"
)

// objectives are 26 of different kinds. The optimum is 0 in all; it lies in the centre or a
// corner of the space only in those whose names state it.
func objectives() []row {
	braninSpace := testfunc.Branin().Space
	scaled := func(scale, offset float64) func(int, float64, *rand.Rand) float64 {
		return func(_ int, value float64, _ *rand.Rand) float64 { return scale*value + offset }
	}
	hartmann := testfunc.Hartmann6()
	all := []row{
		{name: "rosenbrock2", space: box(2, -2, 2), evals: 50, value: testfunc.Rosenbrock(2).Value, gp: true},
		{name: "rosenbrock5", space: box(5, -2, 2), evals: 80, value: testfunc.Rosenbrock(5).Value},
		{name: "needle", space: box(2, 0, 1), evals: 60, gp: true, value: func(x []float64) float64 {
			return 1 - 1/(1+squares(x, 0.63, 0.37)/(0.04*0.04))
		}},
		{name: "steps3", space: box(3, 0, 1), evals: 50, gp: true, value: func(x []float64) float64 {
			sum := 0.0
			for i, c := range []float64{3, 8, 5} {
				sum += math.Abs(math.Floor(12*x[i]) - c)
			}
			return sum
		}},
		{name: "sphere20", space: box(20, 0, 1), evals: 100, value: func(x []float64) float64 { return squares(x, spread(20)...) }},
		{name: "fifty-of-which-5-count", space: box(50, 0, 1), evals: 70, value: func(x []float64) float64 { return squares(x, spread(5)...) }},
		{
			name: "choices30", evals: 60, gp: true, value: choiceOf30,
			space: space(append(floats(2, 0, 1), task.Parameter{Name: "c", Kind: task.Categorical, Choices: thirty()})...),
		},
		{name: "branin", space: braninSpace, evals: 40, value: branin, gp: true},
		{name: "branin-times-1e12", space: braninSpace, evals: 40, value: branin, observe: scaled(1e12, 0)},
		{name: "branin-times-1e-12", space: braninSpace, evals: 40, value: branin, observe: scaled(1e-12, 0)},
		{name: "branin-plus-1e9", space: braninSpace, evals: 40, value: branin, observe: scaled(1, 1e9)},
		{name: "noise.5", space: box(2, 0, 1), evals: 60, value: quadratic, observe: normalNoise(0.5), gp: true},
		{name: "corner5", space: box(5, 0, 1), evals: 40, value: func(x []float64) float64 {
			sum := 0.0
			for _, v := range x {
				sum += v
			}
			return sum
		}},
		{name: "centre5", space: box(5, 0, 1), evals: 50, value: func(x []float64) float64 { return squares(x, 0.5, 0.5, 0.5, 0.5, 0.5) }},
		{name: "rastrigin2", space: box(2, -5.12, 5.12), evals: 60, gp: true, value: func(x []float64) float64 {
			sum := 0.0
			for i, c := range []float64{1.3, -0.8} {
				v := x[i] - c
				sum += v*v - 10*math.Cos(2*math.Pi*v) + 10
			}
			return sum
		}},
		{name: "periodic1", space: box(1, 0, 1), evals: 40, value: func(x []float64) float64 {
			v := x[0] - 0.37
			return 1 - math.Cos(24*math.Pi*v) + v*v
		}},
		{name: "ten-decades", space: box(3, 0, 1), evals: 50, value: func(x []float64) float64 {
			return math.Pow(10, 10*squares(x, 0.3, 0.6, 0.45)) - 1
		}},
		{
			name: "log-ints", evals: 40, value: func(x []float64) float64 { return x[0]*x[0] + x[1]*x[1] - 2 },
			space: space(
				task.Parameter{Name: "a", Kind: task.Int, Low: 1, High: 100, Scale: task.Log},
				task.Parameter{Name: "b", Kind: task.Int, Low: 1, High: 100, Scale: task.Log},
			),
		},
		{name: "branin-10%-1e6", space: braninSpace, evals: 50, value: branin, observe: outlier(0.1, 1e6), gp: true},
		{name: "ties4", space: box(4, 0, 1), evals: 60, value: func(x []float64) float64 {
			return math.Floor(100*squares(x, 0.3, 0.7, 0.4, 0.6)) / 100
		}},
		{
			name: "log2", evals: 40, gp: true,
			space: space(
				task.Parameter{Name: "a", Kind: task.Float, Low: 1e-10, High: 1, Scale: task.Log},
				task.Parameter{Name: "b", Kind: task.Float, Low: 1e-10, High: 1, Scale: task.Log},
			),
			value: func(x []float64) float64 { return squares([]float64{math.Log10(x[0]), math.Log10(x[1])}, -3, -7) },
		},
		{name: "hartmann6", space: hartmann.Space, evals: 60, gp: true, value: func(x []float64) float64 { return max(hartmann.Value(x)-hartmann.Optimum, 0) }},
		{name: "ackley10", space: box(10, -10, 22), evals: 80, value: testfunc.Ackley(10).Value},
		{name: "quadratic2", space: box(2, 0, 1), evals: 40, value: quadratic, gp: true},
		{name: "kink4", space: box(4, 0, 1), evals: 60, value: func(x []float64) float64 {
			sum := 0.0
			for i, c := range []float64{0.3, 0.7, 0.4, 0.6} {
				sum += math.Abs(x[i] - c)
			}
			return sum
		}},
		cliff("cliff", 1e4, 50),
	}
	all[len(all)-1].gp = true
	for i := range all {
		all[i].name = objective + "/" + all[i].name
	}
	return all
}

// spread returns coordinates over the middle of [0, 1].
func spread(d int) []float64 {
	all := make([]float64, d)
	for i := range all {
		all[i] = 0.2 + 0.6*math.Mod(float64(i+1)*math.Phi, 1)
	}
	return all
}

func thirty() []string {
	var all []string
	for i := range 30 {
		all = append(all, string(rune('a'+i/26))+string(rune('a'+i%26)))
	}
	return all
}

// choiceOf30 adds 0 for the seventeenth choice, and up to 1 for others.
func choiceOf30(x []float64) float64 {
	return quadratic(x) + float64((int(x[2])*7+8)%30)/29
}
