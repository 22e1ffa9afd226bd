package rff

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
)

// All ways to a Gram matrix agree with the plain sums, whatever the shape. The
// sums have up to 600 terms of order one, so rounding stays below 1e-12.
func TestGramMatrices(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.IntRange(1, 150).Draw(rt, "rows")
		terms := rapid.IntRange(1, 600).Draw(rt, "terms")
		rng := random.SeedOf(rapid.Uint64().Draw(rt, "seed")).Stream("t", 0)
		a := make([]float64, rows*terms)
		for i := range a {
			a[i] = 2*rng.Float64() - 1
		}
		direct := between(a, rows, terms)
		turned := among(terms, rows, func(phi []float64, i int) {
			for j := range phi {
				phi[j] = a[j*terms+i]
			}
		})
		for i := range rows {
			for j := i; j < rows; j++ {
				want := 0.0
				for k := range terms {
					want += a[i*terms+k] * a[j*terms+k]
				}
				if got := direct[i*rows+j]; math.Abs(got-want) > 1e-12 {
					rt.Fatalf("between: %d, %d of %d×%d is %g, want %g", i, j, rows, terms, got, want)
				}
				if got := turned[i*rows+j]; math.Abs(got-want) > 1e-12 {
					rt.Fatalf("among: %d, %d of %d×%d is %g, want %g", i, j, rows, terms, got, want)
				}
			}
		}
	})
}

// The kernel of this processor, where it has one, against gonum.
func TestOuterProductIsPortable(t *testing.T) {
	rng := random.SeedOf(1).Stream("t", 0)
	for _, rows := range []int{1, 4, 47, 130, 301} {
		p := newPacked(rows, 100)
		for i := range rows {
			for k := range 100 {
				p.data[i*p.stride+k] = rng.NormFloat64()
			}
		}
		got, want := make([]float64, rows*rows), make([]float64, rows*rows)
		p.addOuter(got, rows, -0.5)
		p.addOuterPortable(want, rows, -0.5)
		for i := range rows {
			for j := i; j < rows; j++ {
				if math.Abs(got[i*rows+j]-want[i*rows+j]) > 1e-11 {
					t.Fatalf("%d rows: %d, %d is %g, want %g", rows, i, j, got[i*rows+j], want[i*rows+j])
				}
			}
		}
	}
}

// BenchmarkGram is the product behind a projection: M sums of 4,000 terms.
func BenchmarkGram(b *testing.B) {
	for _, features := range []int{256, 1000} {
		p := newPacked(features, batch)
		rng := random.SeedOf(1).Stream("t", 0)
		for i := range p.data {
			p.data[i] = rng.NormFloat64()
		}
		g := make([]float64, features*features)
		for name, add := range map[string]func([]float64, int, float64){"kernel": p.addOuter, "gonum": p.addOuterPortable} {
			b.Run(fmt.Sprintf("M=%d/%s", features, name), func(b *testing.B) {
				for b.Loop() {
					add(g, features, 1)
				}
				products := float64(features) * float64(features+1) / 2 * batch
				b.ReportMetric(products*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gproducts/s")
			})
		}
	}
}
