package peerprior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/gp"
)

// The grid of models. Numbers that weigh on the result were chosen on families
// of functions kept for that purpose; docs/experiments.md says which.
var (
	scales       = []float64{1, 2, 4}                 // of f, in deviations of the own outputs, which shrink when all designs are good
	scaleOdds    = []float64{.5, .3, .2}              // of these, before any evidence
	gains        = []float64{1, 2}                    // of m, which is shrunk when peers know little
	unlikenesses = []float64{.01, .05, .2, .5, .8, 1} // of f and m: the residual's part of the variance
)

const (
	aloneOdds     = 0.15 // that no peer is of use, before any evidence
	gainVariance  = 0.25 // of b, in units of its squared mean
	levelVariance = 4.0  // of the constant, in units of the squared scale
	likeSpread    = 1.5  // of ln h around what the peers' claims make one expect
)

// data is the agent's own knowledge: t observations and the process that it
// models them by.
type data struct {
	spec  gp.Spec
	h     gp.Hyperparameters
	x     [][]float64
	y     []float64 // standardised
	k     *mat.SymDense
	cache map[float64]*whitened
}

// whitened is the data seen through one residual variance R.
type whitened struct {
	chol   mat.Cholesky // of R·K + noise I
	logDet float64
	y, one *mat.VecDense // L⁻¹y, L⁻¹1
}

func newData(spec gp.Spec, h gp.Hyperparameters, x [][]float64, y []float64) *data {
	d := &data{spec: spec, h: h, x: x, y: y, cache: map[float64]*whitened{}}
	if len(x) > 0 {
		d.k = gp.Covariance(spec, x, h.Lengthscales)
	}
	return d
}

// at returns the data whitened by R·K + noise I; nil when that cannot be
// factorised.
func (d *data) at(r float64) *whitened {
	if w, ok := d.cache[r]; ok {
		return w
	}
	t := len(d.y)
	c := mat.NewSymDense(t, nil)
	c.ScaleSym(r, d.k)
	for i := range t {
		c.SetSym(i, i, c.At(i, i)+d.h.Noise)
	}
	w := &whitened{}
	if !w.chol.Factorize(c) {
		d.cache[r] = nil
		return nil
	}
	w.logDet = w.chol.LogDet()
	one := make([]float64, t)
	for i := range one {
		one[i] = 1
	}
	w.y, w.one = w.whiten(d.y), w.whiten(one)
	d.cache[r] = w
	return w
}

// whiten returns L⁻¹v.
func (w *whitened) whiten(v []float64) *mat.VecDense {
	out := slices.Clone(v)
	upper := w.chol.RawU().(mat.RawTriangular).RawTriangular() // UᵀU is the covariance
	blas64.Trsv(blas.Trans, upper, blas64.Vector{N: len(out), Data: out, Inc: 1})
	return mat.NewVecDense(len(out), out)
}

// model is f = b·m + c + r with b ~ N(amplitude, gainVariance·amplitude²),
// c ~ N(0, level), r ~ GP(0, residual·k). Alone, the amplitude is zero.
type model struct {
	amplitude, residual, level float64
	logPrior                   float64

	// Given the data:
	logEvidence float64
	mean        [2]float64 // of b and c
	cov         [3]float64 // of b and c: bb, bc, cc
}

// condition fills in what the data say; m holds the prior mean's values at the
// observed points, whitened for the model's residual.
func (g *model) condition(w *whitened, m *mat.VecDense) {
	yy, y1, oo := mat.Dot(w.y, w.y), mat.Dot(w.y, w.one), mat.Dot(w.one, w.one)
	var mm, ym, m1 float64
	if m != nil {
		mm, ym, m1 = mat.Dot(m, m), mat.Dot(w.y, m), mat.Dot(w.one, m)
	}
	a := g.amplitude
	sb, sc := gainVariance*a*a, g.level
	// Of the residual y - a·m:
	q := yy - 2*a*ym + a*a*mm
	ub, uc := ym-a*mm, y1-a*m1
	// I + S·BᵀC⁻¹B, and P = (S⁻¹ + BᵀC⁻¹B)⁻¹ = (I + S G)⁻¹ S.
	i11, i12, i21, i22 := 1+sb*mm, sb*m1, sc*m1, 1+sc*oo
	det := i11*i22 - i12*i21
	pbb, pbc, pcc := i22*sb/det, -i12*sc/det, i11*sc/det
	q -= pbb*ub*ub + 2*pbc*ub*uc + pcc*uc*uc
	g.logEvidence = -0.5 * (q + w.logDet + math.Log(det))
	g.mean = [2]float64{a + pbb*ub + pbc*uc, pbc*ub + pcc*uc}
	g.cov = [3]float64{pbb, pbc, pcc}
}

// before gives the model its prior where there are no data.
func (g *model) before() {
	g.mean = [2]float64{g.amplitude, 0}
	g.cov = [3]float64{gainVariance * g.amplitude * g.amplitude, 0, g.level}
}

// alone lists the models without peers.
func alone(prior float64) []model {
	var list []model
	for i, s := range scales {
		list = append(list, model{residual: s * s, level: levelVariance * s * s, logPrior: math.Log(prior * scaleOdds[i])})
	}
	return list
}

// joined lists the models around a prior mean, given what part of the variance
// it is expected to leave.
func joined(prior, left float64, gains []float64) []model {
	odds, total := make([]float64, len(unlikenesses)), 0.0
	for i, h := range unlikenesses {
		z := math.Log(h/left) / likeSpread
		odds[i] = math.Exp(-0.5 * z * z)
		total += odds[i]
	}
	var list []model
	for i, s := range scales {
		for _, g := range gains {
			for j, h := range unlikenesses {
				list = append(list, model{
					amplitude: s * g,
					residual:  s * s * h,
					level:     levelVariance * s * s * (1 + g*g),
					logPrior:  math.Log(prior * scaleOdds[i] / float64(len(gains)) * odds[j] / total),
				})
			}
		}
	}
	return list
}

// weigh conditions models on the data, with m the values of the prior mean at
// the observed points, and returns the log of their summed prior times evidence.
func (d *data) weigh(models []model, m []float64) float64 {
	total := math.Inf(-1)
	seen := map[float64]*mat.VecDense{}
	for i := range models {
		g := &models[i]
		if len(d.y) == 0 {
			g.before()
		} else if w := d.at(g.residual); w == nil {
			g.logEvidence = math.Inf(-1)
		} else {
			if g.amplitude != 0 && seen[g.residual] == nil {
				seen[g.residual] = w.whiten(m)
			}
			g.condition(w, seen[g.residual])
		}
		total = logAdd(total, g.logPrior+g.logEvidence)
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
