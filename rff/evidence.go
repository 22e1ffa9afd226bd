package rff

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/fbo-node/fbo/internal/linalg"
)

// Evidence computes the log marginal likelihood of one set of t observations for many pairs of
// variances. Let n be the smaller of t and M. NewEvidence transforms the n×n matrix of products of
// features to tridiagonal form once, in O(n³). Each pair of variances then costs O(n). An Evidence
// is immutable and safe for concurrent use.
type Evidence struct {
	t, features int
	dual        bool
	diagonal    []float64 // diagonal of QᵀGQ, length n; G is PhiPhiᵀ when dual, else PhiᵀPhi
	off         []float64 // off-diagonal of QᵀGQ, length n-1
	moment      []float64 // Qᵀy when dual, else QᵀPhiᵀy
	square      float64   // y·y
}

// NewEvidence prepares the evidence of observations y (length t >= 1) at the points x (t rows of
// d). It needs memory for t·M numbers if t < M, and for M² numbers otherwise.
func NewEvidence(m *Map, x [][]float64, y []float64) (*Evidence, error) {
	return newEvidence(m, x, y, len(x) < m.features)
}

func newEvidence(m *Map, x [][]float64, y []float64, dual bool) (*Evidence, error) {
	if err := checkObservations(m, x, y); err != nil {
		return nil, err
	}
	e := &Evidence{t: len(y), features: m.features, dual: dual, square: linalg.Dot(y, y)}
	if dual {
		e.moment = append([]float64(nil), y...)
		e.tridiagonalise(between(m.rows(x), e.t, e.features))
		return e, nil
	}
	g, moment := productSums(m, x, y)
	e.moment = moment
	e.tridiagonalise(g)
	return e, nil
}

// tridiagonalise computes an orthogonal matrix Q for which QᵀGQ is tridiagonal, and multiplies the
// moment by Qᵀ. Q is the product of reflections H(0) H(1) ... that LAPACK's DSYTRD stores in the
// columns of g.
func (e *Evidence) tridiagonalise(g []float64) {
	n := len(e.moment)
	for i := range n {
		for j := range i {
			g[i*n+j] = g[j*n+i]
		}
	}
	e.diagonal, e.off = make([]float64, n), make([]float64, n-1)
	scale := make([]float64, n-1)
	work := make([]float64, 1)
	gonum.Implementation{}.Dsytrd(blas.Lower, n, g, n, e.diagonal, e.off, scale, work, -1)
	work = make([]float64, int(work[0]))
	gonum.Implementation{}.Dsytrd(blas.Lower, n, g, n, e.diagonal, e.off, scale, work, len(work))
	for i, tau := range scale {
		along := e.moment[i+1]
		for k := i + 2; k < n; k++ {
			along += g[k*n+i] * e.moment[k]
		}
		along *= tau
		e.moment[i+1] -= along
		for k := i + 2; k < n; k++ {
			e.moment[k] -= along * g[k*n+i]
		}
	}
}

// Log returns log N(y; 0, v PhiPhiᵀ + noise I). Both variances must be positive and finite.
func (e *Evidence) Log(v, noise float64) (float64, error) {
	if err := checkVariances(v, noise); err != nil {
		return 0, err
	}
	logDet, solved, err := e.eliminate(noise / v)
	if err != nil {
		return 0, err
	}
	quadratic := solved / v
	logDet += float64(e.t) * math.Log(v)
	if !e.dual {
		// The Woodbury identity and Sylvester's determinant identity convert M×M results to t×t.
		quadratic = (e.square - solved) / noise
		logDet += float64(e.features-e.t)*math.Log(v) + float64(e.t-e.features)*math.Log(noise)
	}
	return -0.5 * (quadratic + logDet + float64(e.t)*math.Log(2*math.Pi)), nil
}

// eliminate factorises the tridiagonal matrix T + ridge I as LDLᵀ. It returns the logarithm of its
// determinant, and the quadratic form momentᵀ (T + ridge I)⁻¹ moment.
func (e *Evidence) eliminate(ridge float64) (logDet, quadratic float64, err error) {
	below, z := 0.0, 0.0 // contributions of the previous row
	for i, diagonal := range e.diagonal {
		pivot := diagonal + ridge - below
		if !(pivot > 0) {
			return 0, 0, fmt.Errorf("%w: ridge %g is too small", ErrNotPositiveDefinite, ridge)
		}
		z = e.moment[i] - z
		logDet += math.Log(pivot)
		quadratic += z * z / pivot
		if i < len(e.off) {
			ratio := e.off[i] / pivot
			below, z = ratio*e.off[i], ratio*z
		}
	}
	return logDet, quadratic, nil
}

// productSums returns PhiᵀPhi (M×M, upper triangle) and Phiᵀy.
func productSums(m *Map, x [][]float64, y []float64) (gram, moment []float64) {
	moment = make([]float64, m.features)
	gram = among(len(x), m.features, func(phi []float64, i int) {
		m.Phi(phi, x[i])
		linalg.AddScaled(moment, y[i], phi)
	})
	return gram, moment
}
