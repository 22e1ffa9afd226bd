package peerprior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// data holds the agent's observations and the Gaussian process that models them.
type data struct {
	spec gp.Spec
	h    gp.Hyperparameters
	x    [][]float64
	y    []float64 // standardised
	// extra has the variance of each output besides the noise; nil if all are measured
	extra []float64
	k     *mat.SymDense
}

// noise returns the variance of the error of an output.
func (d *data) noise(i int) float64 {
	if d.extra == nil {
		return d.h.Noise
	}
	return d.h.Noise + d.extra[i]
}

func newData(spec gp.Spec, h gp.Hyperparameters, own ownData) *data {
	d := &data{spec: spec, h: h, x: own.x, y: own.y, extra: own.extra}
	if len(own.x) > 0 {
		d.k = gp.Covariance(spec, own.x, h.Lengthscales)
	}
	return d
}

// expert is one model of the objective:
//
//	f = s·(m + a·r) + c,  r ~ GP(0, k),  c ~ N(0, (levelSize·s)²),
//
// with a size s, the mean m of the peers, and the factor a(x) of the residual that they leave
// unexplained. Without peers m is 0 and a is 1.
type expert struct {
	odds       float64 // prior weight
	size       float64
	around     *consensus // peers' consensus, with the mean m; nil without peers
	mean       []float64  // m at the own designs; nil: 0
	deviations []float64  // a at the own designs; nil: 1

	root *mat.TriDense // Cholesky factor of the outputs' covariance; nil until it is needed

	// Results of observe and weigh:
	weight float64
	level  float64       // posterior mean of c
	solved *mat.VecDense // inverse covariance of the outputs, times the outputs minus their prior means
	logs   []float64
}

// observe sets level, solved and logs. logs[i] is the logarithm of the predictive density of
// observation i given the earlier ones, without the term ln(2π)/2. observe reports whether the
// computation succeeded.
func (e *expert) observe(d *data) bool {
	n := len(d.y)
	e.level, e.logs = 0, make([]float64, n)
	if n == 0 {
		return true
	}
	if e.root == nil {
		e.root = e.factor(d)
	}
	l, rest := e.root, mat.NewVecDense(n, nil)
	if l == nil {
		return false
	}
	for i := range n {
		rest.SetVec(i, d.y[i]-e.size*e.meanAt(i))
	}
	var z mat.VecDense
	e.solved = &mat.VecDense{}
	if z.SolveVec(l, rest) != nil {
		return false
	}
	for i := range n {
		e.logs[i] = -z.AtVec(i)*z.AtVec(i)/2 - math.Log(l.At(i, i))
		if math.IsNaN(e.logs[i]) || math.IsInf(e.logs[i], 0) {
			return false
		}
	}
	if e.solved.SolveVec(l.T(), &z) != nil {
		return false
	}
	e.level = e.levelVariance() * mat.Sum(e.solved)
	return true
}

// levelVariance returns the variance of c.
func (e *expert) levelVariance() float64 { return levelSize * levelSize * e.size * e.size }

// factor returns the Cholesky factor of the outputs' covariance, or nil if rounding errors prevent
// it.
func (e *expert) factor(d *data) *mat.TriDense {
	k := mat.NewSymDense(len(d.y), nil)
	for i := range d.y {
		for j := range i + 1 {
			k.SetSym(i, j, e.size*e.size*e.deviationAt(i)*e.deviationAt(j)*d.k.At(i, j)+e.levelVariance())
		}
		k.SetSym(i, i, k.At(i, i)+d.noise(i))
	}
	var root mat.Cholesky
	if !root.Factorize(k) {
		return nil
	}
	var l mat.TriDense
	root.LTo(&l)
	return &l
}

func (e *expert) meanAt(i int) float64 {
	if e.mean == nil {
		return 0
	}
	return e.mean[i]
}

func (e *expert) deviationAt(i int) float64 {
	if e.deviations == nil {
		return 1
	}
	return e.deviations[i]
}

// weigh calls observe for all experts and sets their weights, which sum to 1. The rule is
// Fixed-share of Herbster and Warmuth, "Tracking the Best Expert" (Machine Learning 1998). For each
// observation in turn, the weight of each expert is multiplied by its predictive density of the
// observation. A fraction of the total weight is then redistributed in proportion to the odds. So
// an expert that was wrong for long can gain weight again. It does so faster if there are fewer
// observations. An expert that cannot be computed has weight 0.
func weigh(all []*expert, d *data) {
	var able []*expert
	odds := 0.0
	for i, e := range all {
		if same := slices.IndexFunc(all[:i], e.variesAs); same >= 0 {
			e.root = all[same].root
		}
		if e.weight = 0; e.observe(d) {
			able = append(able, e)
			odds += e.odds
		}
	}
	for _, e := range able {
		e.odds /= odds
		e.weight = e.odds
	}
	for t := range d.y {
		most, total := math.Inf(-1), 0.0
		for _, e := range able {
			most = max(most, e.logs[t])
		}
		for _, e := range able {
			e.weight *= math.Exp(e.logs[t] - most)
			total += e.weight
		}
		dealt := switching(t + 1)
		for _, e := range able {
			e.weight = (1-dealt)*e.weight/total + dealt*e.odds
		}
	}
}

// variesAs reports whether the outputs have the same covariance under both experts, so that they
// can share the Cholesky factor. It requires the same size and the same slice of deviations. Two
// slices with equal values do not count as the same.
func (e *expert) variesAs(other *expert) bool {
	if e.size != other.size || len(e.deviations) != len(other.deviations) {
		return false
	}
	return len(e.deviations) == 0 || &e.deviations[0] == &other.deviations[0]
}

// switching returns the fraction of the total weight that is redistributed after observation t.
func switching(t int) float64 { return 1 / float64(t+1) }

// experts returns one expert for each size, with total prior weight odds. mean and deviations are m
// and a at the own designs. A nil mean is 0, and nil deviations are 1.
func experts(odds float64, around *consensus, mean, deviations []float64) (all []*expert) {
	for _, size := range sizes {
		all = append(all, &expert{odds: odds / float64(len(sizes)), size: size, around: around, mean: mean, deviations: deviations})
	}
	return all
}

// weight returns the sum of the experts' weights.
func weight(of []*expert) (total float64) {
	for _, e := range of {
		total += e.weight
	}
	return total
}
