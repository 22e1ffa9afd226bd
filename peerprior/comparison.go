package peerprior

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/gp"
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

// record is what a peer seems to have observed, as it counts in a comparison.
type record struct {
	inferred
	level, scale float64   // of the values, in the task's units
	root         []float64 // lower triangular, row by row: of the covariance with noise
	logRoot      float64   // of its determinant
	y, one       []float64 // the values and a constant of 1, in coordinates in which that is the identity
	alone        float64   // the log evidence if the objective is independent of the others
}

// record returns nil where there is nothing, or nothing that can be factorised.
func (c *comparison) record(o inferred, level, scale float64) *record {
	n := len(o.at)
	if n == 0 {
		return nil
	}
	r := &record{inferred: o, level: level, scale: scale, root: make([]float64, n*n)}
	for i, p := range o.at {
		for j, q := range o.at[:i+1] {
			r.root[i*n+j] = c.correlations.At(p, q)
		}
		r.root[i*n+i] += o.noise[i]
	}
	var ok bool
	if r.logRoot, ok = factorise(r.root, n); !ok {
		return nil
	}
	r.y, r.one = slices.Clone(o.values), slices.Repeat([]float64{1}, n)
	solve(r.root, r.y)
	solve(r.root, r.one)
	along, determinant := product(r.y, r.one), 1+product(r.one, r.one)
	r.alone = newDensity(n).at(product(r.y, r.y)-along*along/determinant, r.logRoot+math.Log(determinant)/2)
	return r
}

// compare returns the likeness of each two peers, in own and in common units; nil where
// there are no two.
func (s *Strategy) compare(d *data, peers []*listened) (pairs [2][][]likeness) {
	if len(peers) < 2 {
		return pairs
	}
	points := s.points[:min(comparedPoints, len(s.points))]
	c := &comparison{gp.Covariance(s.spec, points, d.h.Lengthscales)}
	records := make([]*record, len(peers))
	for i, p := range peers {
		records[i] = c.record(p.observed, p.Level, p.Scale)
	}
	return c.compare(records)
}

func (c *comparison) compare(records []*record) (pairs [2][][]likeness) {
	for view := range pairs {
		pairs[view] = make([][]likeness, len(records))
		for i := range records {
			pairs[view][i] = make([]likeness, len(records))
		}
	}
	for i, a := range records {
		for j, b := range records[:i] {
			for view, of := range c.likenessOf(a, b) {
				pairs[view][i][j], pairs[view][j][i] = of, of
			}
		}
	}
	return pairs
}

// likenessOf is without evidence where there is nothing to compare.
func (c *comparison) likenessOf(a, b *record) (of [2]likeness) {
	if a == nil || b == nil {
		return of
	}
	alike, ok := c.together(a, b)
	if !ok {
		return of
	}
	contrary, apart := alike.contrary(), a.alone+b.alone
	of[inOwnUnits] = likeness{alike: alike.inOwnUnits() - apart, contrary: contrary.inOwnUnits() - apart}
	if a.scale > 0 && b.scale > 0 {
		unrelated := independent(a, b)
		apart = logAdd(apart, unrelated.inCommonUnits()) - math.Ln2
		of[inCommonUnits] = likeness{alike: alike.inCommonUnits() - apart, contrary: contrary.inCommonUnits() - apart}
	}
	return of
}

// The vectors of two records together.
const (
	valuesOfA = iota
	valuesOfB
	levelOfA // a constant of 1 there, and zero in b
	levelOfB
	vectors
)

// joint is two records of objectives that have a size in common.
type joint struct {
	a, b     *record
	products [vectors][vectors]float64 // of the vectors with each other, in coordinates in which the covariance is the identity
	logRoot  float64
	density  density
}

// independent is two records of which neither tells of the other.
func independent(a, b *record) joint {
	of := joint{a: a, b: b, logRoot: a.logRoot + b.logRoot, density: newDensity(len(a.at) + len(b.at))}
	p := &of.products
	p[valuesOfA][valuesOfA], p[valuesOfB][valuesOfB] = product(a.y, a.y), product(b.y, b.y)
	p[levelOfA][levelOfA], p[levelOfB][levelOfB] = product(a.one, a.one), product(b.one, b.one)
	p[valuesOfA][levelOfA], p[valuesOfB][levelOfB] = product(a.y, a.one), product(b.y, b.one)
	p[levelOfA][valuesOfA], p[levelOfB][valuesOfB] = p[valuesOfA][levelOfA], p[valuesOfB][levelOfB]
	return of
}

// together is two records of objectives that are alike; ok is false where that cannot be
// factorised.
func (c *comparison) together(a, b *record) (of joint, ok bool) {
	n, m := len(a.at), len(b.at)
	correlation := math.Sqrt(1 - peerNoise)
	work := make([]float64, m*(n+m+vectors))
	across := work[:m*n]        // the covariance, a row for each point of b, in a's coordinates
	root := work[m*n : m*(n+m)] // of b's covariance given a
	for i, p := range b.at {
		row := across[i*n : i*n+n]
		for j, q := range a.at {
			row[j] = correlation * c.correlations.At(p, q)
		}
		solve(a.root, row)
		for j, q := range b.at[:i+1] {
			root[i*m+j] = c.correlations.At(p, q) - product(row, across[j*n:j*n+n])
		}
		root[i*m+i] += b.noise[i]
	}
	logRoot, ok := factorise(root, m)
	if !ok {
		return joint{}, false
	}
	of = joint{a: a, b: b, logRoot: a.logRoot + logRoot, density: newDensity(n + m)}
	var given [vectors][]float64 // what a leaves of each vector at b's points
	for k := range given {
		given[k] = work[m*(n+m+k) : m*(n+m+k+1)]
	}
	for i := range m {
		row := across[i*n : i*n+n]
		given[valuesOfA][i], given[levelOfA][i] = -product(row, a.y), -product(row, a.one)
		given[valuesOfB][i], given[levelOfB][i] = b.values[i], 1
	}
	for k := range given {
		solve(root, given[k])
	}
	atA := [vectors][]float64{valuesOfA: a.y, levelOfA: a.one}
	for k := range given {
		for l := range k + 1 {
			v := product(given[k], given[l])
			if atA[k] != nil && atA[l] != nil {
				v += product(atA[k], atA[l])
			}
			of.products[k][l], of.products[l][k] = v, v
		}
	}
	return of, true
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
	values := [vectors]float64{valuesOfA: root, valuesOfB: 1 / root, levelOfA: offset, levelOfB: -offset}
	square, along := 0.0, 0.0
	for k, u := range values {
		for l, v := range values {
			square += u * v * p[k][l]
		}
		along += u * (p[k][levelOfA] + p[k][levelOfB])
	}
	determinant := 1 + p[levelOfA][levelOfA] + 2*p[levelOfA][levelOfB] + p[levelOfB][levelOfB]
	return of.evidence(ratio, square-along*along/determinant, determinant)
}

func (of *joint) inOwnUnits() float64 {
	p := &of.products
	aa, ab, bb := 1+p[levelOfA][levelOfA], p[levelOfA][levelOfB], 1+p[levelOfB][levelOfB]
	determinant := aa*bb - ab*ab
	total := math.Inf(-1)
	for i, ratio := range sizeRatios {
		u, v := math.Sqrt(ratio), 1/math.Sqrt(ratio)
		square := u*u*p[valuesOfA][valuesOfA] + 2*p[valuesOfA][valuesOfB] + v*v*p[valuesOfB][valuesOfB]
		alongA := u*p[valuesOfA][levelOfA] + v*p[valuesOfB][levelOfA]
		alongB := u*p[valuesOfA][levelOfB] + v*p[valuesOfB][levelOfB]
		square -= (bb*alongA*alongA - 2*ab*alongA*alongB + aa*alongB*alongB) / determinant
		total = logAdd(total, of.evidence(ratio, square, determinant)+math.Log(sizeRatioOdds[i]))
	}
	return total
}

// evidence is the log density of the values of both, each in its own units, of which a's
// are ratio times as large as b's; levels are integrated out, which leaves this square and
// determinant.
func (of *joint) evidence(ratio, square, determinant float64) float64 {
	logRoot := of.logRoot + math.Log(determinant)/2
	return of.density.at(square, logRoot) + float64(len(of.a.at)-len(of.b.at))/2*math.Log(ratio)
}

// density is that of a number of values whose squared size is inverse gamma, with shape
// and scale sizeShape.
type density struct{ shape, constant float64 }

func newDensity(values int) density {
	half := float64(values) / 2
	with, _ := math.Lgamma(sizeShape + half)
	without, _ := math.Lgamma(sizeShape)
	return density{shape: sizeShape + half, constant: with - without - half*math.Log(sizeShape)}
}

// at returns the logarithm, up to a constant for each value, where the values' square in
// units of the size is this and the root of their covariance in these units has this log
// determinant.
func (d density) at(square, logRoot float64) float64 {
	return d.constant - logRoot - d.shape*math.Log1p(max(square, 0)/(2*sizeShape))
}

// factorise replaces the lower triangle of a positive definite matrix of a few rows by its
// root, and returns the log of the root's determinant.
func factorise(a []float64, n int) (logRoot float64, ok bool) {
	for i := range n {
		row := a[i*n : i*n+i+1]
		for j := range i {
			row[j] = (row[j] - product(row[:j], a[j*n:j*n+j])) / a[j*n+j]
		}
		square := row[i] - product(row[:i], row[:i])
		if !(square > 0) {
			return 0, false
		}
		row[i] = math.Sqrt(square)
		logRoot += math.Log(row[i])
	}
	return logRoot, true
}

// solve replaces v by the solution of root·x = v.
func solve(root, v []float64) {
	n := len(v)
	for i := range v {
		v[i] = (v[i] - product(root[i*n:i*n+i], v[:i])) / root[i*n+i]
	}
}

func product(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
