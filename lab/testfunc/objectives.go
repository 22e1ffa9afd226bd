package testfunc

import (
	"fmt"
	"math"

	"github.com/fbo-node/fbo/task"
)

// Objectives is a function with several values over a task's space, all to be minimised.
type Objectives struct {
	Name  string
	Space *task.Space
	Count int // of objectives

	// Value returns the objectives at a point, as [Function.Value] does.
	Value func(x []float64) []float64

	// Reference is the published reference point of the hypervolume. It is the upper bound of the
	// objectives in what counts as volume.
	Reference []float64

	// Hypervolume is the largest hypervolume that designs of the space can reach in the limit.
	Hypervolume float64
}

// At returns the objectives at a design of the space.
func (o Objectives) At(d task.Design) []float64 {
	return o.Value(Function{Name: o.Name, Space: o.Space}.Coordinates(d))
}

// AllObjectives returns every problem with several objectives, with six floats where their number
// is free.
func AllObjectives() []Objectives {
	return []Objectives{BraninCurrin(), ZDT1(6), ZDT2(6), ZDT3(6), DTLZ2(6)}
}

// Both constants have an error below 3e-7, by
//
//	go test -tags statistical -v -run TestStatisticalMaximalHypervolumes ./lab/testfunc
//
// For Branin-Currin, BoTorch and papers that use it have 59.36011874867746, an estimate by NSGA-II
// from below.
const (
	braninCurrinVolume = 59.4066125
	zdt3Volume         = 128.7781161
)

// BraninCurrin returns Branin's function and that of Currin over two floats in [0, 1]. The ranges
// of Branin's function are scaled to them.
//
// Source: Belakaria, Deshwal and Doppa, "Max-value Entropy Search for Multi-Objective Bayesian
// Optimization" (NeurIPS 2019), with the function of Currin et al., "A Bayesian Approach to the
// Design and Analysis of Computer Experiments" (1988), and the reference point of Daulton, Balandat
// and Bakshy (NeurIPS 2020).
func BraninCurrin() Objectives {
	return Objectives{
		Name:        "branincurrin",
		Space:       box(2, 0, 1),
		Count:       2,
		Value:       func(x []float64) []float64 { return []float64{branin([]float64{15*x[0] - 5, 15 * x[1]}), currin(x)} },
		Reference:   []float64{18, 6},
		Hypervolume: braninCurrinVolume,
	}
}

func currin(x []float64) float64 {
	factor := 1.0
	if x[1] > 0 {
		factor = -math.Expm1(-1 / (2 * x[1]))
	}
	return factor * (((2300*x[0]+1900)*x[0]+2092)*x[0] + 60) / (((100*x[0]+500)*x[0]+4)*x[0] + 20)
}

// zdt returns a problem of d >= 2 floats in [0, 1], by the ratio of the second objective to g as a
// function of the first, f, and f/g. On the front all floats but the first are 0, and g is 1.
//
// Source: Zitzler, Deb and Thiele, "Comparison of Multiobjective Evolutionary Algorithms: Empirical
// Results" (Evolutionary Computation, 2000), with the reference point of BoTorch.
func zdt(number, d int, volume float64, shape func(f, ratio float64) float64) Objectives {
	checkFloats("ZDT", d, 2)
	return Objectives{
		Name:  fmt.Sprintf("zdt%d-%d", number, d),
		Space: box(d, 0, 1),
		Count: 2,
		Value: func(x []float64) []float64 {
			g := 0.0
			for _, v := range x[1:] {
				g += v
			}
			g = 1 + 9*g/float64(d-1)
			return []float64{x[0], g * shape(x[0], x[0]/g)}
		},
		Reference:   []float64{11, 11},
		Hypervolume: volume,
	}
}

// ZDT1 returns the problem of d >= 2 floats with the convex front 1-√f. Its largest hypervolume is
// 121 - 1/3.
func ZDT1(d int) Objectives {
	return zdt(1, d, 121-1.0/3, func(_, ratio float64) float64 { return 1 - math.Sqrt(ratio) })
}

// ZDT2 returns the problem of d >= 2 floats with the concave front 1-f². Its largest hypervolume is
// 121 - 2/3.
func ZDT2(d int) Objectives {
	return zdt(2, d, 121-2.0/3, func(_, ratio float64) float64 { return 1 - ratio*ratio })
}

// ZDT3 returns the problem of d >= 2 floats whose front is five pieces of 1-√f-f·sin(10πf).
func ZDT3(d int) Objectives {
	return zdt(3, d, zdt3Volume, func(f, ratio float64) float64 { return 1 - math.Sqrt(ratio) - ratio*math.Sin(10*math.Pi*f) })
}

// DTLZ2 returns the problem of d >= 3 floats in [0, 1] with three objectives, whose front is an
// eighth of the unit sphere. Its largest hypervolume is 1.1³ - π/6.
//
// Source: Deb, Thiele, Laumanns and Zitzler, "Scalable Multi-Objective Optimization Test Problems"
// (CEC 2002), with the reference point of BoTorch.
func DTLZ2(d int) Objectives {
	checkFloats("DTLZ2", d, 3)
	return Objectives{
		Name:        fmt.Sprintf("dtlz2-%d", d),
		Space:       box(d, 0, 1),
		Count:       3,
		Value:       dtlz2,
		Reference:   []float64{1.1, 1.1, 1.1},
		Hypervolume: 1.1*1.1*1.1 - math.Pi/6,
	}
}

func dtlz2(x []float64) []float64 {
	radius := 1.0
	for _, v := range x[2:] {
		radius += (v - 0.5) * (v - 0.5)
	}
	sin1, cos1 := math.Sincos(x[0] * math.Pi / 2)
	sin2, cos2 := math.Sincos(x[1] * math.Pi / 2)
	return []float64{radius * cos1 * cos2, radius * cos1 * sin2, radius * sin1}
}

func checkFloats(name string, d, least int) {
	if d < least {
		panic(fmt.Sprintf("testfunc: %s of %d floats; expected at least %d", name, d, least))
	}
}
