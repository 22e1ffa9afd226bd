package family

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/task"
)

// Numbers of random features that approximate a Gaussian process, and of points at which the
// distance of two functions is measured.
const (
	fewFeatures  = 1000 // for one and two coordinates
	manyFeatures = 2000
	densePoints  = 4096
)

func gpKeys() []Key {
	return []Key{
		{Name: "kernel", Type: Choice, Default: rff.SE, Choices: []string{rff.SE, rff.Matern52}, Meaning: "kernel of the process"},
		{Name: "d", Type: Whole, Default: "2", Low: 1, High: 20, Meaning: "number of floats"},
		{Name: "lengthscale", Type: Number, Low: 0.01, High: 100, Meaning: "of every float, whose range is 1; without it 0.2·sqrt(d)"},
		{Name: "e", Type: Number, Default: "0.05", Low: 0, High: 1,
			Meaning: "members have sqrt(1-e²)·f + e·g with a g of their own: 0 for the same, 1 for independent functions"},
		{Name: "d_n", Type: Number, Low: 0, High: 100,
			Meaning: "in place of e: members have f plus a function of their own, whose largest absolute value is d_n"},
		noiseKey("that of the process"),
	}
}

func gpKind() Kind {
	return Kind{
		Info:  Info{Name: "gp", About: "samples of a Gaussian process of variance 1 over the unit cube, to be maximised", Keys: append(gpKeys(), compositionKeys()...)},
		Build: buildGP,
	}
}

func noiseKey(unit string) Key {
	return Key{Name: "noise", Type: Number, Default: "0.1", Low: 0, High: 100,
		Meaning: "standard deviation of an evaluation's noise, where " + unit + " is 1"}
}

func buildGP(v Values) (*task.Space, DrawFunc, error) {
	if v.Given("e") && v.Given("d_n") {
		return nil, nil, errors.New("keys e and d_n are both given; accepted: one of them")
	}
	d := v.Whole("d")
	space, err := unitSpace(d)
	if err != nil {
		return nil, nil, err
	}
	g := gp{space: space, spec: gpFeatures(v), e: v.Number("e"), distance: v.Number("d_n")}
	return build(v, space, func(seed random.Seed) (source, error) { return g.source(seed, v.Number("noise")) })
}

func unitSpace(d int) (*task.Space, error) {
	parameters := make([]task.Parameter, d)
	for i := range parameters {
		parameters[i] = task.Parameter{Name: fmt.Sprintf("x%d", i+1), Kind: task.Float, Low: 0, High: 1}
	}
	return task.NewSpace(parameters)
}

func gpFeatures(v Values) rff.Spec {
	d := v.Whole("d")
	lengthscale := 0.2 * math.Sqrt(float64(d))
	if v.Given("lengthscale") {
		lengthscale = v.Number("lengthscale")
	}
	spec := rff.Spec{Kernel: v.Choice("kernel"), Features: manyFeatures, Lengthscales: make([]float64, d)}
	if d <= 2 {
		spec.Features = fewFeatures
	}
	for i := range spec.Lengthscales {
		spec.Lengthscales[i] = lengthscale
	}
	return spec
}

// gp holds the settings that all federations of a family share.
type gp struct {
	space    *task.Space
	spec     rff.Spec
	e        float64
	distance float64 // value of d_n; NaN if e sets the similarity of members
}

// source makes the functions of one federation. Each federation has its own random features. Over
// federations the functions therefore have exactly the covariance of the kernel, and agents do not
// know the features.
func (g gp) source(seed random.Seed, noise float64) (source, error) {
	features, err := rff.NewMap(seed.Derive("features", 0), g.spec)
	if err != nil {
		return source{}, err
	}
	return source{space: g.space, goal: task.Maximize, noise: noise, member: func(cluster, k int) function {
		f := g.mixed(features, seed, seed, cluster, k)
		return function{value: f.Value, optimum: func() float64 {
			_, value := largest(g.space, f, nil, seed.Derive("optimum", uint64(k)))
			return value
		}}
	}}, nil
}

// mixed returns the function of member k. The part that its cluster has in common is drawn from the
// seed common, and the member's own part from the seed own.
func (g gp) mixed(features *rff.Map, common, own random.Seed, cluster, k int) *rff.Function {
	shared := normals(features.Features(), common.Stream("common", uint64(cluster)))
	weights := normals(features.Features(), own.Stream("own", uint64(k)))
	a, b := g.parts(features, weights)
	for i := range weights {
		weights[i] = a*shared[i] + b*weights[i]
	}
	return features.Function(weights)
}

// parts returns the factors with which the common function and the member's own function are added.
func (g gp) parts(features *rff.Map, own []float64) (common, part float64) {
	if math.IsNaN(g.distance) {
		return math.Sqrt(1 - g.e*g.e), g.e
	}
	return 1, g.distance / extent(features.Function(own), features.Dim())
}

// extent returns the largest absolute value over a dense set of points.
func extent(f *rff.Function, d int) float64 {
	values := make([]float64, densePoints)
	f.Values(values, dense(densePoints, d))
	most := 0.0
	for _, v := range values {
		most = max(most, math.Abs(v))
	}
	return most
}

func normals(n int, rng *rand.Rand) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = rng.NormFloat64()
	}
	return all
}
