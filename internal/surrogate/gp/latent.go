package gp

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/radial"
)

// latentJitter is the variance that is added to values of a Latent, in units of the process. It
// bounds the condition number, also if designs are equal. It is a hundredth of the smallest noise
// of a fit.
const latentJitter = 1e-6

// Latent is a process given its values, without noise, at fixed points. The values are one of
// several draws. Given a draw, the function at any point has a normal distribution. Its variance is
// the same for all draws. A Latent is immutable and safe for concurrent use.
type Latent struct {
	dim      int
	prior    float64 // prior variance of the function
	constant float64 // the part of it that all points share
	centers  *radial.Centers
	chol     *mat.Cholesky // factor of the covariance of the values
	weights  [][]float64   // inverse covariance times the values, by draw
	values   [][]float64
}

// Latent draws the function's values at the observed points, followed by the points of more, for
// example those of pending trials. With one draw, the values are the posterior means instead. Up to
// a jitter of 1e-6 the draws come from the joint posterior, by Matheron's rule, as those of
// [Posterior.Draw]. The cost is that of a new posterior, plus O(t²) for each draw. It panics if
// there are no points at all, or no draws.
func (p *Posterior) Latent(more [][]float64, draws int, rng *rand.Rand) (*Latent, error) {
	count := len(p.x) + len(more)
	if count == 0 || draws < 1 {
		panic("gp: values at no points, or no draws")
	}
	for _, x := range more {
		checkPoint(x, len(p.inverse))
	}
	l := &Latent{
		dim:      len(p.inverse),
		prior:    p.spec.priorVariance(),
		constant: p.spec.meanVariance(),
		centers:  p.centers.Append(more),
	}
	k, kernel := mat.NewSymDense(count, nil), make([]float64, count)
	for i, x := range slices.Concat(p.x, more) {
		l.covariances(kernel, x)
		for j, v := range kernel[:i] {
			k.SetSym(j, i, v)
		}
		k.SetSym(i, i, l.prior)
	}
	covariance := mat.NewSymDense(count, nil)
	covariance.CopySym(k)
	for i := range count {
		k.SetSym(i, i, l.prior+latentJitter)
	}
	var err error
	if l.chol, _, err = factorise(k); err != nil {
		return nil, err
	}
	l.weights, l.values = make([][]float64, draws), make([][]float64, draws)
	for s := range draws {
		l.weights[s] = p.latentWeights(l.chol, draws > 1, rng)
		l.values[s] = make([]float64, count)
		mat.NewVecDense(count, l.values[s]).MulVec(covariance, mat.NewVecDense(count, l.weights[s]))
	}
	return l, nil
}

// latentWeights returns the weights of one draw. With z standard normal and UᵀU the covariance of
// all values, Uᵀz is a draw from the prior, whose weights are U⁻¹z. The weights of its update by
// the observations are those of Draw. Without random numbers only the update remains, which is the
// posterior mean.
func (p *Posterior) latentWeights(chol *mat.Cholesky, random bool, rng *rand.Rand) []float64 {
	count := chol.SymmetricDim()
	weights, update := make([]float64, count), make([]float64, len(p.y))
	copy(update, p.y)
	if random {
		for i := range weights {
			weights[i] = rng.NormFloat64()
		}
		prior := slices.Clone(weights)
		u := chol.RawU().(mat.RawTriangular).RawTriangular()
		blas64.Trmv(blas.Trans, u, linalg.Vector(prior))
		solveTriangular(chol, blas.NoTrans, weights)
		for i := range update {
			update[i] -= prior[i] + math.Sqrt(p.noise[i])*rng.NormFloat64()
		}
	}
	p.solve(update)
	for i, v := range update {
		weights[i] += v
	}
	return weights
}

// Draws returns the number of draws.
func (l *Latent) Draws() int { return len(l.values) }

// Values returns the values of a draw at the points. The caller must not change them.
func (l *Latent) Values(draw int) []float64 { return l.values[draw] }

// Predict fills means (one per draw) with the mean at x (length d) given each draw, and returns the
// variance given the values, which is the same for all. It panics on wrong lengths.
func (l *Latent) Predict(means, x []float64) (variance float64) {
	checkPoint(x, l.dim)
	cross := make([]float64, l.centers.Len())
	l.covariances(cross, x)
	for s := range means {
		means[s] = linalg.Dot(l.weights[s], cross)
	}
	solveTriangular(l.chol, blas.Trans, cross)
	return max(l.prior-linalg.Dot(cross, cross), 0)
}

// Gradient fills grad (length d) with the gradient at x of a weighted sum of the means and the
// variance that Predict returns. byMean has a weight for each draw. It panics on wrong lengths.
func (l *Latent) Gradient(grad, byMean []float64, byVariance float64, x []float64) {
	checkPoint(x, l.dim)
	all := make([]float64, l.centers.Len())
	l.covariances(all, x)
	solveTriangular(l.chol, blas.Trans, all)
	if l.prior-linalg.Dot(all, all) < 0 { // Predict returns the constant 0 there
		byVariance = 0
	}
	solveTriangular(l.chol, blas.NoTrans, all)
	for i := range all {
		all[i] *= -2 * byVariance
	}
	for s, weight := range byMean {
		linalg.AddScaled(all, weight, l.weights[s])
	}
	l.centers.Sum(all).Gradient(grad, x)
}

// covariances fills dst with the prior covariances between the function at x and at each point.
func (l *Latent) covariances(dst, x []float64) {
	l.centers.Kernel(dst, x)
	for i := range dst {
		dst[i] += l.constant
	}
}

// solveTriangular multiplies v by U⁻ᵀ or, not transposed, by U⁻¹ of a Cholesky factor, in place.
func solveTriangular(chol *mat.Cholesky, t blas.Transpose, v []float64) {
	u := chol.RawU().(mat.RawTriangular).RawTriangular()
	blas64.Trsv(t, u, linalg.Vector(v))
}
