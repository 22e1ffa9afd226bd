package rff

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/linalg"
)

// ErrNotFinite reports that an observation is NaN or infinite.
var ErrNotFinite = errors.New("observation is not finite")

// Posterior is the Bayesian linear model y = phi(x)·w + e with w ~ N(0, vI) and
// e ~ N(0, noise), conditioned on t observations:
//
//	Sigma = PhiᵀPhi + (noise/v) I,  w | y ~ N(Sigma⁻¹Phiᵀy, noise Sigma⁻¹)
//
// (Dai, Low and Jaillet 2020, equations 2 and 3, with v = 1 in the paper). Phi has one row phi(x)
// for each observation. The model has two forms:
//
//   - dual, for t < M: it factorises the t×t matrix PhiPhiᵀ + (noise/v) I and draws by Matheron's
//     rule, which gives the same distribution in O(t² + tM) per draw.
//   - primal, for t >= M: it factorises Sigma, and its memory is O(M²) for any t.
//
// A Posterior is immutable and safe for concurrent use.
type Posterior struct {
	m        *Map
	v, noise float64
	count    int     // t
	u        *factor // factor of PhiPhiᵀ + (noise/v) I in the dual form, and of Sigma in the primal
	mean     []float64
	dual     *dualForm // nil in the primal form
	moment   []float64 // Phiᵀy in the primal form, else nil
}

// dualForm holds the data of the dual form. A Posterior and those that Extend derives from it share
// the rows.
type dualForm struct {
	rows [][]float64 // Phi: t rows of M
	y    []float64   // t
}

// NewPosterior conditions the model on observations y (length t >= 1) at the points x (t rows of
// d). v is the prior variance of each weight. It is also the prior variance of the function at every
// point, unless m has a constant feature. noise is the variance of an observation's error. Both must
// be positive. NewPosterior does not keep x and y.
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
	p := &Posterior{m: m, v: v, noise: noise, count: len(y)}
	var err error
	if dual {
		phi := m.rows(x)
		p.dual = &dualForm{rows: slices.Collect(slices.Chunk(phi, m.features)), y: slices.Clone(y)}
		p.u, err = factorise(between(phi, p.count, m.features), p.count, noise/v)
	} else {
		var gram []float64
		gram, p.moment = productSums(m, x, y)
		p.u, err = factorise(gram, m.features, noise/v)
	}
	if err != nil {
		return nil, err
	}
	p.setMean()
	return p, nil
}

// setMean computes the posterior mean from the factor and the outputs.
func (p *Posterior) setMean() {
	if p.dual == nil {
		p.mean = slices.Clone(p.moment)
		p.u.solve(p.mean)
		return
	}
	alpha := slices.Clone(p.dual.y)
	p.u.solve(alpha)
	p.mean = make([]float64, p.m.features)
	p.dual.combine(p.mean, 1, alpha)
}

// combine adds scale·Phiᵀ·by to dst.
func (f *dualForm) combine(dst []float64, scale float64, by []float64) {
	for i, row := range f.rows {
		linalg.AddScaled(dst, scale*by[i], row)
	}
}

// products fills dst with Phi·w.
func (f *dualForm) products(dst, w []float64) {
	for i, row := range f.rows {
		dst[i] = linalg.Dot(row, w)
	}
}

// borrow returns memory for one prediction; the caller returns it to p.m.scratch.
func (p *Posterior) borrow() *workspace {
	if p.dual == nil {
		return p.m.borrow(0)
	}
	return p.m.borrow(p.count)
}

// Len returns the number of observations, t.
func (p *Posterior) Len() int { return p.count }

// Noise returns the variance of an observation's error.
func (p *Posterior) Noise() float64 { return p.noise }

// Mean returns the posterior mean of the weights, length M.
func (p *Posterior) Mean() []float64 { return slices.Clone(p.mean) }

// Predict returns the posterior mean and variance of phi(x)·w at x (length d),
// without the noise of an observation.
func (p *Posterior) Predict(x []float64) (mean, variance float64) {
	s := p.borrow()
	defer p.m.scratch.Put(s)
	p.m.Phi(s.phi, x)
	return linalg.Dot(s.phi, p.mean), p.variance(s)
}

// variance returns the posterior variance at the point whose features are in s.phi.
func (p *Posterior) variance(s *workspace) float64 {
	if p.dual != nil {
		p.dual.products(s.cross, s.phi)
		p.u.half(s.cross)
		return max(p.v*(linalg.Dot(s.phi, s.phi)-linalg.Dot(s.cross, s.cross)), 0)
	}
	copy(s.solved, s.phi)
	p.u.half(s.solved)
	return p.noise * linalg.Dot(s.solved, s.solved)
}

// PredictGradient returns the same as Predict. It also fills meanGradient and varianceGradient
// (length d each) with the gradients of mean and variance at x.
func (p *Posterior) PredictGradient(meanGradient, varianceGradient, x []float64) (mean, variance float64) {
	s := p.borrow()
	defer p.m.scratch.Put(s)
	p.m.Phi(s.phi, x)
	variance = p.variance(s)
	// The variance is phiᵀC phi with the covariance C of the weights. Its gradient is therefore
	// twice the gradient of phi·w for fixed w = C phi.
	if p.dual != nil {
		copy(s.solved, s.phi)
		p.u.back(s.cross)
		p.dual.combine(s.solved, -1, s.cross)
	} else {
		p.u.back(s.solved)
	}
	scale := 2 * p.v
	if p.dual == nil {
		scale = 2 * p.noise
	}
	meanGradient, varianceGradient = meanGradient[:p.m.dim], varianceGradient[:p.m.dim]
	p.m.pullBack(meanGradient, p.mean, s.phi, x)
	p.m.pullBack(varianceGradient, s.solved, s.phi, x)
	for k := range varianceGradient {
		varianceGradient[k] *= scale
	}
	return linalg.Dot(s.phi, p.mean), variance
}

// Weights returns a draw of w (length M) from the posterior.
func (p *Posterior) Weights(rng *rand.Rand) []float64 {
	z := make([]float64, p.normals())
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	return p.transform(z)
}

// normals returns the number of standard normal numbers that transform needs.
func (p *Posterior) normals() int {
	if p.dual != nil {
		return p.m.features + p.count
	}
	return p.m.features
}

// transform converts independent standard normal numbers z to a posterior draw of w. It overwrites
// z.
func (p *Posterior) transform(z []float64) []float64 {
	if p.dual != nil {
		return p.matheron(z[:p.m.features:p.m.features], z[p.m.features:])
	}
	p.u.back(z)
	sd := math.Sqrt(p.noise)
	for i := range z {
		z[i] = p.mean[i] + sd*z[i]
	}
	return z
}

// matheron converts a prior draw of the weights to a posterior draw by Matheron's rule. It corrects
// the prior draw by the residuals at the observations, each with a draw of its error. prior and
// errors hold standard normal numbers, and matheron overwrites both.
func (p *Posterior) matheron(prior, errors []float64) []float64 {
	scale, sd := math.Sqrt(p.v), math.Sqrt(p.noise)
	for i := range prior {
		prior[i] *= scale
	}
	for i, row := range p.dual.rows {
		errors[i] = p.dual.y[i] - linalg.Dot(row, prior) - sd*errors[i]
	}
	p.u.solve(errors)
	p.dual.combine(prior, 1, errors)
	return prior
}

func checkObservations(m *Map, x [][]float64, y []float64) error {
	if len(x) == 0 {
		return errors.New("no observations")
	}
	if len(x) != len(y) {
		return fmt.Errorf("%d points but %d outputs", len(x), len(y))
	}
	for i, point := range x {
		if err := checkObservation(m, i, point, y[i]); err != nil {
			return err
		}
	}
	return nil
}

func checkObservation(m *Map, i int, x []float64, y float64) error {
	if len(x) != m.dim {
		return fmt.Errorf("point %d has %d coordinates: the map takes %d", i, len(x), m.dim)
	}
	finite := !math.IsNaN(y) && !math.IsInf(y, 0)
	for _, value := range x {
		finite = finite && !math.IsNaN(value) && !math.IsInf(value, 0)
	}
	if !finite {
		return fmt.Errorf("%w: number %d", ErrNotFinite, i)
	}
	return nil
}

func checkVariances(v, noise float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("prior variance %g: must be positive and finite", v)
	}
	if !(noise > 0) || math.IsInf(noise, 1) {
		return fmt.Errorf("noise %g: must be positive and finite", noise)
	}
	return nil
}
