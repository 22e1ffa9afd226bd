package peerprior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/surrogate/gp"
)

// A model says f = b·m + c + r, with
//
//	b ~ N(gain, gainVariance), c ~ N(0, levelVariance), r ~ GP(0, scale²·a(x)a(x')k(x,x')),
//
// where a(x) is the deviation of the residual at x in units of the scale: 1 where
// nobody but the agent itself knows anything.
type model struct {
	prior                       *peerPrior // that m is of; nil without peers
	scale                       float64
	gain                        float64
	gainVariance, levelVariance float64
	unlikeness                  float64
	deviations                  []float64 // a at the own points; nil means 1
	logPrior                    float64

	// Given the data:
	logEvidence float64
	mean        [2]float64 // of b and c
	cov         [3]float64 // of b and c: bb, bc, cc
}

// relation says how a mean of peers and the agent's objective may differ in
// level and size.
type relation struct {
	gains         []float64
	byScale       bool // the gains are in units of the scale: units differ
	gainVariance  float64
	levelVariance float64 // in units of the squared scale, and with byScale also gain
}

// contrary is the same relation to the negative of a mean.
func (r relation) contrary() relation {
	r.gains = slices.Clone(r.gains)
	for i := range r.gains {
		r.gains[i] = -r.gains[i]
	}
	return r
}

// models lists those around a consensus, with prior odds that sum to odds.
func (r relation) models(odds, scale, unlikeness float64, deviations []float64) []model {
	list := make([]model, len(r.gains))
	for i, gain := range r.gains {
		list[i] = r.around(odds/float64(len(r.gains)), scale, unlikeness, deviations, gain)
	}
	return list
}

// around is the one with this gain.
func (r relation) around(odds, scale, unlikeness float64, deviations []float64, gain float64) model {
	level := r.levelVariance * scale * scale
	if r.byScale {
		gain *= scale
		level += r.levelVariance * gain * gain
	}
	return model{
		scale:         scale,
		gain:          gain,
		gainVariance:  r.gainVariance * gain * gain,
		levelVariance: level,
		unlikeness:    unlikeness,
		deviations:    deviations,
		logPrior:      math.Log(odds),
	}
}

// data is the agent's own knowledge: t observations, and the process by which it
// models them.
type data struct {
	spec gp.Spec
	h    gp.Hyperparameters
	x    [][]float64
	y    []float64 // standardised
	k    *mat.SymDense

	spectrum *spectrum // of k; nil without data
	alone    float64   // log evidence of the models without peers
}

func newData(spec gp.Spec, h gp.Hyperparameters, x [][]float64, y []float64) *data {
	d := &data{spec: spec, h: h, x: x, y: y}
	if len(x) > 0 {
		d.k = gp.Covariance(spec, x, h.Lengthscales)
		d.spectrum = d.decompose()
		d.alone = d.spectrum.aloneEvidence()
	}
	return d
}

// whitened is the data in coordinates in which their covariance is the identity.
type whitened struct {
	apply      func(v []float64) []float64 // takes a vector to these coordinates
	logDet     float64
	y, one     []float64
	yy, y1, oo float64 // their products
}

// set takes in the data and a constant of 1, which may be in coordinates that apply
// begins with.
func (w *whitened) set(y, one []float64) {
	w.y, w.one = w.apply(y), w.apply(one)
	w.yy, w.y1, w.oo = linalg.Dot(w.y, w.y), linalg.Dot(w.y, w.one), linalg.Dot(w.one, w.one)
}

// seen is a prior mean at the own points in the coordinates of whitened data, as
// far as models ask for it. Without peers it is zero.
type seen struct {
	mm, ym, m1 float64 // its products with itself, the data and a constant of 1
}

// see takes a mean to these coordinates; zero where the data could not be whitened.
func (w *whitened) see(mean []float64) seen {
	if w == nil || mean == nil {
		return seen{}
	}
	m := w.apply(mean)
	return seen{linalg.Dot(m, m), linalg.Dot(w.y, m), linalg.Dot(w.one, m)}
}

// whiten takes scale²·diag(a)·K·diag(a) + noise for the covariance, with a 1 where
// deviations is nil. It returns nil when there are no data or the covariance
// cannot be factorised.
func (d *data) whiten(scale float64, deviations []float64) *whitened {
	t := len(d.y)
	if t == 0 {
		return nil
	}
	c := mat.NewSymDense(t, nil)
	for i := range t {
		row := c.RawSymmetric().Data[i*t:]
		for j := i; j < t; j++ {
			row[j] = scale * scale * d.k.At(i, j)
			if deviations != nil {
				row[j] *= deviations[i] * deviations[j]
			}
		}
		row[i] += d.h.Noise
	}
	root, logRoot, ok := linalg.Factorise(c.RawSymmetric())
	if !ok {
		return nil
	}
	w := &whitened{logDet: 2 * logRoot}
	w.apply = func(v []float64) []float64 {
		out := slices.Clone(v)
		blas64.Trsv(blas.Trans, root, linalg.Vector(out))
		return out
	}
	w.set(d.y, slices.Repeat([]float64{1}, t))
	return w
}

// spectrum is K in its eigenvectors, in which the data under any multiple of K
// are whitened without a further factorisation.
type spectrum struct {
	values  []float64
	vectors mat.Dense
	noise   float64
	y, one  []float64
}

// decompose returns nil when the search for eigenvalues fails.
func (d *data) decompose() *spectrum {
	var eigen mat.EigenSym
	if !eigen.Factorize(d.k, true) {
		return nil
	}
	s := &spectrum{values: eigen.Values(nil), noise: d.h.Noise}
	eigen.VectorsTo(&s.vectors)
	s.y, s.one = s.rotate(d.y), s.rotate(slices.Repeat([]float64{1}, len(d.y)))
	return s
}

// rotate expresses a vector in the eigenvectors.
func (s *spectrum) rotate(v []float64) []float64 {
	out := mat.NewVecDense(len(v), nil)
	out.MulVec(s.vectors.T(), mat.NewVecDense(len(v), v))
	return out.RawVector().Data
}

// whiten takes variance·K + noise for the covariance; its apply takes rotated
// vectors.
func (s *spectrum) whiten(variance float64) *whitened {
	if s == nil {
		return nil
	}
	root := make([]float64, len(s.values))
	w := &whitened{}
	for i, v := range s.values {
		at := variance*max(v, 0) + s.noise
		root[i] = math.Sqrt(at)
		w.logDet += math.Log(at)
	}
	w.apply = func(v []float64) []float64 {
		out := make([]float64, len(v))
		for i := range v {
			out[i] = v[i] / root[i]
		}
		return out
	}
	w.set(s.y, s.one)
	return w
}

// condition fills in what the data say.
func (m *model) condition(w *whitened, prior seen) {
	yy, y1, oo := w.yy, w.y1, w.oo
	mm, ym, m1 := prior.mm, prior.ym, prior.m1
	a := m.gain
	sb, sc := m.gainVariance, m.levelVariance
	// With B = [m 1], S the prior covariance of (b, c) and C the identity of these
	// coordinates: P = (S⁻¹ + BᵀB)⁻¹ = (I + S·BᵀB)⁻¹ S, which needs no S⁻¹.
	i11, i12, i21, i22 := 1+sb*mm, sb*m1, sc*m1, 1+sc*oo
	det := i11*i22 - i12*i21
	pbb, pbc, pcc := i22*sb/det, -i12*sc/det, i11*sc/det
	ub, uc := ym-a*mm, y1-a*m1 // Bᵀ(y - a·m)
	q := yy - 2*a*ym + a*a*mm - (pbb*ub*ub + 2*pbc*ub*uc + pcc*uc*uc)
	m.logEvidence = -0.5 * (q + w.logDet + math.Log(det))
	m.mean = [2]float64{a + pbb*ub + pbc*uc, pbc*ub + pcc*uc}
	m.cov = [3]float64{pbb, pbc, pcc}
}

// weigh conditions models that share scale, deviations and prior mean, given the
// prior mean as w sees it, and returns the log of their summed prior times evidence.
// w is nil when the data cannot be whitened.
func (d *data) weigh(models []model, w *whitened, prior seen) float64 {
	total := math.Inf(-1)
	for i := range models {
		total = logAdd(total, d.weighOne(&models[i], w, prior))
	}
	return total
}

func (d *data) weighOne(m *model, w *whitened, prior seen) float64 {
	switch {
	case len(d.y) == 0:
		m.mean, m.cov = [2]float64{m.gain, 0}, [3]float64{m.gainVariance, 0, m.levelVariance}
	case w == nil:
		m.logEvidence = math.Inf(-1)
	default:
		m.condition(w, prior)
	}
	return m.logPrior + m.logEvidence
}

// aloneEvidence returns that of the models without peers, f = c + r, over the
// same sizes of the residual that the models with peers have, so that these do
// not win by their choice of sizes; 0 when there are no data.
func (s *spectrum) aloneEvidence() float64 {
	if s == nil {
		return 0
	}
	total := math.Inf(-1)
	for i, scale := range scales {
		for _, h := range aloneSizes {
			m := model{
				levelVariance: aloneLevel * scale * scale,
				logPrior:      math.Log(scaleOdds[i] / float64(len(aloneSizes))),
			}
			m.condition(s.whiten(scale*scale*h), seen{})
			total = logAdd(total, m.logPrior+m.logEvidence)
		}
	}
	return total
}

// silentEvidence returns the log evidence of the models that take from the peers
// the level of f and how it may vary, but nothing of its shape.
func (d *data) silentEvidence(r relation, level float64) float64 {
	if d.spectrum == nil {
		return 0
	}
	constant := slices.Clone(d.spectrum.one)
	for i := range constant {
		constant[i] *= level
	}
	total := math.Inf(-1)
	for i, scale := range scales {
		for _, h := range aloneSizes {
			models := r.models(scaleOdds[i]/float64(len(aloneSizes)), scale, h, nil)
			w := d.spectrum.whiten(scale * scale * h)
			total = logAdd(total, d.weigh(models, w, w.see(constant)))
		}
	}
	return total
}

func logAdd(a, b float64) float64 {
	high, low := max(a, b), min(a, b)
	if math.IsInf(high, -1) {
		return high
	}
	return high + math.Log1p(math.Exp(low-high))
}
