package rff

import (
	"fmt"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
)

// sizes runs one benchmark for every number M of features and t of observations,
// with six coordinates.
func sizes(b *testing.B, run func(b *testing.B, m *Map, x [][]float64, y []float64)) {
	for _, features := range []int{100, 1000} {
		for _, count := range []int{20, 100, 500} {
			size(b, features, count, run)
		}
	}
}

func size(b *testing.B, features, count int, run func(b *testing.B, m *Map, x [][]float64, y []float64)) {
	b.Run(fmt.Sprintf("M=%d/t=%d", features, count), func(b *testing.B) {
		rng := random.SeedOf(1).Stream("t", 0)
		m := newTestMap(b, Spec{Kernel: Matern52, Features: features, Lengthscales: []float64{0.6, 0.6, 0.6, 0.6, 0.6, 0.6}}, 1)
		b.ReportAllocs()
		run(b, m, uniformPoints(count, 6, rng), normals(count, rng))
	})
}

func newTestPosterior(b *testing.B, m *Map, x [][]float64, y []float64) *Posterior {
	b.Helper()
	p, err := NewPosterior(m, x, y, 1, 0.01)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkNew conditions on all observations at once.
func BenchmarkNew(b *testing.B) {
	sizes(b, func(b *testing.B, m *Map, x [][]float64, y []float64) {
		for b.Loop() {
			newTestPosterior(b, m, x, y)
		}
	})
}

// BenchmarkExtend takes in one observation more; with M=100/t=100 the form
// changes.
func BenchmarkExtend(b *testing.B) {
	extend := func(b *testing.B, m *Map, x [][]float64, y []float64) {
		p, last := newTestPosterior(b, m, x[1:], y[1:]), x[0]
		for b.Loop() {
			if _, err := p.Extend(last, y[0]); err != nil {
				b.Fatal(err)
			}
		}
	}
	sizes(b, extend)
	size(b, 1000, 1001, extend)
}

// BenchmarkWithOutputs changes all outputs.
func BenchmarkWithOutputs(b *testing.B) {
	sizes(b, func(b *testing.B, m *Map, x [][]float64, y []float64) {
		p := newTestPosterior(b, m, x, y)
		for b.Loop() {
			if _, err := p.WithOutputs(x, y); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkDraw draws weights.
func BenchmarkDraw(b *testing.B) {
	sizes(b, func(b *testing.B, m *Map, x [][]float64, y []float64) {
		p, rng := newTestPosterior(b, m, x, y), random.SeedOf(1).Stream("t", 0)
		for b.Loop() {
			p.Weights(rng)
		}
	})
}

// BenchmarkPredict predicts with gradients.
func BenchmarkPredict(b *testing.B) {
	sizes(b, func(b *testing.B, m *Map, x [][]float64, y []float64) {
		p, meanGradient, varianceGradient := newTestPosterior(b, m, x, y), make([]float64, 6), make([]float64, 6)
		for b.Loop() {
			p.PredictGradient(meanGradient, varianceGradient, x[0])
		}
	})
}

// BenchmarkFit evaluates the evidence for 24 variances of the noise.
func BenchmarkFit(b *testing.B) {
	sizes(b, func(b *testing.B, m *Map, x [][]float64, y []float64) {
		for b.Loop() {
			e, err := NewEvidence(m, x, y)
			if err != nil {
				b.Fatal(err)
			}
			for i := range 24 {
				if _, err := e.Log(1, math.Exp(float64(i)/3-7)); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

func BenchmarkFunction(b *testing.B) {
	for _, basis := range []string{DefaultBasis, RandomPhase} {
		for _, features := range []int{100, 1000} {
			spec := Spec{Kernel: Matern52, Features: features, Lengthscales: []float64{0.6, 0.6, 0.6, 0.6, 0.6, 0.6}, Basis: basis}
			m := newTestMap(b, spec, 1)
			rng := random.SeedOf(1).Stream("t", 0)
			f, x, grad := m.Function(normals(features, rng)), uniformPoints(1, 6, rng)[0], make([]float64, 6)
			phi := make([]float64, features)
			for name, call := range map[string]func(){
				"value":    func() { f.Value(x) },
				"gradient": func() { f.Gradient(grad, x) },
				"phi":      func() { m.Phi(phi, x) },
			} {
				b.Run(fmt.Sprintf("%s/M=%d/%s", basis, features, name), func(b *testing.B) {
					for b.Loop() {
						call()
					}
				})
			}
		}
	}
}

// BenchmarkProject prepares a projection over 1,000 or 3·M points, projects, and
// projects with 31 further points.
func BenchmarkProject(b *testing.B) {
	for _, features := range []int{100, 256, 1000} {
		rng := random.SeedOf(1).Stream("t", 0)
		m := newTestMap(b, Spec{Kernel: Matern52, Features: features, Lengthscales: []float64{0.6, 0.6, 0.6, 0.6, 0.6, 0.6}}, 1)
		points := uniformPoints(max(1000, 3*features), 6, rng)
		b.Run(fmt.Sprintf("setup/M=%d", features), func(b *testing.B) {
			for b.Loop() {
				if _, err := NewProjection(m, points, 0.05); err != nil {
					b.Fatal(err)
				}
			}
		})
		p, err := NewProjection(m, points, 0.05)
		if err != nil {
			b.Fatal(err)
		}
		values, further, also := normals(p.Len(), rng), uniformPoints(31, 6, rng), normals(31, rng)
		b.Run(fmt.Sprintf("project/M=%d", features), func(b *testing.B) {
			for b.Loop() {
				p.Project(values)
			}
		})
		b.Run(fmt.Sprintf("further/M=%d", features), func(b *testing.B) {
			for b.Loop() {
				refined, err := p.Refine(values, 10)
				if err != nil {
					b.Fatal(err)
				}
				for i, x := range further {
					if err := refined.Add(x, also[i]); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := refined.Weights(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
