package peerprior

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/linalg"
	"github.com/fbo-node/fbo/surrogate/gp"
)

// likeness tells what two peers say of their objectives: the log of how much more
// probable it is if these are alike, or each other's contrary, than if they are independent.
type likeness struct {
	alike, contrary float64
}

// comparison compares what peers seem to have observed. Their objectives are
//
//	f = a·s·(c + u), g = s·(c' ± v)/a, with a correlation of √(1-peerNoise) between u and v,
//
// or independent, each with a size and a level of its own. The square of a size s is inverse
// gamma, and levels c are standard normal. In own units levels are apart and a² is one of
// sizeRatios. In common units c = c', and a follows from the units; there independent
// objectives have, as probably, that in common too. Otherwise two of one kind would pass for
// alike, and who misstates its units would be like everybody.
type comparison struct {
	correlations *mat.SymDense // of the reference points, under the process of u and v
}

// compared is what a peer seems to have observed, as it counts in a comparison.
type compared struct {
	inferred
	level, scale float64           // of the values, in the task's units
	covariance   blas64.General    // with noise
	root         blas64.Triangular // U of the covariance, UᵀU
	logRoot      float64           // of its determinant
	vectors      blas64.General    // the values and a constant of 1, as columns, in coordinates in which that is the identity
	products     [2][2]float64     // of these
	alone        float64           // the log evidence if the objective is independent of the others
}

// The vectors of a peer, and of a second one after those of the first.
const (
	valuesOfA = iota
	levelOfA  // a constant of 1 at the points of a, and zero at those of b
	valuesOfB
	levelOfB
)

// prepare returns nil where there is nothing, or nothing that can be factorised.
func (c *comparison) prepare(o inferred, level, scale float64) *compared {
	n := len(o.at)
	if n == 0 {
		return nil
	}
	r := &compared{inferred: o, level: level, scale: scale, covariance: c.covariance(o.at, o.at), vectors: newMatrix(n, 2)}
	for i, noise := range o.noise {
		row(r.covariance, i)[i] += noise
	}
	root := newMatrix(n, n)
	copy(root.Data, r.covariance.Data)
	var ok bool
	if r.root, r.logRoot, ok = linalg.Factorise(upper(root)); !ok {
		return nil
	}
	for i, v := range o.values {
		copy(row(r.vectors, i), []float64{v, 1})
	}
	blas64.Trsm(blas.Left, blas.Trans, 1, r.root, r.vectors)
	for i := range n {
		for k, u := range row(r.vectors, i) {
			for l, v := range row(r.vectors, i) {
				r.products[k][l] += u * v
			}
		}
	}
	along, determinant := r.products[valuesOfA][levelOfA], 1+r.products[levelOfA][levelOfA]
	r.alone = newStudentDensity(n).at(r.products[valuesOfA][valuesOfA]-along*along/determinant, r.logRoot+math.Log(determinant)/2)
	return r
}

// covariance is that of a process at some reference points with it at others.
func (c *comparison) covariance(at, others []int) blas64.General {
	m := newMatrix(len(at), len(others))
	for i, p := range at {
		to := row(m, i)
		for j, q := range others {
			to[j] = c.correlations.At(p, q)
		}
	}
	return m
}

// compare returns the likeness of each two peers, in own and in common units; nil where
// there are no two.
func (s *Strategy) compare(d *data, peers []*listened) (pairs [2][][]likeness) {
	if len(peers) < 2 {
		return pairs
	}
	points := s.points[:min(comparedPoints, len(s.points))]
	c := &comparison{gp.Covariance(s.spec, points, d.h.Lengthscales)}
	all := make([]*compared, len(peers))
	for i, p := range peers {
		all[i] = c.prepare(p.observed, p.Level, p.Scale)
	}
	return c.compare(all)
}

func (c *comparison) compare(all []*compared) (pairs [2][][]likeness) {
	for view := range pairs {
		pairs[view] = make([][]likeness, len(all))
		for i := range all {
			pairs[view][i] = make([]likeness, len(all))
		}
	}
	for i, a := range all {
		for j, of := range c.likenesses(a, all[:i]) {
			for view := range pairs {
				pairs[view][i][j], pairs[view][j][i] = of[view], of[view]
			}
		}
	}
	return pairs
}

// likenesses returns those of a and each of the others, in own and in common units,
// without evidence where there is nothing to compare.
func (c *comparison) likenesses(a *compared, others []*compared) [][2]likeness {
	of := make([][2]likeness, len(others))
	var at []int // of the others, one after another
	for _, b := range others {
		if b != nil {
			at = append(at, b.at...)
		}
	}
	if a == nil || len(at) == 0 {
		return of
	}
	// If all are alike, with a in coordinates in which its covariance is the identity:
	across := c.covariance(a.at, at)
	blas64.Trsm(blas.Left, blas.Trans, math.Sqrt(1-peerNoise), a.root, across)
	told := newMatrix(len(a.products), len(at)) // by a of its vectors, in a row for each
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, a.vectors, across, 0, told)
	p := &pairing{a: a}
	from := 0
	for j, b := range others {
		if b == nil {
			continue
		}
		to := from + len(b.at)
		of[j] = p.likenessOf(b, columns(across, from, to), columns(told, from, to))
		from = to
	}
	return of
}

// pairing takes a peer together with others, one at a time.
type pairing struct {
	a    *compared
	work []float64 // for matrices
}

// likenessOf is that of a and b, given the covariance across and what a tells of its vectors
// at the points of b.
func (p *pairing) likenessOf(b *compared, across, told blas64.General) (of [2]likeness) {
	alike, ok := p.together(b, across, told)
	if !ok {
		return of
	}
	contrary, apart := alike.contrary(), p.a.alone+b.alone
	of[inOwnUnits] = likeness{alike: alike.inOwnUnits() - apart, contrary: contrary.inOwnUnits() - apart}
	if p.a.scale > 0 && b.scale > 0 {
		unrelated := independent(p.a, b)
		apart = logAdd(apart, unrelated.inCommonUnits()) - math.Ln2
		of[inCommonUnits] = likeness{alike: alike.inCommonUnits() - apart, contrary: contrary.inCommonUnits() - apart}
	}
	return of
}

// joint is two peers whose objectives have a size in common.
type joint struct {
	a, b     *compared
	products [4][4]float64 // of their vectors with each other, in coordinates in which the covariance is the identity
	logRoot  float64
	density  studentDensity
}

// independent is two peers of which neither tells of the other.
func independent(a, b *compared) joint {
	of := joint{a: a, b: b, logRoot: a.logRoot + b.logRoot, density: newStudentDensity(len(a.at) + len(b.at))}
	for k := range a.products {
		for l := range a.products {
			of.products[k][l] = a.products[k][l]
			of.products[valuesOfB+k][valuesOfB+l] = b.products[k][l]
		}
	}
	return of
}

// together is two peers whose objectives are alike; ok is false where that cannot be
// factorised.
func (p *pairing) together(b *compared, across, told blas64.General) (of joint, ok bool) {
	n := len(b.at)
	given := p.matrix(n, n+len(of.products)) // of b given a: the covariance, and the vectors
	covariance, vectors := columns(given, 0, n), columns(given, n, given.Cols)
	for i, v := range b.values {
		copy(row(covariance, i), row(b.covariance, i))
		copy(row(vectors, i), []float64{-row(told, valuesOfA)[i], -row(told, levelOfA)[i], v, 1})
	}
	blas64.Syrk(blas.Trans, -1, across, 1, upper(covariance))
	root, logRoot, ok := linalg.Factorise(upper(covariance))
	if !ok {
		return joint{}, false
	}
	blas64.Trsm(blas.Left, blas.Trans, 1, root, vectors)
	of = joint{a: p.a, b: b, logRoot: p.a.logRoot + logRoot, density: newStudentDensity(len(p.a.at) + n)}
	for i := range n {
		v := row(vectors, i)
		for k := range v {
			for l := range k + 1 {
				of.products[k][l] += v[k] * v[l]
			}
		}
	}
	for k := range of.products {
		for l := range k + 1 {
			if k < valuesOfB {
				of.products[k][l] += p.a.products[k][l]
			}
			of.products[l][k] = of.products[k][l]
		}
	}
	return of, true
}

// matrix returns one whose elements may be anything, in memory that the next one takes over.
func (p *pairing) matrix(rows, cols int) blas64.General {
	if len(p.work) < rows*cols {
		p.work = make([]float64, rows*cols)
	}
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: p.work[:rows*cols]}
}

// contrary is the same with the negative of b's objective: the covariance across has the
// other sign, and so have the products of what is of a with what is of b.
func (of joint) contrary() joint {
	for _, k := range []int{valuesOfA, levelOfA} {
		for _, l := range []int{valuesOfB, levelOfB} {
			of.products[k][l], of.products[l][k] = -of.products[k][l], -of.products[l][k]
		}
	}
	return of
}

func (of *joint) inCommonUnits() float64 {
	p := &of.products
	ratio := min(max(of.a.scale/of.b.scale, 1/mostUnitRatio), mostUnitRatio)
	root := math.Sqrt(ratio)
	offset := (of.a.level - of.b.level) / (2 * math.Sqrt(of.a.scale) * math.Sqrt(of.b.scale))
	offset = min(max(offset, -mostDeviations), mostDeviations)
	// The values, and a level that both have, of variance 1.
	values := [len(p)]float64{valuesOfA: root, valuesOfB: 1 / root, levelOfA: offset, levelOfB: -offset}
	square, along := 0.0, 0.0
	for k, u := range values {
		for l, v := range values {
			square += u * v * p[k][l]
		}
		along += u * (p[k][levelOfA] + p[k][levelOfB])
	}
	determinant := 1 + p[levelOfA][levelOfA] + 2*p[levelOfA][levelOfB] + p[levelOfB][levelOfB]
	return of.evidence(ratio, square-along*along/determinant, math.Log(determinant)/2)
}

func (of *joint) inOwnUnits() float64 {
	p := &of.products
	aa, ab, bb := 1+p[levelOfA][levelOfA], p[levelOfA][levelOfB], 1+p[levelOfB][levelOfB]
	determinant := aa*bb - ab*ab
	logRoot, total := math.Log(determinant)/2, math.Inf(-1)
	for i, ratio := range sizeRatios {
		u, v := math.Sqrt(ratio), 1/math.Sqrt(ratio)
		square := u*u*p[valuesOfA][valuesOfA] + 2*p[valuesOfA][valuesOfB] + v*v*p[valuesOfB][valuesOfB]
		alongA := u*p[valuesOfA][levelOfA] + v*p[valuesOfB][levelOfA]
		alongB := u*p[valuesOfA][levelOfB] + v*p[valuesOfB][levelOfB]
		square -= (bb*alongA*alongA - 2*ab*alongA*alongB + aa*alongB*alongB) / determinant
		total = logAdd(total, of.evidence(ratio, square, logRoot)+math.Log(sizeRatioOdds[i]))
	}
	return total
}

// evidence is the log density of the values of both, each in its own units, of which a's
// are ratio times as large as b's; levels are integrated out, which leaves this square and
// adds this to the log of the root's determinant.
func (of *joint) evidence(ratio, square, logRoot float64) float64 {
	return of.density.at(square, of.logRoot+logRoot) + float64(len(of.a.at)-len(of.b.at))/2*math.Log(ratio)
}

// studentDensity is that of a number of values whose squared size is inverse gamma, with shape
// and scale sizeShape.
type studentDensity struct{ shape, constant float64 }

func newStudentDensity(values int) studentDensity {
	half := float64(values) / 2
	with, _ := math.Lgamma(sizeShape + half)
	without, _ := math.Lgamma(sizeShape)
	return studentDensity{shape: sizeShape + half, constant: with - without - half*math.Log(sizeShape)}
}

// at returns the logarithm, up to a constant for each value, where the values' square in
// units of the size is this and the root of their covariance in these units has this log
// determinant.
func (d studentDensity) at(square, logRoot float64) float64 {
	return d.constant - logRoot - d.shape*math.Log1p(max(square, 0)/(2*sizeShape))
}

func newMatrix(rows, cols int) blas64.General {
	stride := max(cols, 1)
	return blas64.General{Rows: rows, Cols: cols, Stride: stride, Data: make([]float64, rows*stride)}
}

func upper(a blas64.General) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: a.Rows, Stride: a.Stride, Data: a.Data}
}

// columns are those from one and before another, in the same memory.
func columns(a blas64.General, from, to int) blas64.General {
	return blas64.General{Rows: a.Rows, Cols: to - from, Stride: a.Stride, Data: a.Data[from:]}
}
