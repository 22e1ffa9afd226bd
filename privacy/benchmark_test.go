package privacy

import (
	"crypto/rand"
	"testing"
)

// One release: 256 weights clipped and given noise from the system's random bytes.
func BenchmarkRelease256(b *testing.B) {
	grid := Grid{Norm: 4, Bits: 30}
	weights, values := make([]float64, 256), make([]int64, 256)
	for i := range weights {
		weights[i] = float64(i%17) - 8
	}
	sampler := mustSampler(b, 15_900_000_000, rand.Reader)
	b.ReportAllocs()
	for b.Loop() {
		if err := grid.Clip(values, weights); err != nil {
			b.Fatal(err)
		}
		if err := sampler.AddTo(values); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNoise256(b *testing.B) {
	values := make([]int64, 256)
	sampler := mustSampler(b, 15_900_000_000, rand.Reader)
	b.ReportAllocs()
	for b.Loop() {
		clear(values)
		if err := sampler.AddTo(values); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLossSampled(b *testing.B) {
	plan := Plan{Grid: Grid{Norm: 22, Bits: 30}, Adjacency: ZeroOut, Dimension: 100, Rate: 0.35, Releases: 60, Parties: 1}
	for b.Loop() {
		if _, err := plan.Loss(1 << 30); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSigma(b *testing.B) {
	plan := plan64()
	for b.Loop() {
		if _, err := plan.Sigma(Promise{Epsilon: 4, Delta: 1e-5}); err != nil {
			b.Fatal(err)
		}
	}
}
