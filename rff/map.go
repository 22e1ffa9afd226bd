package rff

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/fbo-node/fbo/internal/fourier"
	"github.com/fbo-node/fbo/internal/radial"
	"github.com/fbo-node/fbo/internal/random"
)

// The kernels whose spectral density this package implements.
const (
	Matern52 = radial.Matern52
	SE       = radial.SE // squared exponential
)

// Seed is the root seed from which the random frequencies are derived.
type Seed = random.Seed

// Spec defines the features of a Map.
type Spec struct {
	Kernel       string    // Matern52 or SE
	Features     int       // M: even, at least 2
	Lengthscales []float64 // one per encoded coordinate, positive and finite
	Basis        string    // one of the bases below; "" means DefaultBasis

	// Constant is the value of one additional feature that is the same at all points. 0 adds no
	// such feature. The weight of this feature represents an unknown level of the function.
	Constant float64
}

// count returns the number of features, including the constant one.
func (s Spec) count() int {
	if s.Constant == 0 {
		return s.Features
	}
	return s.Features + 1
}

func (s Spec) validate() error {
	if s.Kernel != Matern52 && s.Kernel != SE {
		return fmt.Errorf("kernel %q: must be %q or %q", s.Kernel, Matern52, SE)
	}
	if s.Features < 2 || s.Features%2 != 0 {
		return fmt.Errorf("features %d: must be even and at least 2", s.Features)
	}
	if !(s.Constant >= 0) || math.IsInf(s.Constant, 1) {
		return fmt.Errorf("constant %g: must be at least 0 and finite", s.Constant)
	}
	if len(s.Lengthscales) == 0 {
		return fmt.Errorf("lengthscales: one is needed for every coordinate, have none")
	}
	if err := checkLengthscales(s.Lengthscales); err != nil {
		return err
	}
	if !slices.Contains(bases, s.basis()) {
		return fmt.Errorf("basis %q: must be one of %q", s.Basis, bases)
	}
	return nil
}

func checkLengthscales(lengthscales []float64) error {
	for i, l := range lengthscales {
		if !(l > 0) || math.IsInf(l, 1) {
			return fmt.Errorf("lengthscale %g of coordinate %d: must be positive and finite", l, i)
		}
	}
	return nil
}

func (s Spec) basis() string {
	if s.Basis == "" {
		return DefaultBasis
	}
	return s.Basis
}

// Map is a feature map phi from d coordinates to M features, with phi(x)·phi(x) = 1 and
// phi(x)·phi(y) close to the kernel k(x, y). The constant feature, if there is one, comes last and
// counts towards M; it adds its square to both products. A Map is immutable and safe for concurrent
// use. It derives its frequencies when they are first used: of the maps of a node with hundreds of
// tasks, few are.
type Map struct {
	dim       int
	features  int // M
	varying   int // number of features without the constant one
	constant  float64
	amplitude float64         // sqrt(2/varying)
	derived   func() *waveSet // the same value for all calls
	scratch   *sync.Pool
}

// waveSet holds the frequencies of a Map and what is computed from them.
type waveSet struct {
	frequencies []float64      // rows of dim, row-major
	phases      []float64      // one per frequency in the basis RandomPhase, else nil
	waves       *fourier.Waves // cosines and sines of the frequencies
	square      *fourier.Sum   // in the basis RandomPhase, the sum of squared cosines minus varying/2; else nil
}

// NewMap returns the features of spec, with frequencies derived from seed. The frequencies have the
// same bits on every machine.
func NewMap(seed Seed, spec Spec) (*Map, error) {
	if err := spec.validate(); err != nil {
		return nil, err
	}
	spec.Lengthscales = slices.Clone(spec.Lengthscales)
	dim := len(spec.Lengthscales)
	return &Map{
		dim:       dim,
		features:  spec.count(),
		varying:   spec.Features,
		constant:  spec.Constant,
		amplitude: math.Sqrt(2 / float64(spec.Features)),
		derived: sync.OnceValue(func() *waveSet {
			frequencies, phases := derive(spec, seed.Stream("frequencies", 0))
			return newWaveSet(dim, frequencies, phases)
		}),
		scratch: &sync.Pool{New: func() any { return new(workspace) }},
	}, nil
}

func newWaveSet(dim int, frequencies, phases []float64) *waveSet {
	s := &waveSet{frequencies: frequencies, phases: phases, waves: fourier.NewWaves(dim, frequencies)}
	if phases != nil {
		s.square = squares(dim, frequencies, phases)
	}
	return s
}

// Rescaled returns a map whose lengthscales are those of m times the given factors, one factor for
// each coordinate. It takes much less time than NewMap.
func (m *Map) Rescaled(factors []float64) (*Map, error) {
	if len(factors) != m.dim {
		return nil, fmt.Errorf("%d lengthscales: the map takes %d coordinates", len(factors), m.dim)
	}
	if err := checkLengthscales(factors); err != nil {
		return nil, err
	}
	next, factors := *m, slices.Clone(factors)
	next.scratch = &sync.Pool{New: func() any { return new(workspace) }}
	next.derived = sync.OnceValue(func() *waveSet {
		frequencies := slices.Clone(m.derived().frequencies)
		for i := range frequencies {
			frequencies[i] /= factors[i%m.dim]
		}
		return newWaveSet(m.dim, frequencies, m.derived().phases)
	})
	return &next, nil
}

// Features returns M, the length of phi(x) and of a vector of weights.
func (m *Map) Features() int { return m.features }

// Dim returns d, the number of coordinates of a point.
func (m *Map) Dim() int { return m.dim }

// Frequencies returns a copy of the frequencies, row-major with d columns. It has M rows in the
// basis RandomPhase and M/2 rows in the other bases, without the constant feature.
func (m *Map) Frequencies() []float64 { return slices.Clone(m.derived().frequencies) }

// Phases returns a copy of the M phases of the basis RandomPhase, in [0, 2 pi). It returns nil for
// the other bases.
func (m *Map) Phases() []float64 { return slices.Clone(m.derived().phases) }

// Phi fills dst (length M, allocated if nil) with the features of x (length d) and returns dst.
// Features 2i and 2i+1 are the cosine and the sine of frequency i. In the basis RandomPhase,
// feature i belongs to frequency i. The constant feature is the last. Phi panics on a wrong length.
func (m *Map) Phi(dst, x []float64) []float64 {
	if dst == nil {
		dst = make([]float64, m.features)
	}
	m.checkLengths("features", len(dst), x)
	if m.varying < m.features {
		dst[m.varying] = m.constant
	}
	s := m.derived()
	if s.phases != nil {
		s.shifted(dst[:m.varying], x)
		return dst
	}
	waves := dst[:m.varying]
	s.waves.Features(waves, x)
	for i := range waves {
		waves[i] *= m.amplitude
	}
	return dst
}

// pullBack fills grad with the gradient at x of phi(x)·w for fixed w. The argument phi must be
// phi(x), which saves the evaluation of cosines.
func (m *Map) pullBack(grad, w, phi, x []float64) {
	clear(grad)
	set := m.derived()
	if set.phases != nil {
		set.pullBackShifted(grad, w, phi[:m.varying], x)
		return
	}
	for i := range m.varying / 2 {
		slope := w[2*i+1]*phi[2*i] - w[2*i]*phi[2*i+1]
		for k, s := range set.frequencies[i*m.dim : (i+1)*m.dim] {
			grad[k] += slope * s
		}
	}
}

// gather returns Phiᵀ·values (length M) for points, which are row-major with d columns. prepared
// holds the waves of the same points. The product s·x of a frequency s and a point x is symmetric.
// Therefore a sum over points at one frequency is a sum of waves that has the points as its
// frequencies, and gather neither computes nor stores features.
func (m *Map) gather(points []float64, prepared *fourier.Waves, values []float64) []float64 {
	s, count := m.derived(), len(values)
	weights := make([]float64, 2*count)
	scaled := values
	if s.phases != nil {
		scaled = make([]float64, count)
		s.square.Values(scaled, points)
		for i, v := range values {
			scaled[i] = v / math.Sqrt(m.squareOf(scaled[i]))
		}
	}
	for i, v := range scaled {
		weights[2*i] = v
	}
	rows := len(s.frequencies) / m.dim
	cos, sin := make([]float64, rows), make([]float64, rows)
	prepared.Sum(weights).Values(cos, s.frequencies)
	for i, v := range scaled {
		weights[2*i], weights[2*i+1] = 0, v
	}
	prepared.Sum(weights).Values(sin, s.frequencies)
	w := make([]float64, m.features)
	if m.varying < m.features {
		for _, v := range values {
			w[m.varying] += m.constant * v
		}
	}
	if s.phases != nil {
		for i, b := range s.phases {
			w[i] = math.Cos(b)*cos[i] - math.Sin(b)*sin[i]
		}
		return w
	}
	for i := range rows {
		w[2*i], w[2*i+1] = m.amplitude*cos[i], m.amplitude*sin[i]
	}
	return w
}

// rows returns the features of the points in one slice, M numbers for each point.
func (m *Map) rows(points [][]float64) []float64 {
	phi := make([]float64, len(points)*m.features)
	for i, x := range points {
		m.Phi(phi[i*m.features:(i+1)*m.features], x)
	}
	return phi
}

func (m *Map) checkLengths(what string, length int, x []float64) {
	if length != m.features {
		panic(fmt.Sprintf("rff: %d %s: the map has %d features", length, what, m.features))
	}
	if len(x) != m.dim {
		panic(fmt.Sprintf("rff: point of %d coordinates: the map takes %d", len(x), m.dim))
	}
}

// workspace is the memory of one prediction; later predictions reuse it.
type workspace struct{ phi, solved, cross []float64 }

// borrow returns a workspace for M features and t observations; the caller returns it to m.scratch.
func (m *Map) borrow(t int) *workspace {
	s := m.scratch.Get().(*workspace)
	if s.phi == nil {
		s.phi, s.solved = make([]float64, m.features), make([]float64, m.features)
	}
	s.cross = slices.Grow(s.cross[:0], t)[:t]
	return s
}
