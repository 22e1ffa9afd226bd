package rff

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/random"
)

func normals(count int, rng *rand.Rand) []float64 {
	y := make([]float64, count)
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	return y
}

// same compares the whole distributions.
func same(rt *rapid.T, got, want *Posterior) {
	mean1, covariance1 := moments(got)
	mean2, covariance2 := moments(want)
	for i := range mean1 {
		if math.Abs(mean1[i]-mean2[i]) > 1e-8 || math.Abs(got.mean[i]-want.mean[i]) > 1e-8 {
			rt.Fatalf("%d observations: mean %d is %g, want %g", want.Len(), i, mean1[i], mean2[i])
		}
	}
	if !mat.EqualApprox(covariance1, covariance2, 1e-8) {
		rt.Fatalf("%d observations: the covariances differ", want.Len())
	}
}

// Observations taken in one by one, through the change of form at 10 features,
// give what all at once give, and so do outputs changed afterwards.
func TestExtendEqualsNew(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		basis := rapid.SampledFrom(bases).Draw(rt, "basis")
		m, err := NewMap(random.SeedOf(rng.Uint64()), Spec{Kernel: Matern52, Features: 10, Lengthscales: []float64{0.3, 0.5}, Basis: basis, Constant: rapid.SampledFrom([]float64{0, 1.5}).Draw(rt, "constant")})
		if err != nil {
			rt.Fatal(err)
		}
		last := rapid.IntRange(2, 16).Draw(rt, "t")
		first := rapid.IntRange(1, last-1).Draw(rt, "first")
		noise := rapid.Float64Range(1e-2, 1).Draw(rt, "noise")
		x, y := uniformPoints(last, 2, rng), normals(last, rng)
		start, err := NewPosterior(m, x[:first], y[:first], 1.5, noise)
		if err != nil {
			rt.Fatal(err)
		}
		p := start
		for i := first; i < last; i++ {
			if p, err = p.Extend(x[i], y[i]); err != nil {
				rt.Fatal(err)
			}
		}
		if p.Len() != last || (p.dual == nil) != (last >= m.Features()) {
			rt.Fatalf("%d observations of %d, dual %t", p.Len(), last, p.dual != nil)
		}
		again, err := NewPosterior(m, x, y, 1.5, noise)
		if err != nil {
			rt.Fatal(err)
		}
		same(rt, p, again)
		other := normals(last, rng)
		changed, err := p.WithOutputs(x, other)
		if err != nil {
			rt.Fatal(err)
		}
		if again, err = NewPosterior(m, x, other, 1.5, noise); err != nil {
			rt.Fatal(err)
		}
		same(rt, changed, again)
	})
}

// Two observations that extend the same posterior must not share memory, in
// either form, and neither may change the posterior that they extend.
func TestExtendLeavesTheOldAlone(t *testing.T) {
	for _, count := range []int{3, 7, 20} {
		rng := random.SeedOf(uint64(count)).Stream("t", 0)
		m := newTestMap(t, Spec{Kernel: SE, Features: 8, Lengthscales: []float64{0.5}}, 1)
		x, y := uniformPoints(count, 1, rng), normals(count, rng)
		p, err := NewPosterior(m, x, y, 1, 0.1)
		if err != nil {
			t.Fatal(err)
		}
		if p, err = p.Extend([]float64{0.5}, 1); err != nil { // so that rows come from append
			t.Fatal(err)
		}
		predict := func(p *Posterior) [2]float64 {
			mean, variance := p.Predict([]float64{0.3})
			return [2]float64{mean, variance}
		}
		old := predict(p)
		one, err1 := p.Extend([]float64{0.1}, 3)
		if err1 != nil {
			t.Fatal(err1)
		}
		before := predict(one)
		_, err2 := p.Extend([]float64{0.9}, -3)
		_, err3 := p.WithOutputs(append(slices.Clone(x), []float64{0.5}), make([]float64, count+1))
		if err2 != nil || err3 != nil {
			t.Fatal(err2, err3)
		}
		if predict(one) != before || predict(p) != old {
			t.Errorf("t = %d: a posterior changed", count)
		}
	}
}

func TestExtendRejects(t *testing.T) {
	m := newTestMap(t, Spec{Kernel: SE, Features: 4, Lengthscales: []float64{1}}, 1)
	p, err := NewPosterior(m, [][]float64{{0.5}}, []float64{1}, 1, 1e-18)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Extend([]float64{0.5}, 1); !errors.Is(err, ErrNotPositiveDefinite) {
		t.Errorf("the same point without noise: %v", err)
	}
	if _, err := p.Extend([]float64{0.5, 1}, 1); err == nil {
		t.Error("coordinates: accepted")
	}
	if _, err := p.Extend([]float64{0.5}, math.NaN()); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
	if _, err := p.WithOutputs([][]float64{{1}, {2}}, []float64{1, 2}); err == nil {
		t.Error("two outputs for one observation: accepted")
	}
}

// The primal form's memory does not grow with the observations.
func TestPrimalFormIsBounded(t *testing.T) {
	rng := random.SeedOf(1).Stream("t", 0)
	m := newTestMap(t, Spec{Kernel: SE, Features: 6, Lengthscales: []float64{1}}, 1)
	p, err := NewPosterior(m, uniformPoints(9, 1, rng), normals(9, rng), 1, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if p, err = p.Extend([]float64{rng.Float64()}, rng.NormFloat64()); err != nil {
			t.Fatal(err)
		}
	}
	if numbers := cap(p.u.u) + cap(p.moment) + cap(p.mean); p.dual != nil || numbers > 6*6+2*8 {
		t.Errorf("%d numbers after %d observations", numbers, p.Len())
	}
}

func TestFactoriseAndExtend(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		n := rapid.IntRange(1, 20).Draw(rt, "n")
		a, err := factorise(between(normals(n*n, rng), n, n), n, 0.1)
		if err != nil {
			rt.Fatal(err)
		}
		v := normals(n, rng)
		added := a.add(slices.Clone(v))
		for i := range n {
			for j := i; j < n; j++ {
				want, got := v[i]*v[j], 0.0
				for k := range i + 1 {
					want += a.u[k*n+i] * a.u[k*n+j]
					got += added.u[k*n+i] * added.u[k*n+j]
				}
				if math.Abs(got-want) > 1e-10 {
					rt.Fatalf("%d, %d is %g, want %g", i, j, got, want)
				}
			}
		}
		b := slices.Clone(v)
		a.solve(b)
		half := slices.Clone(v)
		a.half(half)
		if want := linalg.Dot(v, b); math.Abs(linalg.Dot(half, half)-want) > 1e-8*(1+want) {
			rt.Fatalf("|U⁻ᵀv|² = %g, vᵀA⁻¹v = %g", linalg.Dot(half, half), want)
		}
		if _, ok := a.append(append(slices.Clone(v), linalg.Dot(half, half)-1)); ok {
			rt.Fatal("appended a column that is not positive definite")
		}
	})
}

// Matrices of several slabs: UᵀU must be the matrix again, of entries up to 300.
func TestFactorOfLargeMatrix(t *testing.T) {
	for _, n := range []int{slab, slab + 1, 3*slab + 5} {
		gram := between(normals(n*n, random.SeedOf(uint64(n)).Stream("t", 0)), n, n)
		f, err := factorise(slices.Clone(gram), n, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := i; j < n; j++ {
				got, want := 0.0, gram[i*n+j]
				for k := range i + 1 {
					got += f.u[k*n+i] * f.u[k*n+j]
				}
				if i == j {
					want += 0.5
				}
				if math.Abs(got-want) > 1e-9 {
					t.Fatalf("n = %d: %d, %d is %g, want %g", n, i, j, got, want)
				}
			}
		}
		gram[n*n-1] = -1
		if _, err := factorise(gram, n, 0.5); !errors.Is(err, ErrNotPositiveDefinite) {
			t.Errorf("n = %d: a negative diagonal: %v", n, err)
		}
	}
}
