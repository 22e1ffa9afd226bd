package rff

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/random"
)

// The kernels whose spectral density is known here.
const (
	Matern52 = "matern52"
	SE       = "se" // squared exponential
)

// Spec says which features to derive.
type Spec struct {
	Kernel       string    // Matern52 or SE
	Features     int       // M: even, at least 2
	Lengthscales []float64 // one per encoded coordinate, positive and finite
}

func (s Spec) validate() error {
	if s.Kernel != Matern52 && s.Kernel != SE {
		return fmt.Errorf("rff: kernel %q: must be %q or %q", s.Kernel, Matern52, SE)
	}
	if s.Features < 2 || s.Features%2 != 0 {
		return fmt.Errorf("rff: features %d: must be even and at least 2", s.Features)
	}
	if len(s.Lengthscales) == 0 {
		return fmt.Errorf("rff: lengthscales: one is needed for every coordinate, have none")
	}
	for i, l := range s.Lengthscales {
		if !(l > 0) || math.IsInf(l, 1) {
			return fmt.Errorf("rff: lengthscale %g of coordinate %d: must be positive and finite", l, i)
		}
	}
	return nil
}

// Map is a feature map phi from d coordinates to M features with
// phi(x)·phi(x) = 1 and phi(x)·phi(y) near the kernel k(x, y). It is immutable
// and safe for concurrent use.
type Map struct {
	dim         int
	features    int
	frequencies []float64 // features/2 rows of dim, row-major
	amplitude   float64   // sqrt(2/M)
}

// NewMap derives the features of spec from seed. The frequencies are the same
// bits on every machine.
func NewMap(seed random.Seed, spec Spec) (*Map, error) {
	if err := spec.validate(); err != nil {
		return nil, err
	}
	rng := seed.Stream("frequencies", 0)
	return &Map{
		dim:         len(spec.Lengthscales),
		features:    spec.Features,
		frequencies: frequencies(spec.Kernel, spec.Features/2, spec.Lengthscales, rng),
		amplitude:   math.Sqrt(2 / float64(spec.Features)),
	}, nil
}

// Features returns M, the length of phi(x) and of a vector of weights.
func (m *Map) Features() int { return m.features }

// Dim returns d, the number of coordinates of a point.
func (m *Map) Dim() int { return m.dim }

// Frequencies returns a copy of the M/2 frequencies, row-major with d columns.
func (m *Map) Frequencies() []float64 {
	return append([]float64(nil), m.frequencies...)
}

// Phi fills dst (length M, allocated when nil) with the features of x (length
// d) and returns it. Frequency i gives features 2i and 2i+1, its cosine and its
// sine. Panics on a wrong length.
func (m *Map) Phi(dst, x []float64) []float64 {
	if dst == nil {
		dst = make([]float64, m.features)
	}
	m.checkLengths("features", len(dst), x)
	for i := range m.features / 2 {
		sin, cos := math.Sincos(m.phase(i, x))
		dst[2*i] = m.amplitude * cos
		dst[2*i+1] = m.amplitude * sin
	}
	return dst
}

func (m *Map) phase(i int, x []float64) float64 {
	phase := 0.0
	for k, s := range m.frequencies[i*m.dim : (i+1)*m.dim] {
		phase += s * x[k]
	}
	return phase
}

func (m *Map) checkLengths(what string, length int, x []float64) {
	if length != m.features {
		panic(fmt.Sprintf("rff: %d %s: the map has %d features", length, what, m.features))
	}
	if len(x) != m.dim {
		panic(fmt.Sprintf("rff: point of %d coordinates: the map takes %d", len(x), m.dim))
	}
}

// matrix returns the features of the points, one row each.
func (m *Map) matrix(points [][]float64) *mat.Dense {
	phi := mat.NewDense(len(points), m.features, nil)
	for i, x := range points {
		m.Phi(phi.RawRowView(i), x)
	}
	return phi
}
