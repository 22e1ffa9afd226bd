package peerprior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/gp"
)

// A model says f = b·m + c + r, with
//
//	b ~ N(gain, gainVariance), c ~ N(0, levelVariance), r ~ GP(0, scale²·a(x)a(x')k(x,x')),
//
// where a(x) is the deviation of the residual at x in units of the scale: 1 where
// nobody but the agent itself knows anything. In a model without peers the gain
// and its variance are zero and a is 1.
type model struct {
	consensus                   *consensus // that m is of; nil without peers
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

// models lists those around a consensus, with prior odds that sum to odds.
func (r relation) models(odds, scale, unlikeness float64, deviations []float64) []model {
	var list []model
	for _, g := range r.gains {
		level := r.levelVariance * scale * scale
		if r.byScale {
			g *= scale
			level += r.levelVariance * g * g
		}
		list = append(list, model{
			scale:         scale,
			gain:          g,
			gainVariance:  r.gainVariance * g * g,
			levelVariance: level,
			unlikeness:    unlikeness,
			deviations:    deviations,
			logPrior:      math.Log(odds / float64(len(r.gains))),
		})
	}
	return list
}

// data is the agent's own knowledge: t observations, and the process by which it
// models them.
type data struct {
	spec gp.Spec
	h    gp.Hyperparameters
	x    [][]float64
	y    []float64 // standardised
	k    *mat.SymDense
}

func newData(spec gp.Spec, h gp.Hyperparameters, x [][]float64, y []float64) *data {
	d := &data{spec: spec, h: h, x: x, y: y}
	if len(x) > 0 {
		d.k = gp.Covariance(spec, x, h.Lengthscales)
	}
	return d
}

// whitened is the data in the coordinates in which scale²·diag(a)·K·diag(a) +
// noise is the identity.
type whitened struct {
	chol   mat.Cholesky
	logDet float64
	y, one []float64
}

// whiten returns nil when the covariance cannot be factorised.
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
	w := &whitened{}
	if !w.chol.Factorize(c) {
		return nil
	}
	w.logDet = w.chol.LogDet()
	w.y, w.one = w.apply(d.y), w.apply(slices.Repeat([]float64{1}, t))
	return w
}

// apply returns L⁻¹v.
func (w *whitened) apply(v []float64) []float64 {
	out := slices.Clone(v)
	upper := w.chol.RawU().(mat.RawTriangular).RawTriangular() // UᵀU is the covariance
	blas64.Trsv(blas.Trans, upper, blas64.Vector{N: len(out), Data: out, Inc: 1})
	return out
}

// condition fills in what the data say. prior holds m at the own points in the
// coordinates of w; it is nil in a model without peers.
func (m *model) condition(w *whitened, prior []float64) {
	yy, y1, oo := dot(w.y, w.y), dot(w.y, w.one), dot(w.one, w.one)
	var mm, ym, m1 float64
	if prior != nil {
		mm, ym, m1 = dot(prior, prior), dot(w.y, prior), dot(w.one, prior)
	}
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
// prior mean's values at the own points, and returns the log of their summed
// prior times evidence. w is nil when the data cannot be whitened.
func (d *data) weigh(models []model, w *whitened, atOwn []float64) float64 {
	total := math.Inf(-1)
	if w != nil && atOwn != nil {
		atOwn = w.apply(atOwn)
	}
	for i := range models {
		m := &models[i]
		switch {
		case len(d.y) == 0:
			m.mean, m.cov = [2]float64{m.gain, 0}, [3]float64{m.gainVariance, 0, m.levelVariance}
		case w == nil:
			m.logEvidence = math.Inf(-1)
		default:
			m.condition(w, atOwn)
		}
		total = logAdd(total, m.logPrior+m.logEvidence)
	}
	return total
}

// alone weighs the models without peers.
func (d *data) alone(odds float64) (models []model, logTotal float64) {
	logTotal = math.Inf(-1)
	for i, s := range scales {
		list := []model{{scale: s, levelVariance: aloneLevel * s * s, unlikeness: 1, logPrior: math.Log(odds * scaleOdds[i])}}
		logTotal = logAdd(logTotal, d.weigh(list, d.whiten(s, nil), nil))
		models = append(models, list...)
	}
	return models, logTotal
}

func logAdd(a, b float64) float64 {
	high, low := max(a, b), min(a, b)
	if math.IsInf(high, -1) {
		return high
	}
	return high + math.Log1p(math.Exp(low-high))
}

func dot(a, b []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(a), Data: a, Inc: 1}, blas64.Vector{N: len(b), Data: b, Inc: 1})
}
