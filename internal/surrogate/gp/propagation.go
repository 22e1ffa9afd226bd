package gp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/internal/normal"
)

// Limits for the convergence of expectation propagation. Small changes of the sites are negligible,
// because the error of the evidence is of the order of their squares.
const (
	maxSweeps  = 100
	siteChange = 1e-6  // largest change of a site's precision at convergence, in units of 1 + the precision
	minWeight  = 1e-10 // smallest precision of a site that is converted to an observation

	// minVariance replaces a variance of the function that rounding errors made too small.
	minVariance = 1e-12
	maxShrink   = 1 - 1e-10
)

// propagation is expectation propagation for outputs within intervals, one site after the other
// (Rasmussen and Williams, algorithm 3.5). A site is the normal factor that replaces an interval.
// Each run starts from the sites of the previous run, which are close if the covariance has changed
// little. Matrices are n×n, and only their upper parts are used.
type propagation struct {
	n         int
	within    []Interval
	noise     float64
	prior     []float64 // prior covariance of the function
	precision []float64 // of each site; a site is the factor
	shift     []float64 // exp(shift·f - precision·f²/2) of function value f, up to a constant

	mean, cov []float64 // posterior mean and covariance
	root      []float64 // factor U of UᵀU = I + S^½ K S^½, with S the diagonal matrix of precisions
	logRoot   float64   // log det U
	half      []float64 // U⁻ᵀ S^½ K, full matrix
	column    []float64
}

func newPropagation(within []Interval) *propagation {
	n := len(within)
	p := &propagation{n: n, within: within}
	for _, v := range []*[]float64{&p.precision, &p.shift, &p.mean, &p.column} {
		*v = make([]float64, n)
	}
	for _, m := range []*[]float64{&p.cov, &p.root, &p.half} {
		*m = make([]float64, n*n)
	}
	return p
}

// run computes the sites for this prior covariance and noise. It keeps prior, without a copy.
func (p *propagation) run(prior []float64, noise float64) error {
	p.prior, p.noise = prior, noise
	if err := p.refresh(); err != nil {
		return err
	}
	for range maxSweeps {
		change := 0.0
		for i := range p.n {
			change = max(change, p.update(i))
		}
		// The rank-one updates of the sweep accumulate rounding errors.
		if err := p.refresh(); err != nil {
			return err
		}
		if change < siteChange {
			break
		}
	}
	return nil
}

// cavity returns the distribution of the function at point i under all sites except site i.
func (p *propagation) cavity(i int) (mean, variance float64) {
	posterior := max(p.cov[i*p.n+i], minVariance)
	precision := 1/posterior - p.precision[i]
	if !(precision > 0) { // only rounding errors lead here: sites have positive precisions
		precision = minWeight
	}
	return (p.mean[i]/posterior - p.shift[i]) / precision, 1 / precision
}

// tilted returns the log probability of interval i for a function value with the given mean and
// variance, and its first and second derivative with respect to the mean.
func (p *propagation) tilted(i int, mean, variance float64) (value, first, second float64) {
	sd := math.Sqrt(variance + p.noise)
	a, b := (p.within[i].Low-mean)/sd, (p.within[i].High-mean)/sd
	value, byA, byB := normal.LogBetween(a, b)
	first = -(byA + byB) / sd
	if !math.IsInf(a, 0) {
		second -= a * byA
	}
	if !math.IsInf(b, 0) {
		second -= b * byB
	}
	second /= sd * sd
	second -= first * first
	// The truncated variable has a smaller variance than the original one, but a positive variance.
	return value, first, min(max(second, -maxShrink/(sd*sd)), 0)
}

// update changes site i so that the posterior at point i has the moments of the cavity distribution
// restricted to the interval. It returns the relative change of the site's precision.
func (p *propagation) update(i int) (change float64) {
	mean, variance := p.cavity(i)
	_, first, second := p.tilted(i, mean, variance)
	shrink := 1 + variance*second
	precision, shift := -second/shrink, (first-mean*second)/shrink
	dPrecision, dShift := precision-p.precision[i], shift-p.shift[i]
	p.precision[i], p.shift[i] = precision, shift

	for j := range i {
		p.column[j] = p.cov[j*p.n+i]
	}
	copy(p.column[i:], p.cov[i*p.n+i:(i+1)*p.n])
	scale := 1 / (1 + dPrecision*p.column[i])
	linalg.AddScaled(p.mean, (dShift-dPrecision*p.mean[i])*scale, p.column)
	blas64.Syr(-dPrecision*scale, linalg.Vector(p.column), p.symmetric(p.cov))
	return math.Abs(dPrecision) / (1 + precision)
}

// refresh computes the posterior from the prior covariance and the sites.
func (p *propagation) refresh() error {
	n := p.n
	for i := range n {
		for j := i; j < n; j++ {
			k := p.prior[i*n+j]
			p.cov[i*n+j] = k
			p.root[i*n+j] = k * math.Sqrt(p.precision[i]*p.precision[j])
			p.half[i*n+j] = k * math.Sqrt(p.precision[i])
			p.half[j*n+i] = k * math.Sqrt(p.precision[j])
		}
		p.root[i*n+i]++
	}
	root, logRoot, ok := linalg.Factorise(p.symmetric(p.root))
	if !ok || math.IsNaN(logRoot) {
		return ErrNotPositiveDefinite
	}
	p.logRoot = logRoot
	half := blas64.General{Rows: n, Cols: n, Stride: n, Data: p.half}
	blas64.Trsm(blas.Left, blas.Trans, 1, root, half)
	blas64.Syrk(blas.Trans, -1, half, 1, p.symmetric(p.cov))
	blas64.Symv(1, p.symmetric(p.cov), linalg.Vector(p.shift), 0, linalg.Vector(p.mean))
	return nil
}

func (p *propagation) symmetric(data []float64) blas64.Symmetric {
	return blas64.Symmetric{N: p.n, Stride: p.n, Data: data, Uplo: blas.Upper}
}

// logEvidence returns the log probability of all intervals (Rasmussen and Williams, equations 3.65
// and 3.74), and its derivative with respect to the noise at fixed sites.
func (p *propagation) logEvidence() (value, byNoise float64) {
	value = -p.logRoot
	for i := range p.n {
		mean, variance := p.cavity(i)
		log, first, second := p.tilted(i, mean, variance)
		value += log
		byNoise += 0.5 * (second + first*first) // by the heat equation
		// The normalising constant of the site divides by the integral of the site times the
		// cavity.
		precision, shift := p.precision[i], p.shift[i]
		value += 0.5*math.Log1p(precision*variance) + 0.5*p.mean[i]*shift
		value += 0.5 * (mean*(precision*mean-2*shift) - shift*shift*variance) / (1 + precision*variance)
	}
	return value, byNoise
}

// solve fills the rows of inverse, from the diagonal on, with (K + Σ)⁻¹, where the diagonal matrix Σ = S⁻¹ holds the
// variances of the sites. It fills alpha with (K + Σ)⁻¹ times the means of the sites.
func (p *propagation) solve(alpha []float64, inverse func(i int) []float64) error {
	n := p.n
	whole := slices.Clone(p.root)
	if _, ok := lapack64.Potri(blas64.Triangular{N: n, Stride: n, Data: whole, Uplo: blas.Upper, Diag: blas.NonUnit}); !ok {
		return ErrNotPositiveDefinite
	}
	for i := range n {
		row := inverse(i)
		for j := i; j < n; j++ {
			row[j-i] = whole[i*n+j] * math.Sqrt(p.precision[i]*p.precision[j])
		}
		alpha[i] = p.shift[i] - p.precision[i]*p.mean[i]
	}
	return nil
}

// observations returns the sites as outputs with a noise variance each.
func (p *propagation) observations() (outputs, noise []float64) {
	outputs, noise = make([]float64, p.n), make([]float64, p.n)
	for i := range p.n {
		weight := max(p.precision[i], minWeight)
		outputs[i], noise[i] = p.shift[i]/weight, 1/weight
	}
	return outputs, noise
}
