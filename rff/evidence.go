package rff

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Evidence computes the log marginal likelihood of one set of observations for
// several variances; the products of features are formed once.
type Evidence struct {
	t, features int
	dual        bool
	gram        *mat.SymDense
	moment      *mat.VecDense // y when dual, else Phiᵀy
	square      float64       // y·y
}

// NewEvidence prepares the evidence of observations y (length t >= 1) at the
// points x (t rows of d).
func NewEvidence(m *Map, x [][]float64, y []float64) (*Evidence, error) {
	return newEvidence(m, x, y, len(x) < m.features)
}

func newEvidence(m *Map, x [][]float64, y []float64, dual bool) (*Evidence, error) {
	if err := checkObservations(m, x, y); err != nil {
		return nil, err
	}
	phi := m.matrix(x)
	target := mat.NewVecDense(len(y), append([]float64(nil), y...))
	e := &Evidence{t: len(y), features: m.features, dual: dual, gram: gram(phi, dual), moment: target}
	e.square = mat.Dot(target, target)
	if !dual {
		e.moment = mat.NewVecDense(m.features, nil)
		e.moment.MulVec(phi.T(), target)
	}
	return e, nil
}

// Log returns log N(y; 0, v PhiPhiᵀ + noise I), in O(min(t, M)³).
func (e *Evidence) Log(v, noise float64) (float64, error) {
	if err := checkVariances(v, noise); err != nil {
		return 0, err
	}
	g := mat.NewSymDense(e.gram.SymmetricDim(), nil)
	g.CopySym(e.gram)
	chol, err := factorise(g, noise/v)
	if err != nil {
		return 0, err
	}
	var solved mat.VecDense
	if err := solve(chol, &solved, e.moment); err != nil {
		return 0, err
	}
	quadratic := mat.Dot(e.moment, &solved) / v
	logDet := chol.LogDet() + float64(e.t)*math.Log(v)
	if !e.dual {
		// The lemmas of Woodbury and Sylvester, to pass from t×t to M×M.
		quadratic = (e.square - mat.Dot(e.moment, &solved)) / noise
		logDet = chol.LogDet() + float64(e.features)*math.Log(v) + float64(e.t-e.features)*math.Log(noise)
	}
	return -0.5 * (quadratic + logDet + float64(e.t)*math.Log(2*math.Pi)), nil
}

// LogEvidence returns the log marginal likelihood of observations y at the
// points x under prior variance v and noise. Use [Evidence] to try several.
func LogEvidence(m *Map, x [][]float64, y []float64, v, noise float64) (float64, error) {
	e, err := NewEvidence(m, x, y)
	if err != nil {
		return 0, err
	}
	return e.Log(v, noise)
}
