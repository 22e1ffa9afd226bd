package rff

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// ErrNotFinite says that an observation is NaN or infinite.
var ErrNotFinite = errors.New("rff: observation is not finite")

// ErrNotPositiveDefinite says that a matrix could not be factorised.
var ErrNotPositiveDefinite = errors.New("rff: matrix is not positive definite")

// Posterior is the Bayesian linear model y = phi(x)·w + e with w ~ N(0, vI) and
// e ~ N(0, noise), conditioned on t observations:
//
//	Sigma = PhiᵀPhi + (noise/v) I,  w | y ~ N(Sigma⁻¹Phiᵀy, noise Sigma⁻¹)
//
// (Dai, Low and Jaillet 2020, equations 2 and 3, there with v = 1). For t < M
// it factorises the t×t matrix PhiPhiᵀ + (noise/v) I instead and draws by
// Matheron's rule: the same distribution for O(t³ + tM) a draw. A Posterior is
// immutable and safe for concurrent use.
type Posterior struct {
	m        *Map
	v, noise float64
	dual     bool
	phi      *mat.Dense    // t×M
	y        []float64     // t
	chol     *mat.Cholesky // of the t×t matrix when dual, else of Sigma
	mean     []float64     // M
}

// NewPosterior conditions the model on observations y (length t >= 1) at the
// points x (t rows of d). v is the prior variance of the weights, and of the
// function at every point; noise is the variance of an observation's error;
// both are positive. The inputs are not kept.
func NewPosterior(m *Map, x [][]float64, y []float64, v, noise float64) (*Posterior, error) {
	return newPosterior(m, x, y, v, noise, len(x) < m.features)
}

func newPosterior(m *Map, x [][]float64, y []float64, v, noise float64, dual bool) (*Posterior, error) {
	if err := checkObservations(m, x, y); err != nil {
		return nil, err
	}
	if err := checkVariances(v, noise); err != nil {
		return nil, err
	}
	p := &Posterior{m: m, v: v, noise: noise, dual: dual, phi: m.matrix(x), y: append([]float64(nil), y...)}
	var err error
	if p.chol, err = factorise(gram(p.phi, dual), noise/v); err != nil {
		return nil, err
	}
	p.mean = make([]float64, m.features)
	mean, target := mat.NewVecDense(m.features, p.mean), mat.NewVecDense(len(y), p.y)
	if dual {
		var alpha mat.VecDense
		if err := solve(p.chol, &alpha, target); err != nil {
			return nil, err
		}
		mean.MulVec(p.phi.T(), &alpha)
		return p, nil
	}
	var moment mat.VecDense
	moment.MulVec(p.phi.T(), target)
	return p, solve(p.chol, mean, &moment)
}

// Mean returns the posterior mean of the weights, length M.
func (p *Posterior) Mean() []float64 { return append([]float64(nil), p.mean...) }

// Predict returns the posterior mean and variance of phi(x)·w, without the
// noise of an observation.
func (p *Posterior) Predict(x []float64) (mean, variance float64) {
	phi := mat.NewVecDense(p.m.features, p.m.Phi(nil, x))
	mean = mat.Dot(phi, mat.NewVecDense(p.m.features, p.mean))
	var solved mat.VecDense
	if p.dual {
		var cross mat.VecDense
		cross.MulVec(p.phi, phi)
		must(solve(p.chol, &solved, &cross))
		variance = p.v * (mat.Dot(phi, phi) - mat.Dot(&cross, &solved))
	} else {
		must(solve(p.chol, &solved, phi))
		variance = p.noise * mat.Dot(phi, &solved)
	}
	return mean, max(variance, 0)
}

// Weights returns a draw of w, length M.
func (p *Posterior) Weights(rng *rand.Rand) []float64 {
	z := make([]float64, p.normals())
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	return p.transform(z)
}

// normals is how many standard normal numbers a draw takes.
func (p *Posterior) normals() int {
	if p.dual {
		return p.m.features + len(p.y)
	}
	return p.m.features
}

// transform turns standard normal numbers into a draw of w. It alters z.
func (p *Posterior) transform(z []float64) []float64 {
	if p.dual {
		return p.matheron(z[:p.m.features], z[p.m.features:])
	}
	// Sigma = UᵀU, so U⁻¹z has covariance Sigma⁻¹.
	u := p.chol.RawU().(mat.RawTriangular).RawTriangular()
	blas64.Trsv(blas.NoTrans, u, blas64.Vector{N: len(z), Data: z, Inc: 1})
	sd := math.Sqrt(p.noise)
	for i := range z {
		z[i] = p.mean[i] + sd*z[i]
	}
	return z
}

// matheron takes a draw from the prior, made of prior, and moves it by what the
// observations say against it.
func (p *Posterior) matheron(prior, errors []float64) []float64 {
	w := mat.NewVecDense(len(prior), prior)
	w.ScaleVec(math.Sqrt(p.v), w)
	var residual, solved, update mat.VecDense
	residual.MulVec(p.phi, w)
	sd := math.Sqrt(p.noise)
	for i, y := range p.y {
		residual.SetVec(i, y-residual.AtVec(i)-sd*errors[i])
	}
	must(solve(p.chol, &solved, &residual))
	update.MulVec(p.phi.T(), &solved)
	w.AddVec(w, &update)
	return prior
}

func checkObservations(m *Map, x [][]float64, y []float64) error {
	if len(x) == 0 {
		return errors.New("rff: no observations")
	}
	if len(x) != len(y) {
		return fmt.Errorf("rff: %d points but %d outputs", len(x), len(y))
	}
	for i, row := range x {
		if len(row) != m.dim {
			return fmt.Errorf("rff: point %d has %d coordinates: the map takes %d", i, len(row), m.dim)
		}
		for _, value := range append([]float64{y[i]}, row...) {
			if math.IsNaN(value) || math.IsInf(value, 0) {
				return fmt.Errorf("%w: number %d", ErrNotFinite, i)
			}
		}
	}
	return nil
}

func checkVariances(v, noise float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("rff: prior variance %g: must be positive and finite", v)
	}
	if !(noise > 0) || math.IsInf(noise, 1) {
		return fmt.Errorf("rff: noise %g: must be positive and finite", noise)
	}
	return nil
}

// gram returns PhiPhiᵀ when dual, else PhiᵀPhi. The transpose is copied because
// gonum's symmetric product is fastest along rows.
func gram(phi *mat.Dense, dual bool) *mat.SymDense {
	if !dual {
		phi = mat.DenseCopyOf(phi.T())
	}
	var product mat.SymDense
	product.SymOuterK(1, phi)
	return &product
}

// factorise returns the Cholesky factor of g + ridge I. It alters g.
func factorise(g *mat.SymDense, ridge float64) (*mat.Cholesky, error) {
	for i := range g.SymmetricDim() {
		g.SetSym(i, i, g.At(i, i)+ridge)
	}
	var chol mat.Cholesky
	if !chol.Factorize(g) {
		return nil, fmt.Errorf("%w: ridge %g is too small", ErrNotPositiveDefinite, ridge)
	}
	return &chol, nil
}

// solve ignores gonum's warning about the condition: the solution is computed
// all the same, and the ridge bounds its error.
func solve(chol *mat.Cholesky, dst, b *mat.VecDense) error {
	err := chol.SolveVecTo(dst, b)
	var condition mat.Condition
	if errors.As(err, &condition) {
		return nil
	}
	return err
}

// must is for solves with a factor that was checked when it was made.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
