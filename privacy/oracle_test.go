package privacy

import (
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// seeded is a reader that repeats; for tests only.
func seeded(seed uint64) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return rand.NewChaCha8(key)
}

// exactPMF returns the probabilities of the discrete Gaussian at −reach..reach.
func exactPMF(sigma float64, reach int) []float64 {
	p := make([]float64, 2*reach+1)
	total := 0.0
	for i := range p {
		x := float64(i-reach) / sigma
		p[i] = math.Exp(-x * x / 2)
		total += p[i]
	}
	for i := range p {
		p[i] /= total
	}
	return p
}

// chiSquare returns the p-value of counts against probabilities, with cells
// of an expected count below 10 merged into their outer neighbours.
func chiSquare(t *testing.T, counts map[int64]int, pmf []float64, reach int) float64 {
	t.Helper()
	n := 0
	for _, c := range counts {
		n += c
	}
	type cell struct{ observed, expected float64 }
	var cells []cell
	var open cell
	for i, p := range pmf {
		open.observed += float64(counts[int64(i-reach)])
		open.expected += p * float64(n)
		if open.expected >= 10 {
			cells = append(cells, open)
			open = cell{}
		}
	}
	last := &cells[len(cells)-1]
	last.observed += open.observed
	last.expected += open.expected
	inside := 0
	for i := range pmf {
		inside += counts[int64(i-reach)]
	}
	last.observed += float64(n - inside)
	sum := 0.0
	for _, c := range cells {
		sum += (c.observed - c.expected) * (c.observed - c.expected) / c.expected
	}
	return distuv.ChiSquared{K: float64(len(cells) - 1)}.Survival(sum)
}

// exactDelta is the least δ at which x + noise and x + shift + noise, noise with
// this pmf, are (ε, δ)-close on the line.
func exactDelta(pmf []float64, shift int, epsilon float64) float64 {
	delta := 0.0
	for i, p := range pmf {
		other := 0.0
		if j := i - shift; j >= 0 && j < len(pmf) {
			other = pmf[j]
		}
		delta += max(0, p-math.Exp(epsilon)*other)
	}
	return delta
}

// exactRenyi is the Rényi divergence of order alpha of p from q.
func exactRenyi(p, q []float64, alpha float64) float64 {
	sum := 0.0
	for i := range p {
		if p[i] > 0 {
			sum += p[i] * math.Pow(p[i]/q[i], alpha-1)
		}
	}
	return math.Log(sum) / (alpha - 1)
}

func convolve(a, b []float64) []float64 {
	c := make([]float64, len(a)+len(b)-1)
	for i, x := range a {
		for j, y := range b {
			c[i+j] += x * y
		}
	}
	return c
}

func shifted(p []float64, by int) []float64 {
	s := make([]float64, len(p))
	for i := range p {
		if j := i - by; j >= 0 && j < len(p) {
			s[i] = p[j]
		}
	}
	return s
}

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if math.Abs(got-want) > relative*math.Abs(want) || math.IsNaN(got) {
		t.Errorf("%s: %.12g, want %.12g within %g", what, got, want, relative)
	}
}
