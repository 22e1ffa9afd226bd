package rff

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/random"
)

var kernels = []string{Matern52, SE}

func newTestMap(t testing.TB, spec Spec, seed uint64) *Map {
	t.Helper()
	m, err := NewMap(random.SeedOf(seed), spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func uniformPoints(count, dim int, rng *rand.Rand) [][]float64 {
	points := make([][]float64, count)
	for i := range points {
		points[i] = make([]float64, dim)
		for k := range dim {
			points[i][k] = rng.Float64()
		}
	}
	return points
}

// The golden bits: agents of different builds and processors must derive these
// very numbers. A change here is a change of the protocol.
func TestFrequenciesAreGolden(t *testing.T) {
	for _, golden := range []struct {
		basis, kernel string
		want          []string
	}{
		{Plain, Matern52, []string{"0x1.10a3e99516c04p+02", "0x1.0bed19e2cbdefp+00", "-0x1.9ff9b6668cf69p-01", "-0x1.91eff2bbb46d6p-01", "-0x1.5c5e83485e663p+01", "-0x1.1edfb077b4a88p+00", "0x1.0654f8935a7a3p-01"}},
		{Plain, SE, []string{"0x1.ff32035fdad9ap+01", "0x1.f65b43cc4c427p-01", "-0x1.85f918b33ebd5p-01", "0x1.6fb2bb2d31436p+00", "-0x1.d0a95353cfee3p+01", "0x1.20568abd942fep+00", "0x1.1fa7c324cf8f9p-02"}},
		{Orthogonal, Matern52, []string{"0x1.bf01a728a808dp+01", "0x1.b74707900a0ep-01", "-0x1.55016cb222a37p-01", "0x1.aaee6953030cap+01", "-0x1.8a25d01c31886p+04", "-0x1.7f5d44ca530bfp+00", "0x1.5e91589a841dcp-01"}},
		{Orthogonal, SE, []string{"0x1.ff32035fdad9ap+01", "0x1.f65b43cc4c427p-01", "-0x1.85f918b33ebd5p-01", "0x1.073ddbfb3ebdep+02", "-0x1.329f43ccad7c6p+02", "0x1.20568abd942fep+00", "0x1.1fa7c324cf8f9p-02"}},
		{Quasi, Matern52, []string{"0x1.1aad6d401b86ep+01", "-0x1.05202ec4ebcfep+01", "0x1.d7451db412fabp-01", "-0x1.c638bd256d258p+00", "-0x1.0ee0a8e9fc3edp+00", "-0x1.8f275d51cd5b1p+00", "0x1.42093aadf815bp+00"}},
		{Quasi, SE, []string{"0x1.3c12d76680c3p-02", "0x1.d2266113b551bp-01", "-0x1.3fb1fe619c743p+00", "-0x1.7b2a94a75aaeep+02", "0x1.a05643661c962p+00", "0x1.be48eacd5f70ep+00", "-0x1.cb13d5fcca5afp-01"}},
		{RandomPhase, Matern52, []string{"0x1.10a3e99516c04p+02", "0x1.0bed19e2cbdefp+00", "-0x1.9ff9b6668cf69p-01", "-0x1.91eff2bbb46d6p-01", "-0x1.5c5e83485e663p+01", "-0x1.1edfb077b4a88p+00", "0x1.0654f8935a7a3p-01", "0x1.591e486db5fabp+01", "0x1.286db529477b1p+02"}},
		{RandomPhase, SE, []string{"0x1.ff32035fdad9ap+01", "0x1.f65b43cc4c427p-01", "-0x1.85f918b33ebd5p-01", "0x1.6fb2bb2d31436p+00", "-0x1.d0a95353cfee3p+01", "0x1.20568abd942fep+00", "0x1.1fa7c324cf8f9p-02", "0x1.9ef805092ac84p+00", "0x1.668afb691eeffp+01"}},
	} {
		m := newTestMap(t, Spec{Kernel: golden.kernel, Features: 512, Lengthscales: []float64{0.3, 0.7, 1.1}, Basis: golden.basis}, 2024)
		all := m.Frequencies()
		picked := []float64{all[0], all[1], all[2], all[3], all[300], all[766], all[767]}
		if phases := m.Phases(); phases != nil {
			picked = append(picked, phases[0], phases[511])
		}
		var got []string
		for _, s := range picked {
			got = append(got, fmt.Sprintf("%x", s))
		}
		if !slices.Equal(got, golden.want) {
			t.Errorf("%s, %s: frequencies %q, want %q", golden.basis, golden.kernel, got, golden.want)
		}
	}
}

func TestDefaultBasis(t *testing.T) {
	spec := Spec{Kernel: SE, Features: 32, Lengthscales: []float64{1, 2}}
	unnamed := newTestMap(t, spec, 1)
	spec.Basis = DefaultBasis
	if !slices.Equal(unnamed.Frequencies(), newTestMap(t, spec, 1).Frequencies()) {
		t.Error("no basis named and the default one named give different frequencies")
	}
}

// A few roundings of 1.1e-16 each: of z, of its square, of the sum and of the two
// products.
func TestLogarithmAccuracy(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := rapid.Float64Range(0x1p-1000, 2).Draw(rt, "x")
		want := math.Log(x)
		if got := logarithm(x); math.Abs(got-want) > 1e-15*max(math.Abs(want), 0x1p-3) {
			rt.Fatalf("logarithm(%g) = %g, math.Log gives %g", x, got, want)
		}
	})
}

// The logarithm's intermediate roundings, checked against exact arithmetic: the
// sum of its series, evaluated by big floats with rounding after every
// operation, must have the same bits. Where the compiler fused a product and a
// sum, it would not.
func TestLogarithmIsNotFused(t *testing.T) {
	round := func(z *big.Float) *big.Float {
		f, _ := z.Float64()
		return big.NewFloat(f).SetPrec(400)
	}
	operation := func() *big.Float { return new(big.Float).SetPrec(400) }
	rng := random.SeedOf(1).Stream("t", 0)
	for range 1000 {
		x := rng.Float64()
		fraction, exponent := math.Frexp(x)
		if fraction < math.Sqrt2/2 {
			fraction, exponent = 2*fraction, exponent-1
		}
		z := big.NewFloat((fraction - 1) / (fraction + 1)).SetPrec(400)
		square := round(operation().Mul(z, z))
		sum := big.NewFloat(0).SetPrec(400)
		for k := 12; k >= 0; k-- {
			term := big.NewFloat(1 / float64(2*k+1))
			sum = round(operation().Add(round(operation().Mul(sum, square)), term))
		}
		tail := round(operation().Mul(operation().Mul(big.NewFloat(2), z), sum))
		head := round(operation().Mul(big.NewFloat(float64(exponent)), big.NewFloat(math.Ln2)))
		want, _ := operation().Add(head, tail).Float64()
		if got := logarithm(x); got != want {
			t.Fatalf("logarithm(%x) = %x, with every operation rounded %x", x, got, want)
		}
	}
}

// 40,000 normals: moments 1 to 4 within 4.5 standard errors (0.005, 0.007,
// 0.019, 0.049 each), which a right source fails once in 30,000 seeds.
func TestNormalSourceMoments(t *testing.T) {
	const count = 40000
	source := normalSource{rng: random.SeedOf(4).Stream("t", 0)}
	var moments [4]float64
	for range count {
		z, power := source.next(), 1.0
		for i := range moments {
			power *= z
			moments[i] += power / count
		}
	}
	for i, want := range []float64{0, 1, 0, 3} {
		deviation := math.Sqrt([]float64{1, 2, 15, 96}[i] / count)
		if math.Abs(moments[i]-want) > 4.5*deviation {
			t.Errorf("moment %d is %g, want %g", i+1, moments[i], want)
		}
	}
}

func kernel(name string, x, y, lengthscales []float64) float64 {
	square := 0.0
	for i, l := range lengthscales {
		square += (x[i] - y[i]) * (x[i] - y[i]) / (l * l)
	}
	if name == SE {
		return math.Exp(-square / 2)
	}
	r := math.Sqrt(5 * square)
	return (1 + r + r*r/3) * math.Exp(-r)
}

// With 20,000 independent frequencies the standard error of phi(x)·phi(y) is at
// most 1/sqrt(40,000) = .005 (the variance of a cosine is at most one half), with
// 40,000 random phases at most .0061 (three halves of the variance, half of it
// each), and with better frequencies less. 3.7 of the largest over 40 pairs
// fail a right map once in 100 seeds, the others once in 3,000. Frequencies off
// by 10 % in scale change the kernel by up to .03, which is seen.
func TestApproximatesKernel(t *testing.T) {
	lengthscales := []float64{0.3, 0.5, 2}
	for _, basis := range bases {
		for _, name := range kernels {
			m := newTestMap(t, Spec{Kernel: name, Features: 40000, Lengthscales: lengthscales, Basis: basis}, 7)
			points := uniformPoints(40, 3, random.SeedOf(8).Stream("t", 0))
			for i := range 20 {
				for _, y := range [][]float64{points[20+i], {points[i][0] + 0.1, points[i][1], points[i][2]}} {
					got := linalg.Dot(m.Phi(nil, points[i]), m.Phi(nil, y))
					if want := kernel(name, points[i], y, lengthscales); math.Abs(got-want) > 0.0225 {
						t.Errorf("%s, %s: phi·phi = %.4f, the kernel is %.4f", basis, name, got, want)
					}
				}
			}
		}
	}
}

// With few random phases the norm may come near zero, where differences say
// nothing about a gradient.
func TestUnitNormAndGradient(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		lengthscales := rapid.SliceOfN(rapid.Float64Range(0.05, 3), 1, 5).Draw(rt, "lengthscales")
		spec := Spec{
			Kernel:       rapid.SampledFrom(kernels).Draw(rt, "kernel"),
			Basis:        rapid.SampledFrom(bases).Draw(rt, "basis"),
			Features:     2 * rapid.IntRange(1, 20).Draw(rt, "pairs"),
			Lengthscales: lengthscales,
			Constant:     rapid.SampledFrom([]float64{0, 1, 2.5}).Draw(rt, "constant"),
		}
		if spec.Basis == RandomPhase {
			spec.Features += 20
		}
		m, err := NewMap(random.SeedOf(rng.Uint64()), spec)
		if err != nil {
			rt.Fatal(err)
		}
		x := uniformPoints(1, m.Dim(), rng)[0]
		w := make([]float64, m.Features())
		for i := range w {
			w[i] = rng.NormFloat64()
		}
		phi := m.Phi(nil, x)
		norm, value := linalg.Dot(phi, phi), linalg.Dot(phi, w)
		f := m.Function(w)
		grad, pulled, values := make([]float64, m.Dim()), make([]float64, m.Dim()), make([]float64, 2)
		got := f.Gradient(grad, x)
		m.pullBack(pulled, w, phi, x)
		f.Values(values, slices.Concat(x, x))
		for _, v := range append(values, got, f.Value(x)) {
			if math.Abs(v-value) > 1e-10 {
				rt.Fatalf("phi·w = %g; Value %g, Gradient %g, Values %g", value, f.Value(x), got, values)
			}
		}
		if math.Abs(norm-1-spec.Constant*spec.Constant) > 1e-12 {
			rt.Fatalf("phi·phi = %g", norm)
		}
		scale := 1 + math.Sqrt(linalg.Dot(grad, grad))
		fbotest.CheckGradient(rt, grad, x, f.Value, 1e-3)
		for k := range grad {
			if math.Abs(grad[k]-pulled[k]) > 1e-8*scale {
				rt.Fatalf("coordinate %d: gradient %g, pulled back %g", k, grad[k], pulled[k])
			}
		}
	})
}

func TestNothingIsAllocated(t *testing.T) {
	for _, basis := range bases {
		m := newTestMap(t, Spec{Kernel: SE, Features: 64, Lengthscales: []float64{1, 1}, Basis: basis}, 1)
		f, x, grad := m.Function(m.Phi(nil, []float64{1, 0})), []float64{0.1, 0.2}, make([]float64, 2)
		phi, values, points := make([]float64, 64), make([]float64, 2), []float64{0, 0, 1, 1}
		for name, call := range map[string]func(){
			"Phi":      func() { m.Phi(phi, x) },
			"Value":    func() { f.Value(x) },
			"Values":   func() { f.Values(values, points) },
			"Gradient": func() { f.Gradient(grad, x) },
		} {
			if count := testing.AllocsPerRun(20, call); count != 0 {
				t.Errorf("%s: %s allocates %g times", basis, name, count)
			}
		}
	}
}

// A map of lengthscales 1 rescaled is that of the factors, bit for bit.
func TestRescaled(t *testing.T) {
	for _, basis := range bases {
		spec := Spec{Kernel: Matern52, Features: 40, Lengthscales: []float64{1, 1}, Basis: basis, Constant: 1.5}
		m := newTestMap(t, spec, 3)
		spec.Lengthscales = []float64{0.3, 1.7}
		want := newTestMap(t, spec, 3)
		got, err := m.Rescaled(spec.Lengthscales)
		if err != nil {
			t.Fatal(err)
		}
		x := []float64{0.2, 0.9}
		w := want.Phi(nil, []float64{0.4, 0.1})
		if !slices.Equal(got.Phi(nil, x), want.Phi(nil, x)) || got.Function(w).Value(x) != want.Function(w).Value(x) {
			t.Errorf("%s: the features differ", basis)
		}
		for _, factors := range [][]float64{{1}, {1, 0}, {1, math.NaN()}} {
			if _, err := m.Rescaled(factors); err == nil {
				t.Errorf("%s: factors %v are accepted", basis, factors)
			}
		}
	}
}

func TestSpecIsChecked(t *testing.T) {
	for name, spec := range map[string]Spec{
		"basis":       {Kernel: SE, Features: 2, Lengthscales: []float64{1}, Basis: "sobol"},
		"kernel":      {Kernel: "rbf", Features: 2, Lengthscales: []float64{1}},
		"odd":         {Kernel: SE, Features: 3, Lengthscales: []float64{1}},
		"no features": {Kernel: SE, Features: 0, Lengthscales: []float64{1}},
		"none":        {Kernel: SE, Features: 2, Lengthscales: nil},
		"zero":        {Kernel: SE, Features: 2, Lengthscales: []float64{1, 0}},
		"NaN":         {Kernel: SE, Features: 2, Lengthscales: []float64{math.NaN()}},
		"negative":    {Kernel: SE, Features: 2, Lengthscales: []float64{1}, Constant: -1},
		"unbounded":   {Kernel: SE, Features: 2, Lengthscales: []float64{1}, Constant: math.Inf(1)},
		"infinite":    {Kernel: SE, Features: 2, Lengthscales: []float64{math.Inf(1)}},
	} {
		if _, err := NewMap(random.Seed{}, spec); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestPanicsOnWrongLengths(t *testing.T) {
	m := newTestMap(t, Spec{Kernel: SE, Features: 4, Lengthscales: []float64{1, 1}}, 1)
	for name, call := range map[string]func(){
		"weights":  func() { m.Function(make([]float64, 3)) },
		"point":    func() { m.Phi(nil, []float64{1}) },
		"features": func() { m.Phi(make([]float64, 5), []float64{1, 1}) },
		"value":    func() { m.Function(make([]float64, 4)).Value([]float64{1}) },
		"values":   func() { m.Function(make([]float64, 4)).Values(make([]float64, 2), make([]float64, 3)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}

func ExampleMap() {
	spec := Spec{Kernel: Matern52, Features: 256, Lengthscales: []float64{0.5}}
	here, _ := NewMap(random.SeedOf(1), spec)
	there, _ := NewMap(random.SeedOf(1), spec) // on another machine

	// What one agent sends is a vector of weights; the other evaluates it.
	weights := here.Phi(nil, []float64{0.25})
	f := there.Function(weights)
	fmt.Printf("%.3f at 0.25, %.3f nearby\n",
		f.Value([]float64{0.25}), f.Value([]float64{0.3}))
	// Output: 1.000 at 0.25, 0.992 nearby
}
