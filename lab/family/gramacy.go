package family

import (
	"math"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// Standard deviations over uniform points of the unit square.
const (
	gramacySumDeviation  = 0.408248290 // the square root of 1/6
	gramacyWaveDeviation = 0.761919
	gramacyDiscDeviation = 0.421637021 // the square root of 8/45
)

// gramacySum is the objective of the toy problem of Gramacy et al., "Modeling an Augmented
// Lagrangian for Blackbox Constrained Optimization" (Technometrics, 2016), section 1, to be
// minimised over the unit square. Its smallest feasible value is 0.5998 at (0.1954, 0.4044), on the
// limit of gramacyWave.
func gramacySum(x []float64) float64 { return x[0] + x[1] }

// gramacyWave is the first constraint of that problem: it must be at most 0.
func gramacyWave(x []float64) float64 {
	return 1.5 - x[0] - 2*x[1] - 0.5*math.Sin(2*math.Pi*(x[0]*x[0]-2*x[1]))
}

// gramacyDisc is the second constraint: it must be at most 0.
func gramacyDisc(x []float64) float64 { return x[0]*x[0] + x[1]*x[1] - 1.5 }

func gramacyKind() Kind {
	keys := []Key{
		{Name: "shift", Type: Number, Default: "0.05", Low: 0, High: 0.25,
			Meaning: "each member's functions are moved by up to this part of the ranges"},
		noiseKey("that of the published function over its space"),
		limitNoiseKey(),
	}
	return Kind{
		Info: Info{
			Name:  "gramacy",
			About: "the sum of two floats with two constraints of Gramacy et al. (2016), moved a little for every member, to be minimised",
			Keys:  append(keys, compositionKeys()...),
		},
		Build:       buildGramacy,
		Constraints: func(Values) []task.Constraint { return atMostZero(2) },
	}
}

func buildGramacy(v Values) (*task.Space, DrawFunc, error) {
	space, err := unitSpace(2)
	if err != nil {
		return nil, nil, err
	}
	return build(v, space, func(seed random.Seed) (source, error) {
		return source{
			space: space, goal: task.Minimize, noise: v.Number("noise"),
			constraints: atMostZero(2), limitNoise: v.Number("limit_noise"),
			member: func(cluster, k int) function { return gramacyMember(space, v.Number("shift"), seed, cluster, k) },
		}, nil
	})
}

// gramacyMember shifts all three functions by the same amount. The first cluster has the published
// functions. In other clusters the functions are mirrored and their coordinates are permuted.
func gramacyMember(space *task.Space, shift float64, seed random.Seed, cluster, k int) function {
	m, own := still(2), seed.Derive("own", uint64(k))
	if cluster > 0 {
		m.mix(seed.Stream("cluster mix", uint64(cluster)))
	}
	m.move(amounts{shift: shift}, own.Stream("shift", 0), own.Stream("turn", 0), own.Stream("warp", 0))
	moved := func(f func([]float64) float64, deviation float64) func([]float64) float64 {
		return func(u []float64) float64 { return f(m.forth(u)) / deviation }
	}
	g := function{
		value:  moved(gramacySum, gramacySumDeviation),
		limits: []func([]float64) float64{moved(gramacyWave, gramacyWaveDeviation), moved(gramacyDisc, gramacyDiscDeviation)},
	}
	g.optimum = func() float64 {
		var bounds []acquisition.Bounded
		for _, limit := range g.limits {
			bounds = append(bounds, acquisition.Bounded{Function: Differentiable(limit), Low: math.Inf(-1), High: 0})
		}
		negated := Differentiable(func(u []float64) float64 { return -g.value(u) })
		return -largestFeasible(space, negated, bounds, own.Derive("optimum", 0))
	}
	return g
}
