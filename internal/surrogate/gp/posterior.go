package gp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/radial"
)

// Posterior is the process conditioned on observations. It is immutable and safe for concurrent
// use.
type Posterior struct {
	spec     Spec
	h        Hyperparameters
	inverse  []float64 // 1/lengthscale of each coordinate
	x        [][]float64
	y        []float64
	noise    []float64              // noise variance of each observation
	centers  *radial.Centers        // the points x
	chol     *mat.Cholesky          // factor of K + noise; nil without observations
	inverted func() *linalg.Inverse // inverse of the factor, computed at the first prediction; nil without observations
	memory   *sync.Pool             // of *[]float64, for predictions
	jittered bool                   // whether the diagonal contains jitter in addition to the noise
	mean     *radial.Sum            // (K + noise I)⁻¹ y as weights of kernels at the points x
	constant float64                // contribution of the unknown mean to the posterior mean
}

// NewPosterior conditions the process on outputs y (length t, which may be 0) at the points x (t
// rows). It copies the inputs. Points may be equal.
func NewPosterior(spec Spec, x [][]float64, y []float64, h Hyperparameters) (*Posterior, error) {
	noise := make([]float64, len(x))
	for i := range noise {
		noise[i] = h.Noise
	}
	return NewUnequalPosterior(spec, x, y, h, noise)
}

// NewUnequalPosterior conditions the process on outputs with one noise variance each (noise has
// length t, all positive). Observations that Extend adds later have the noise of h.
func NewUnequalPosterior(spec Spec, x [][]float64, y []float64, h Hyperparameters, noise []float64) (*Posterior, error) {
	if err := checkObservations(spec, x, y); err != nil {
		return nil, err
	}
	if err := h.validate(spec); err != nil {
		return nil, err
	}
	if err := checkNoise(noise, len(x)); err != nil {
		return nil, err
	}
	p := &Posterior{
		spec:    spec.clone(),
		h:       Hyperparameters{Lengthscales: slices.Clone(h.Lengthscales), Noise: h.Noise, Prior: h.Prior},
		inverse: make([]float64, len(spec.Groups)),
		x:       linalg.Clone(x),
		noise:   slices.Clone(noise),
	}
	for i, g := range spec.Groups {
		p.inverse[i] = 1 / h.Lengthscales[g]
	}
	p.memory = &sync.Pool{New: func() any { return new([]float64) }}
	p.centers = radial.NewCenters(p.spec.Kernel, p.inverse, p.x)
	if err := p.factorise(); err != nil {
		return nil, err
	}
	p.condition(y)
	return p, nil
}

// factorise computes the factor of K + noise. Without observations the factor stays nil.
func (p *Posterior) factorise() (err error) {
	if len(p.x) == 0 {
		return nil
	}
	k := mat.NewSymDense(len(p.x), nil)
	for i, x := range p.x {
		for j, v := range p.covariances(nil, x)[:i] {
			k.SetSym(j, i, v)
		}
		k.SetSym(i, i, p.spec.priorVariance()+p.noise[i])
	}
	if p.chol, p.jittered, err = factorise(k); err == nil {
		p.inverted = invertLazily(p.chol)
	}
	return err
}

// invertLazily returns a function that computes the inverse of a factor at its first call.
func invertLazily(chol *mat.Cholesky) func() *linalg.Inverse {
	return sync.OnceValue(func() *linalg.Inverse {
		return linalg.NewInverse(chol.RawU().(mat.RawTriangular).RawTriangular())
	})
}

// Extend returns the posterior given more observations with the same hyperparameters. Up to
// rounding, the result equals NewPosterior(spec, x, y, h). The first points of x must be the points
// of p, but all outputs may differ, for example after another standardisation. Each additional
// point costs O(t²). p does not change.
func (p *Posterior) Extend(x [][]float64, y []float64) (*Posterior, error) {
	return p.ExtendUnequal(x, y, slices.Repeat([]float64{p.h.Noise}, max(len(x)-len(p.x), 0)))
}

// ExtendUnequal is Extend with a noise variance for each additional observation.
func (p *Posterior) ExtendUnequal(x [][]float64, y, noise []float64) (*Posterior, error) {
	if err := checkObservations(p.spec, x, y); err != nil {
		return nil, err
	}
	if !p.begins(x) {
		return NewPosterior(p.spec, x, y, p.h)
	}
	more := x[len(p.x):]
	if err := checkNoise(noise, len(more)); err != nil {
		return nil, err
	}
	anew := func() (*Posterior, error) {
		return NewUnequalPosterior(p.spec, x, y, p.h, slices.Concat(p.noise, noise))
	}
	if p.jittered || len(p.x) == 0 {
		return anew()
	}
	next := *p
	for i, point := range more {
		column := append(next.covariances(nil, point), p.spec.priorVariance()+noise[i])
		var chol mat.Cholesky
		if !chol.ExtendVecSym(next.chol, mat.NewVecDense(len(column), column)) {
			return anew()
		}
		point = slices.Clone(point)
		next.x = append(slices.Clip(next.x), point)
		next.centers = next.centers.Append([][]float64{point})
		next.chol = &chol
		next.noise = append(slices.Clip(next.noise), noise[i])
	}
	if len(more) > 0 {
		next.inverted = invertLazily(next.chol)
	}
	next.condition(y)
	return &next, nil
}

// begins reports whether the first points of x are exactly the points of p.
func (p *Posterior) begins(x [][]float64) bool {
	return len(x) >= len(p.x) && slices.EqualFunc(x[:len(p.x)], p.x, slices.Equal[[]float64])
}

// condition sets the outputs, which it copies, and computes the posterior mean.
func (p *Posterior) condition(y []float64) {
	p.y = slices.Clone(y)
	alpha := slices.Clone(y)
	p.solve(alpha)
	p.mean, p.constant = p.centers.Sum(alpha), p.spec.meanVariance()*sum(alpha)
}

// covariances fills dst (allocated if nil) with the prior covariances between the function at x and
// at each observed point.
func (p *Posterior) covariances(dst, x []float64) []float64 {
	if dst == nil {
		dst = make([]float64, p.centers.Len(), p.centers.Len()+1)
	}
	p.centers.Kernel(dst, x)
	constant := p.spec.meanVariance()
	for i := range dst {
		dst[i] += constant
	}
	return dst
}

// solve multiplies v by the inverse of K + noise I, in place.
func (p *Posterior) solve(v []float64) {
	p.half(v)
	p.otherHalf(v)
}

// half multiplies v by U⁻ᵀ, where UᵀU = K + noise I, in place.
func (p *Posterior) half(v []float64) { p.solveHalf(blas.Trans, v) }

// otherHalf multiplies v by U⁻¹, in place.
func (p *Posterior) otherHalf(v []float64) { p.solveHalf(blas.NoTrans, v) }

func (p *Posterior) solveHalf(t blas.Transpose, v []float64) {
	if len(v) == 0 { // without observations there is no factor
		return
	}
	solveTriangular(p.chol, t, v)
}

// halfAll and otherHalfAll apply half and otherHalf to several vectors. With manyVectors or more
// they solve all vectors together, so that the factor is read only once.
func (p *Posterior) halfAll(v [][]float64)      { p.solveAll(blas.Trans, v) }
func (p *Posterior) otherHalfAll(v [][]float64) { p.solveAll(blas.NoTrans, v) }

const manyVectors = 8

func (p *Posterior) solveAll(transposed blas.Transpose, v [][]float64) {
	n := len(v)
	if n < manyVectors || len(p.x) == 0 {
		for _, column := range v {
			p.solveHalf(transposed, column)
		}
		return
	}
	all := blas64.General{Rows: len(p.x), Cols: n, Stride: n, Data: make([]float64, len(p.x)*n)}
	for i, column := range v {
		for j, c := range column {
			all.Data[j*n+i] = c
		}
	}
	u := p.chol.RawU().(mat.RawTriangular).RawTriangular()
	blas64.Trsm(blas.Left, transposed, 1, u, all)
	for i, column := range v {
		for j := range column {
			column[j] = all.Data[j*n+i]
		}
	}
}

// Len returns the number of observations, t.
func (p *Posterior) Len() int { return len(p.x) }

// Points returns the observed points. The caller must not change them.
func (p *Posterior) Points() [][]float64 { return p.x }

// Outputs returns the outputs at the observed points. The caller must not change them.
func (p *Posterior) Outputs() []float64 { return p.y }

// Hyperparameters returns the hyperparameters of p. The caller must not change them.
func (p *Posterior) Hyperparameters() Hyperparameters { return p.h }

// Mean returns the posterior mean of the function at x (length d). It is cheaper than Predict. It
// panics on a wrong length.
func (p *Posterior) Mean(x []float64) float64 {
	checkPoint(x, len(p.inverse))
	return p.mean.Value(x) + p.constant
}

// Means fills dst (length n) with the posterior mean at n points, which are row-major (length n·d).
// It panics on wrong lengths.
func (p *Posterior) Means(dst, points []float64) {
	if len(points) != len(dst)*len(p.inverse) {
		panic(fmt.Sprintf("gp: %d coordinates for %d points of %d", len(points), len(dst), len(p.inverse)))
	}
	p.mean.Values(dst, points)
	for i := range dst {
		dst[i] += p.constant
	}
}

// MeanGradient fills grad (length d) with the gradient of the mean at x and returns the mean.
func (p *Posterior) MeanGradient(grad, x []float64) float64 {
	checkPoint(x, len(p.inverse))
	return p.mean.Gradient(grad, x) + p.constant
}

// Constant returns the posterior mean of the unknown constant mean. Far from all observations, Mean
// approaches this value.
func (p *Posterior) Constant() float64 { return p.constant }

// Predict returns the mean and the variance of the function at x (length d), without the noise of
// an observation. It panics on a wrong length.
func (p *Posterior) Predict(x []float64) (mean, variance float64) {
	checkPoint(x, len(p.inverse))
	at := p.point()
	defer p.memory.Put(at.held)
	p.centers.Kernel(at.k, x)
	mean, variance = p.moments(at)
	return mean, max(variance, 0)
}

// point holds what a prediction at one point computes.
type point struct {
	held                *[]float64 // the memory of all others
	k, slope            []float64  // kernel and slope for every observed point
	cross, half, weight []float64  // covariances c, U⁻ᵀc and K⁻¹c, with the padding of linalg.Inverse
}

// point returns memory for one point. The caller puts at.held back into p.memory.
func (p *Posterior) point() (at point) {
	t, room := p.centers.Len(), 0
	if t > 0 {
		room = p.inverted().Room()
	}
	at.held = p.memory.Get().(*[]float64)
	if *at.held == nil || len(*at.held) < 5*room {
		*at.held = make([]float64, 5*room)
	}
	part := func(i, length int) []float64 { return (*at.held)[i*room : i*room+length] }
	at.k, at.slope = part(0, t), part(1, t)
	at.cross, at.half, at.weight = part(2, room), part(3, room), part(4, room)
	return at
}

// moments returns the mean, and the variance without its lower limit of 0, given the kernels at.k. It fills
// at.cross and at.half.
func (p *Posterior) moments(at point) (mean, variance float64) {
	mean, variance = p.constant, p.spec.priorVariance()
	if len(at.k) == 0 {
		return mean, variance
	}
	constant := p.spec.meanVariance()
	for i, k := range at.k {
		at.cross[i] = k + constant
	}
	clear(at.cross[len(at.k):])
	p.inverted().Half(at.half, at.cross)
	return mean + linalg.Dot(at.k, p.mean.Weights()), variance - linalg.Dot(at.half, at.half)
}

// Variances fills dst (length n) with the posterior variances at n points, which are row-major
// (length n·d). Up to rounding they equal the variances of Predict, but are several times faster to
// compute. It panics on wrong lengths.
func (p *Posterior) Variances(dst, points []float64) {
	n, d, t := len(dst), len(p.inverse), p.centers.Len()
	if len(points) != n*d {
		panic(fmt.Sprintf("gp: %d coordinates for %d points of %d", len(points), n, d))
	}
	if n == 0 {
		return
	}
	cross := make([]float64, t*n) // one row per observation, so that the solver works on long rows
	column := make([]float64, t, t+1)
	for i := range n {
		p.covariances(column, points[i*d:(i+1)*d])
		for j, c := range column {
			cross[j*n+i] = c
		}
	}
	if t > 0 {
		u := p.chol.RawU().(mat.RawTriangular).RawTriangular()
		blas64.Trsm(blas.Left, blas.Trans, 1, u, blas64.General{Rows: t, Cols: n, Stride: n, Data: cross})
	}
	for i := range dst {
		dst[i] = p.spec.priorVariance()
	}
	for j := range t {
		for i, c := range cross[j*n : (j+1)*n] {
			dst[i] -= c * c
		}
	}
	for i := range dst {
		dst[i] = max(dst[i], 0)
	}
}

// PredictGradient returns the same as Predict. It also fills the gradients of mean and variance at
// x (length d each).
func (p *Posterior) PredictGradient(meanGradient, varianceGradient, x []float64) (mean, variance float64) {
	checkPoint(x, len(p.inverse))
	if p.centers.Len() == 0 {
		clear(meanGradient)
		clear(varianceGradient)
		return p.constant, p.spec.priorVariance()
	}
	at := p.point()
	defer p.memory.Put(at.held)
	p.centers.Slopes(at.k, at.slope, x)
	mean, variance = p.moments(at)
	p.inverted().OtherHalf(at.weight, at.half)
	// With c the covariances between x and the observed points, the variance is prior - cᵀK⁻¹c. Its
	// gradient is that of a sum of kernels with the weights -2K⁻¹c, held fixed.
	pulls, weights := at.k, p.mean.Weights()
	for i, slope := range at.slope {
		pulls[i] = slope * weights[i]
		at.slope[i] = -2 * slope * at.weight[i]
	}
	p.centers.Gradient(meanGradient, pulls, x)
	if variance < 0 {
		clear(varianceGradient)
		return mean, 0
	}
	p.centers.Gradient(varianceGradient, at.slope, x)
	return mean, variance
}

// Draw returns one sample path by Matheron's rule (Wilson et al. 2020). It is a draw from the
// prior, represented by random Fourier features of the kernel, plus a correction towards the
// observations by kernels. The number of features must be even and at least 2. Every draw has new
// features, so the mean and the covariance over draws are exact for any number of features. With
// more features, a single draw is closer to a draw from a Gaussian process.
func (p *Posterior) Draw(features int, rng *rand.Rand) *Function {
	if features < 2 || features%2 != 0 {
		panic("gp: features of a draw must be even and at least 2")
	}
	prior, constant := p.drawPrior(features/2, rng)
	residual := make([]float64, len(p.x))
	for i, x := range p.x {
		residual[i] = p.y[i] - constant - prior.Value(x) - math.Sqrt(p.noise[i])*rng.NormFloat64()
	}
	p.solve(residual)
	return &Function{
		dim:      len(p.inverse),
		prior:    prior,
		update:   p.centers.Sum(residual),
		constant: constant + p.spec.meanVariance()*sum(residual),
	}
}

func checkNoise(noise []float64, observations int) error {
	if len(noise) != observations {
		return fmt.Errorf("%d variances of noise for %d observations", len(noise), observations)
	}
	for i, v := range noise {
		if !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("noise %g of observation %d: must be positive and finite", v, i)
		}
	}
	return nil
}

func sum(v []float64) float64 {
	total := 0.0
	for _, a := range v {
		total += a
	}
	return total
}
