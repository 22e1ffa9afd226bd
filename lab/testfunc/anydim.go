package testfunc

import (
	"fmt"
	"math"
)

// The functions in this file are defined in any dimension d, 1 to 100 (more or
// fewer panic), and are everywhere, not only in the space, at least Optimum.

func anyDim(name string, d int, low, high float64, value func(x []float64) float64, optimum, minimizer, deviation float64) Function {
	return Function{
		Name:       fmt.Sprintf("%s%d", name, d),
		Space:      box(d, low, high),
		Value:      value,
		Optimum:    optimum,
		Minimizers: [][]float64{filled(d, minimizer)},
		Deviation:  deviation,
		Reach:      math.Inf(1),
	}
}

// Ackley returns Ackley's function of d floats in [-32.768, 32.768]: a nearly flat, rippled plain
// with a hole at the origin, where it is 0.
//
// Source: Ackley (1987), "A connectionist machine for genetic hillclimbing".
func Ackley(d int) Function {
	return anyDim("ackley", d, -32.768, 32.768, ackley, 0, 0, ackleyDeviation(d))
}

func ackley(x []float64) float64 {
	squares, cosines := 0.0, 0.0
	for _, v := range x {
		squares += v * v
		cosines += math.Cos(2 * math.Pi * v)
	}
	n := float64(len(x))
	return -20*math.Expm1(-0.2*math.Sqrt(squares/n)) - math.E*math.Expm1(cosines/n-1)
}

// Levy returns Levy's function of d floats in [-10, 10]. It is 0 at (1, …, 1).
//
// Source: Levy and Montalvo (1985), "The tunneling algorithm for the global
// minimization of functions", SIAM Journal on Scientific and Statistical
// Computing 6, in the form of Laguna and Martí (2005).
func Levy(d int) Function {
	return anyDim("levy", d, -10, 10, levy, 0, 1, levyDeviation(d))
}

func levy(x []float64) float64 {
	scaled := func(i int) float64 { return 1 + (x[i]-1)/4 }
	square := func(v float64) float64 { return v * v }
	last := len(x) - 1
	value := square(math.Sin(math.Pi * scaled(0)))
	for i := range last {
		value += square(scaled(i)-1) * (1 + 10*square(math.Sin(math.Pi*scaled(i)+1)))
	}
	return value + square(scaled(last)-1)*(1+square(math.Sin(2*math.Pi*scaled(last))))
}

// Rosenbrock returns Rosenbrock's function of d ≥ 2 floats in [-5, 10]: a long curved valley. It is
// 0 at (1, …, 1).
//
// Source: Rosenbrock (1960), "An automatic method for finding the greatest or
// least value of a function", The Computer Journal 3, extended to d dimensions.
func Rosenbrock(d int) Function {
	if d < 2 {
		panic(fmt.Sprintf("testfunc: Rosenbrock in %d dimensions; accepted: 2 and more", d))
	}
	return anyDim("rosenbrock", d, -5, 10, rosenbrock, 0, 1, rosenbrockDeviation(d))
}

func rosenbrock(x []float64) float64 {
	value := 0.0
	for i := range len(x) - 1 {
		valley, slope := x[i+1]-x[i]*x[i], x[i]-1
		value += 100*valley*valley + slope*slope
	}
	return value
}

// Griewank returns Griewank's function of d floats in [-600, 600]: a wide bowl with very many
// regular dents. It is 0 at the origin.
//
// Source: Griewank (1981), "Generalized descent for global optimization",
// Journal of Optimization Theory and Applications 34.
func Griewank(d int) Function {
	return anyDim("griewank", d, -600, 600, griewank, 0, 0, griewankDeviation(d))
}

func griewank(x []float64) float64 {
	bowl, dents := 0.0, 1.0
	for i, v := range x {
		bowl += v * v / 4000
		dents *= math.Cos(v / math.Sqrt(float64(i+1)))
	}
	return bowl - dents + 1
}
