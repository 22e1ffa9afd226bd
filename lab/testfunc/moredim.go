package testfunc

import (
	"fmt"
	"math"
)

// The functions in this file, like those in anydim.go, are defined in any dimension d, 1 to 100, and
// are everywhere at least Optimum. Their forms and bounds are those of Jamil and Yang (2013), "A literature survey of
// benchmark functions for global optimisation problems", unless a comment names another source.

// Sphere returns the sum of the squares of d floats in [-5.12, 5.12]. It is 0 at the origin.
func Sphere(d int) Function {
	return anyDim("sphere", d, -5.12, 5.12, func(x []float64) float64 { return weightedSquares(x, one) }, 0, 0,
		squaresDeviation(d, one))
}

// Ellipsoid returns the sum of i·x_i² over d floats in [-5.12, 5.12], where i counts from 1. It is 0
// at the origin.
func Ellipsoid(d int) Function {
	return anyDim("ellipsoid", d, -5.12, 5.12, func(x []float64) float64 { return weightedSquares(x, position) }, 0, 0,
		squaresDeviation(d, position))
}

func one(int) float64        { return 1 }
func position(i int) float64 { return float64(i + 1) }

func weightedSquares(x []float64, weight func(i int) float64) float64 {
	value := 0.0
	for i, v := range x {
		value += weight(i) * v * v
	}
	return value
}

// Rastrigin returns Rastrigin's function of d floats in [-5.12, 5.12]: a bowl with regular deep
// dents. It is 0 at the origin.
func Rastrigin(d int) Function {
	return anyDim("rastrigin", d, -5.12, 5.12, sumOf(rastriginTerm), 0, 0, sumDeviation(d, -5.12, 5.12, rastriginTerm))
}

func rastriginTerm(v float64) float64 { return v*v + 10*(1-math.Cos(2*math.Pi*v)) }

// StyblinskiTang returns the function of Styblinski and Tang of d floats in [-5, 5], which has two
// wells along each. The minimum is -39.166 for each float.
func StyblinskiTang(d int) Function {
	x := styblinskiTangWell()
	return anyDim("styblinskitang", d, -5, 5, sumOf(styblinskiTangTerm), float64(d)*styblinskiTangTerm(x), x,
		sumDeviation(d, -5, 5, styblinskiTangTerm))
}

func styblinskiTangTerm(v float64) float64 { return (v*v*v*v - 16*v*v + 5*v) / 2 }

// styblinskiTangWell returns the smaller root of the derivative of the term by Newton's method.
func styblinskiTangWell() float64 {
	x := -3.0
	for range 20 {
		x -= (4*x*x*x - 32*x + 5) / (12*x*x - 32)
	}
	return x
}

// Weierstrass returns Weierstrass's function of d floats in [-0.5, 0.5], the sum over k from 0 to 20
// of 0.5^k·cos(2π·3^k·(x+½)), with its minimum moved to 0. It is rugged everywhere, and 0 at the
// origin.
//
// Source of these constants: Suganthan et al. (2005), "Problem definitions and evaluation criteria
// for the CEC 2005 special session on real-parameter optimization".
func Weierstrass(d int) Function {
	return anyDim("weierstrass", d, -0.5, 0.5, sumOf(weierstrassTerm), 0, 0, weierstrassDeviation(d))
}

// weierstrassTerm uses cos(a(x+½)) = -cos(ax), since a is an odd multiple of 2π.
func weierstrassTerm(v float64) float64 {
	value, amplitude, frequency := 0.0, 1.0, 2*math.Pi
	for range weierstrassWaves {
		value += amplitude * (1 - math.Cos(frequency*v))
		amplitude, frequency = amplitude/2, frequency*3
	}
	return value
}

// weierstrassWaves is the number of waves in Weierstrass's function.
const weierstrassWaves = 21

// Zakharov returns Zakharov's function of d floats in [-5, 10]: a plate that rises very steeply to
// one side. It is 0 at the origin.
func Zakharov(d int) Function {
	return anyDim("zakharov", d, -5, 10, zakharov, 0, 0, zakharovDeviation(d))
}

func zakharov(x []float64) float64 {
	squares, sum := 0.0, 0.0
	for i, v := range x {
		squares += v * v
		sum += 0.5 * float64(i+1) * v
	}
	return squares + sum*sum + sum*sum*sum*sum
}

// Powell returns Powell's function of d ≥ 4 floats in [-4, 5], a sum over blocks of four: a valley that is flat
// at its bottom. Floats after the last whole block have no effect. It is 0 at the origin.
func Powell(d int) Function {
	if d < powellBlock {
		panic(fmt.Sprintf("testfunc: Powell in %d dimensions; accepted: %d and more", d, powellBlock))
	}
	return anyDim("powell", d, -4, 5, powell, 0, 0, powellDeviation(d))
}

const powellBlock = 4

func powell(x []float64) float64 {
	value := 0.0
	for ; len(x) >= powellBlock; x = x[powellBlock:] {
		a, b, c, e := x[0]+10*x[1], x[2]-x[3], x[1]-2*x[2], x[0]-x[3]
		value += a*a + 5*b*b + c*c*c*c + 10*e*e*e*e
	}
	return value
}

// sumOf returns the function that adds a term for each coordinate.
func sumOf(term func(v float64) float64) func(x []float64) float64 {
	return func(x []float64) float64 {
		value := 0.0
		for _, v := range x {
			value += term(v)
		}
		return value
	}
}
