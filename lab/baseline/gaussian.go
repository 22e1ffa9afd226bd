package baseline

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// gaussian is a multivariate normal distribution.
type gaussian struct {
	mean       *mat.VecDense
	covariance *mat.SymDense
}

// The jitter that allows a singular covariance to be factorised, in units of its mean diagonal.
const (
	minJitter = 1e-10
	maxJitter = 1e-4
)

// draw returns count independent draws, one row each.
func (g *gaussian) draw(count int, rng *rand.Rand) (*mat.Dense, error) {
	n := g.mean.Len()
	factor, err := g.factor()
	if err != nil {
		return nil, err
	}
	draws := mat.NewDense(count, n, nil)
	data := draws.RawMatrix()
	for i := range data.Data {
		data.Data[i] = rng.NormFloat64()
	}
	blas64.Trmm(blas.Right, blas.NoTrans, 1, factor, data)
	for s := range count {
		row := draws.RawRowView(s)
		for i := range row {
			row[i] += g.mean.AtVec(i)
		}
	}
	return draws, nil
}

// factor returns an upper triangular U with UᵀU = covariance.
func (g *gaussian) factor() (blas64.Triangular, error) {
	n := g.mean.Len()
	scale := math.Abs(mat.Trace(g.covariance)) / float64(n)
	k := mat.NewSymDense(n, nil)
	for jitter := minJitter; jitter <= maxJitter; jitter *= 10 {
		k.CopySym(g.covariance)
		for i := range n {
			// A covariance that is zero up to rounding needs a factor too.
			k.SetSym(i, i, k.At(i, i)+jitter*max(scale, minJitter))
		}
		var chol mat.Cholesky
		if chol.Factorize(k) {
			return chol.RawU().(mat.RawTriangular).RawTriangular(), nil
		}
	}
	return blas64.Triangular{}, gp.ErrNotPositiveDefinite
}
