package rff

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/random"
)

// The evidence against the normal density by its plain formula, for matrices
// small and large enough for the blocks of the tridiagonal reduction.
func TestEvidenceIsTheNormalDensity(t *testing.T) {
	for _, size := range []struct{ features, t int }{{8, 3}, {8, 8}, {8, 20}, {200, 90}, {90, 200}, {120, 120}} {
		rng := random.SeedOf(uint64(size.t)).Stream("t", 0)
		m := newTestMap(t, Spec{Kernel: Matern52, Features: size.features, Lengthscales: []float64{0.2, 0.5}}, 1)
		x, y := uniformPoints(size.t, 2, rng), normals(size.t, rng)
		e, err := NewEvidence(m, x, y)
		if err != nil {
			t.Fatal(err)
		}
		for _, variances := range [][2]float64{{1, 1e-4}, {1, 0.1}, {3, 0.02}, {0.5, 5}} {
			got, err := e.Log(variances[0], variances[1])
			if want := normalDensity(m, x, y, variances[0], variances[1]); err != nil || math.Abs(got-want) > 1e-6*math.Abs(want) {
				t.Errorf("%v, variances %v: log evidence %.9g, %v; want %.9g", size, variances, got, err, want)
			}
		}
	}
}

func normalDensity(m *Map, x [][]float64, y []float64, v, noise float64) float64 {
	covariance := mat.NewSymDense(len(x), nil)
	for i := range x {
		for j := range i + 1 {
			covariance.SetSym(j, i, v*linalg.Dot(m.Phi(nil, x[i]), m.Phi(nil, x[j])))
		}
		covariance.SetSym(i, i, covariance.At(i, i)+noise)
	}
	var chol mat.Cholesky
	var solved mat.VecDense
	target := mat.NewVecDense(len(y), y)
	if !chol.Factorize(covariance) {
		return math.NaN()
	}
	if err := chol.SolveVecTo(&solved, target); err != nil && !errors.As(err, new(mat.Condition)) {
		return math.NaN()
	}
	return -0.5 * (mat.Dot(target, &solved) + chol.LogDet() + float64(len(y))*math.Log(2*math.Pi))
}
