package baseline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling/peerprior"
)

// SumSettings is a prototype.
type SumSettings struct {
	Stat                                             string
	M, B                                             int
	Len, Noise, Top, Own, Scale, Joint, Units, First float64
}

type SumPool struct {
	c        SumSettings
	task     *task.Task
	spec     gp.Spec
	features *rff.Map
	shared   *rff.Map
	points   [][]float64
	inducing [][]float64
	root     *mat.Cholesky

	mu      sync.Mutex
	members []contribution
}

type contribution struct {
	convert func(y float64) float64
	x       [][]float64
	y       []float64
}

func NewSumPool(t *task.Task, members int, c SumSettings) (*SumPool, error) {
	p := &SumPool{c: c, task: t, spec: surrogate.ProcessSpec(t), members: make([]contribution, members)}
	l := surrogate.InitialLengthscales(t)
	for i := range l {
		l[i] *= c.Len
	}
	var err error
	constant := 1.0
	if c.Stat == "kernel" {
		constant = 0
	}
	if p.features, err = rff.NewMap(random.SeedOf(7), rff.Spec{Kernel: t.Surrogate.Kernel, Features: c.M, Lengthscales: l, Basis: t.Surrogate.Basis, Constant: constant}); err != nil {
		return nil, err
	}
	if p.shared, err = surrogate.SharedMap(t); err != nil {
		return nil, err
	}
	rng := random.SeedOf(0).Stream("sum points", 0)
	for range 400 {
		p.points = append(p.points, acquisition.Sample(t.Space, rng))
	}
	if c.Stat == "cells" || c.Stat == "centroid" || c.Stat == "soft" {
		for range 4 * c.M {
			p.points = append(p.points, acquisition.Sample(t.Space, rng))
		}
		p.choose(l)
		p.points = p.points[:400]
	}
	if c.Stat == "nystrom" {
		p.choose(l)
	}
	return p, nil
}

// choose selects inducing points greedily by the largest remaining variance.
func (p *SumPool) choose(l []float64) {
	k := gp.Covariance(p.spec, p.points, l)
	n := len(p.points)
	left := make([]float64, n)
	for i := range left {
		left[i] = k.At(i, i)
	}
	var columns [][]float64
	for range p.c.M {
		best := 0
		for i := range left {
			if left[i] > left[best] {
				best = i
			}
		}
		if left[best] < 1e-6 {
			break
		}
		col := make([]float64, n)
		for i := range col {
			col[i] = k.At(i, best)
			for _, c := range columns {
				col[i] -= c[i] * c[best]
			}
			col[i] /= math.Sqrt(left[best])
		}
		for i := range col {
			left[i] -= col[i] * col[i]
		}
		columns = append(columns, col)
		p.inducing = append(p.inducing, p.points[best])
	}
	kzz := gp.Covariance(p.spec, p.inducing, l)
	for i := range p.inducing {
		kzz.SetSym(i, i, kzz.At(i, i)+1e-6)
	}
	p.root = new(mat.Cholesky)
	if !p.root.Factorize(kzz) {
		panic("inducing")
	}
}

// assign returns the weight of each inducing point.
func (p *SumPool) assign(x []float64) []float64 {
	l := surrogate.InitialLengthscales(p.task)
	m := len(p.inducing)
	d := make([]float64, m)
	best := 0
	for j, z := range p.inducing {
		for k := range x {
			d[j] += (x[k] - z[k]) * (x[k] - z[k]) / l[k] / l[k]
		}
		if d[j] < d[best] {
			best = j
		}
	}
	w := make([]float64, m)
	if p.c.Stat != "soft" {
		w[best] = 1
		return w
	}
	total := 0.0
	for j := range w {
		w[j] = math.Exp(-2 * (d[j] - d[best]) / max(d[best], 0.01))
		total += w[j]
	}
	for j := range w {
		w[j] /= total
	}
	return w
}

// phi returns the features of a point, constant included.
func (p *SumPool) phi(x []float64) []float64 {
	if p.c.Stat != "nystrom" {
		v := make([]float64, p.features.Features())
		p.features.Phi(v, x)
		return v
	}
	l := surrogate.InitialLengthscales(p.task)
	for i := range l {
		l[i] *= p.c.Len
	}
	m := len(p.inducing)
	all := gp.Covariance(p.spec, append(p.inducing[:m:m], x), l)
	kz := mat.NewVecDense(m, nil)
	for i := range m {
		kz.SetVec(i, all.At(m, i))
	}
	var lower mat.TriDense
	p.root.LTo(&lower)
	var v mat.VecDense
	if err := v.SolveVec(&lower, kz); err != nil {
		panic(err)
	}
	return append(v.RawVector().Data[:m:m], 1)
}

func (p *SumPool) Watch(member int, view strategy.View) {
	obs := view.Observed(task.Objective)
	if len(obs.Y) < max(p.task.Strategy.InitialDesigns, p.c.B) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &p.members[member]
	if len(obs.Y) < int(p.c.First) {
		return
	}
	var convert func(y float64) float64
	for i := len(c.y); i+p.c.B <= len(obs.Y); i += p.c.B {
		if convert == nil {
			if convert = c.convert; convert == nil || p.c.Units == 2 {
				if convert = p.convert(obs, view); convert == nil {
					return
				}
				c.convert = convert
			}
		}
		for j := i; j < i+p.c.B; j++ {
			c.x = append(c.x, append([]float64(nil), obs.X[j]...))
			c.y = append(c.y, min(max(convert(obs.Y[j]), -4), 4))
		}
	}
}

// convert returns the standardisation of outputs.
func (p *SumPool) convert(obs surrogate.Observations, view strategy.View) func(y float64) float64 {
	y, units, err := surrogate.Standardise(obs)
	if err != nil || units.Scale == 0 {
		return nil
	}
	if p.c.Units == 0 || view.Posterior == nil {
		return units.Standardised
	}
	if p.c.Units == 3 {
		sorted := slices.Sorted(slices.Values(obs.Y))
		n := len(sorted)
		med := sorted[(n-1)/2]/2 + sorted[n/2]/2
		var d []float64
		for _, v := range obs.Y {
			d = append(d, math.Abs(v-med))
		}
		slices.Sort(d)
		mad := 1.4826 * (d[(n-1)/2]/2 + d[n/2]/2)
		return func(v float64) float64 { return (v - med) / mad }
	}
	h := view.Posterior.Hyperparameters().Process()
	post, err := gp.NewPosterior(p.spec, obs.X, y, h)
	if err != nil {
		return nil
	}
	level := post.Constant()
	k := gp.Covariance(p.spec, obs.X, h.Lengthscales)
	n := len(y)
	for i := range n {
		k.SetSym(i, i, k.At(i, i)+h.Noise)
	}
	var c mat.Cholesky
	r, q := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		r.SetVec(i, y[i]-level)
	}
	if !c.Factorize(k) || c.SolveVecTo(q, r) != nil {
		return nil
	}
	size := math.Sqrt((mat.Dot(r, q) + 4) / (float64(n) + 4))
	return func(v float64) float64 { return (units.Standardised(v) - level) / size }
}

// others returns the released observations of the others.
func (p *SumPool) others(self int) (x [][]float64, y []float64, each int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	each = math.MaxInt
	for _, c := range p.members {
		each = min(each, len(c.y))
	}
	for i, c := range p.members {
		if i != self {
			x, y = append(x, c.x[:each]...), append(y, c.y[:each]...)
		}
	}
	return x, y, each
}

func NewSums(t *task.Task, pool *SumPool, self int) (strategy.Strategy, error) {
	return peerprior.NewFrom(t, pool.shared, func(view strategy.View) []peerprior.Statement {
		return pool.statements(t, view, self)
	})
}

func (p *SumPool) statements(t *task.Task, view strategy.View, self int) []peerprior.Statement {
	x, y, each := p.others(self)
	if each == 0 {
		return nil
	}
	var value, known func(x []float64) float64
	switch p.c.Stat {
	case "exact":
		h := gp.Hyperparameters{Lengthscales: surrogate.InitialLengthscales(t), Noise: p.c.Noise}
		if p.c.Own > 0 && view.Posterior != nil {
			h = view.Posterior.Hyperparameters().Process()
			h.Noise = max(h.Noise, p.c.Noise)
		}
		if p.c.Own == 2 {
			prior := gp.StandardPrior(p.spec)
			if fitted, err := gp.FitUnder(context.Background(), p.spec, &prior, x, y, nil, []gp.Hyperparameters{h}, random.SeedOf(uint64(len(x))).Stream("f", 0)); err == nil {
				h = fitted
			}
		}
		post, err := gp.NewPosterior(p.spec, x, y, h)
		if err != nil {
			return nil
		}
		value = post.Mean
		known = func(z []float64) float64 { _, v := post.Predict(z); return 1 - v }
	case "gram", "nystrom":
		var a *mat.SymDense
		var b *mat.VecDense
		for i := range x {
			phi := p.phi(x[i])
			if a == nil {
				a, b = mat.NewSymDense(len(phi), nil), mat.NewVecDense(len(phi), nil)
			}
			v := mat.NewVecDense(len(phi), phi)
			a.SymRankOne(a, 1, v)
			b.AddScaledVec(b, y[i], v)
		}
		n := b.Len()
		for i := range n {
			a.SetSym(i, i, a.At(i, i)+p.c.Noise)
		}
		var c mat.Cholesky
		if !c.Factorize(a) {
			return nil
		}
		var w mat.VecDense
		if c.SolveVecTo(&w, b) != nil {
			return nil
		}
		value = func(z []float64) float64 { return mat.Dot(&w, mat.NewVecDense(n, p.phi(z))) }
		known = func(z []float64) float64 {
			phi := mat.NewVecDense(n, p.phi(z))
			var s mat.VecDense
			if c.SolveVecTo(&s, phi) != nil {
				return 0
			}
			if p.c.Stat == "nystrom" {
				return mat.Dot(phi, phi) - 1 - p.c.Noise*mat.Dot(&s, phi)
			}
			return 1 - p.c.Noise*mat.Dot(&s, phi)
		}
	case "cells", "centroid", "soft":
		z, v, n := p.cells(x, y)
		var noise []float64
		for _, c := range n {
			noise = append(noise, (p.c.Noise+p.c.Scale)/c)
		}
		h := gp.Hyperparameters{Lengthscales: surrogate.InitialLengthscales(t), Noise: p.c.Noise}
		if p.c.Own > 0 && view.Posterior != nil {
			h = view.Posterior.Hyperparameters().Process()
			h.Noise = max(h.Noise, p.c.Noise)
		}
		if p.c.Own == 2 {
			prior := gp.StandardPrior(p.spec)
			if fitted, err := gp.FitUnder(context.Background(), p.spec, &prior, z, v, nil, []gp.Hyperparameters{h}, random.SeedOf(uint64(len(x))).Stream("f", 0)); err == nil {
				h = fitted
				for i := range noise {
					noise[i] = max(h.Noise, 0.05) * n[i] / n[i] / n[i]
				}
			}
		}
		post, err := gp.NewUnequalPosterior(p.spec, z, v, h, noise)
		if err != nil {
			return nil
		}
		value = post.Mean
		known = func(z []float64) float64 { _, v := post.Predict(z); return 1 - v }
	case "kernel":
		n := p.features.Features()
		sx, sy := make([]float64, n), make([]float64, n)
		for i := range x {
			for j, v := range p.phi(x[i]) {
				sx[j] += v
				sy[j] += v * y[i]
			}
		}
		fx, fy := p.features.Function(sx), p.features.Function(sy)
		value = func(z []float64) float64 { return fy.Value(z) / (max(fx.Value(z), 0) + p.c.Noise) }
		known = func(z []float64) float64 { n := max(fx.Value(z), 0); return n / (n + p.c.Noise) }
	default:
		panic(fmt.Sprintf("stat %q", p.c.Stat))
	}
	s := peerprior.Statement{Observations: each, Value: value, Known: known}
	best := math.Inf(-1)
	for _, z := range p.points {
		s.Explained += min(max(known(z), 0), 1) / float64(len(p.points))
		if v := value(z); v > best {
			best = v
		}
	}
	return []peerprior.Statement{s}
}

// cells returns the pseudo-observations and their counts.
func (p *SumPool) cells(x [][]float64, y []float64) (z [][]float64, v, n []float64) {
	m := len(p.inducing)
	count, sum, at := make([]float64, m), make([]float64, m), make([][]float64, m)
	for i := range x {
		for j, w := range p.assign(x[i]) {
			if w == 0 {
				continue
			}
			if at[j] == nil {
				at[j] = make([]float64, len(x[i]))
			}
			count[j] += w
			sum[j] += w * y[i]
			for k, v := range x[i] {
				at[j][k] += w * v
			}
		}
	}
	for j := range m {
		if count[j] < 0.05 {
			continue
		}
		c := p.inducing[j]
		if p.c.Stat == "centroid" {
			c = at[j]
			for k := range c {
				c[k] /= count[j]
			}
		}
		z, v, n = append(z, c), append(v, sum[j]/count[j]), append(n, count[j])
	}
	return z, v, n
}
