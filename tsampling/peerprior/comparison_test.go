package peerprior

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/surrogate/gp"
)

// uncorrelated compares at so many points of which none tells of another.
func uncorrelated(points int) *comparison {
	c := &comparison{mat.NewSymDense(points, nil)}
	for i := range points {
		c.correlations.SetSym(i, i, 1)
	}
	return c
}

// comparedAtRandom are of anything anywhere, some of nothing.
func comparedAtRandom(t *rapid.T, c *comparison) []*compared {
	var all []*compared
	for range rapid.IntRange(0, 8).Draw(t, "peers") {
		rng := random.SeedOf(rapid.Uint64().Draw(t, "peer")).Stream("peer", 0)
		size := math.Pow(10, rapid.Float64Range(-6, 4).Draw(t, "size"))
		units := math.Pow(10, rapid.Float64Range(-320, 100).Draw(t, "units"))
		var o inferred
		for _, at := range rng.Perm(c.correlations.SymmetricDim())[:rapid.IntRange(0, 5).Draw(t, "observations")] {
			o.at, o.values = append(o.at, at), append(o.values, size*rng.NormFloat64())
			o.noise = append(o.noise, peerNoise+rng.ExpFloat64())
		}
		all = append(all, c.prepare(o, units*rng.NormFloat64(), units))
	}
	return all
}

func TestLikeness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := uncorrelated(6)
		all := comparedAtRandom(t, c)
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*(1+math.Abs(a)) }
		for _, a := range all {
			for _, b := range all {
				there, back := c.likenesses(a, []*compared{b})[0], c.likenesses(b, []*compared{a})[0]
				for view := range there {
					x, y := there[view], back[view]
					for _, nats := range []float64{x.alike, x.contrary} {
						if math.IsNaN(nats) || math.IsInf(nats, 0) {
							t.Fatalf("likeness is %+v", there)
						}
					}
					if !near(x.alike, y.alike) || !near(x.contrary, y.contrary) {
						t.Fatalf("likeness is %+v one way and %+v the other", x, y)
					}
					if (a == nil || b == nil) && x != (likeness{}) {
						t.Fatalf("who says nothing has likeness %+v", x)
					}
				}
				if b == nil {
					continue
				}
				negative := b.inferred
				negative.values = nil
				for _, v := range b.values {
					negative.values = append(negative.values, -v)
				}
				other := c.likenesses(a, []*compared{c.prepare(negative, b.level, b.scale)})[0][inOwnUnits]
				if x := there[inOwnUnits]; !near(x.alike, other.contrary) || !near(x.contrary, other.alike) {
					t.Fatalf("likeness is %+v, and %+v to the contrary", x, other)
				}
			}
		}
	})
}

// The likeness of two peers is the log of the ratio of two densities, which are
// integrals over the square of the size.
func TestLikenessIsARatioOfDensities(t *testing.T) {
	c := &comparison{mat.NewSymDense(4, nil)}
	x := []float64{0, .3, .5, 1.2}
	for i := range x {
		for j := i; j < len(x); j++ {
			c.correlations.SetSym(i, j, math.Exp(-(x[i]-x[j])*(x[i]-x[j])/.32))
		}
	}
	a := c.prepare(inferred{at: []int{0, 2}, values: []float64{.4, -.8}, noise: []float64{.1, .3}}, 5, 2)
	b := c.prepare(inferred{at: []int{1, 3, 2}, values: []float64{.1, .9, -1.2}, noise: []float64{.2, .1, .1}}, 4, 3)
	// density of values with this covariance times the square of the size
	density := func(covariance *mat.SymDense, values []float64) float64 {
		var root mat.Cholesky
		if !root.Factorize(covariance) {
			t.Fatal("no covariance")
		}
		v, solved := mat.NewVecDense(len(values), values), new(mat.VecDense)
		if err := root.SolveVecTo(solved, v); err != nil {
			t.Fatal(err)
		}
		square, sum := mat.Dot(v, solved), 0.0
		const steps = 40000
		for i := range steps {
			s := 20 * (float64(i) + .5) / steps // the inverse of the squared size: gamma
			prior := math.Pow(sizeShape, sizeShape) / math.Gamma(sizeShape) * math.Pow(s, sizeShape-1) * math.Exp(-sizeShape*s)
			sum += prior * math.Pow(s, float64(len(values))/2) * math.Exp(-s*square/2) * 20 / steps
		}
		return math.Log(sum) - root.LogDet()/2
	}
	covariance := func(correlation float64, shared bool, of ...*compared) *mat.SymDense {
		var at, who []int
		var noise []float64
		for k, r := range of {
			for i := range r.at {
				at, who, noise = append(at, r.at[i]), append(who, k), append(noise, r.noise[i])
			}
		}
		k := mat.NewSymDense(len(at), nil)
		for i := range at {
			for j := i; j < len(at); j++ {
				v := c.correlations.At(at[i], at[j])
				if who[i] != who[j] {
					v *= correlation
				}
				if shared || who[i] == who[j] {
					v++
				}
				if i == j {
					v += noise[i]
				}
				k.SetSym(i, j, v)
			}
		}
		return k
	}
	scaled := func(r *compared, factor, offset float64) []float64 {
		var values []float64
		for _, v := range r.values {
			values = append(values, factor*v+offset)
		}
		return values
	}
	unit := math.Sqrt(6)
	common := func(correlation float64) float64 {
		values := append(scaled(a, 2/unit, .5/unit), scaled(b, 3/unit, -.5/unit)...)
		return density(covariance(correlation, true, a, b), values) + 2*math.Log(2/unit) + 3*math.Log(3/unit)
	}
	apart := density(covariance(1, false, a), a.values) + density(covariance(1, false, b), b.values)
	apartInCommon := math.Log((math.Exp(apart) + math.Exp(common(0))) / 2)
	got := c.likenesses(a, []*compared{b})[0]
	for name, correlation := range map[string]float64{"alike": math.Sqrt(1 - peerNoise), "contrary": -math.Sqrt(1 - peerNoise)} {
		own := 0.0
		for i, ratio := range sizeRatios {
			root := math.Sqrt(ratio)
			values := append(scaled(a, root, 0), scaled(b, 1/root, 0)...)
			own += sizeRatioOdds[i] * math.Exp(density(covariance(correlation, false, a, b), values)+math.Log(ratio)*(2-3)/2)
		}
		gotOwn, gotCommon := got[inOwnUnits].alike, got[inCommonUnits].alike
		if correlation < 0 {
			gotOwn, gotCommon = got[inOwnUnits].contrary, got[inCommonUnits].contrary
		}
		if want := math.Log(own) - apart; math.Abs(gotOwn-want) > 1e-3 {
			t.Errorf("%s in own units: %.5f nats, want %.5f", name, gotOwn, want)
		}
		if want := common(correlation) - apartInCommon; math.Abs(gotCommon-want) > 1e-3 {
			t.Errorf("%s in common units: %.5f nats, want %.5f", name, gotCommon, want)
		}
	}
}

// When an observation is inferred, it and those before it leave a process with the mean
// and the knowledge of the author there; unless the author knows more than the noise
// allows, and then with its mean.
func TestEachInferredObservationTellsWhatIsSaidThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const points = 12
		rng := random.SeedOf(rapid.Uint64().Draw(t, "author")).Stream("author", 0)
		at := make([][]float64, points)
		for i := range at {
			at[i] = []float64{rng.Float64(), rng.Float64()}
		}
		k := mat.NewSymDense(points, nil)
		known, mean := make([]float64, points), make([]float64, points)
		for i := range at {
			for j := range i + 1 {
				k.SetSym(i, j, math.Exp(-2*(square(at[i][0]-at[j][0])+square(at[i][1]-at[j][1]))))
			}
			known[i], mean[i] = mostKnown*rng.Float64(), rng.NormFloat64()
		}
		o := infer(k, known, mean, points)
		if len(o.at) == 0 || len(o.at) > mostInferred {
			t.Fatalf("%d observations are inferred", len(o.at))
		}
		checkInferred(t, k, o, known, mean)
	})
}

// checkInferred tells whether each of these observations and those before it leave a process
// of these correlations with this mean, and this knowledge unless noise forbids it.
func checkInferred(t interface{ Fatalf(string, ...any) }, k *mat.SymDense, o inferred, known, mean []float64) {
	for n := 1; n <= len(o.at); n++ {
		covariance, across := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
		here := o.at[n-1]
		for i, p := range o.at[:n] {
			for j, q := range o.at[:i+1] {
				covariance.SetSym(i, j, k.At(p, q))
			}
			covariance.SetSym(i, i, 1+o.noise[i])
			across.SetVec(i, k.At(p, here))
		}
		var root mat.Cholesky
		weights := new(mat.VecDense)
		if !root.Factorize(covariance) || root.SolveVecTo(weights, across) != nil {
			t.Fatalf("the first %d observations have no covariance", n)
		}
		if told := mat.Dot(weights, mat.NewVecDense(n, o.values[:n])); math.Abs(o.values[n-1]) < mostDeviations && math.Abs(told-mean[here]) > 1e-9 {
			t.Fatalf("observation %d leaves a mean of %g, want %g", n, told, mean[here])
		}
		told := mat.Dot(weights, across)
		if noise := o.noise[n-1]; noise < peerNoise || told > known[here]+1e-9 || noise > peerNoise && told < known[here]-1e-9 {
			t.Fatalf("observation %d, of noise %g, leaves %g known, want %g", n, noise, told, known[here])
		}
	}
}

// What an author knows follows from its own process.
func TestObservationsAreInferredUnderTheAuthorsLengthscales(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	for _, factor := range []float64{.5, 3} {
		means := l.peersOf(1, 6, clusters[0], 1)
		for i := range means[0].Lengthscales {
			means[0].Lengthscales[i] = factor * l.strategy.initialLengthscales()[i]
		}
		b := l.considered(with(l.view(nil, clusters[0]), means...))
		p := b.peers[0]
		if len(p.observed.at) < 2 {
			t.Fatalf("%d observations are inferred", len(p.observed.at))
		}
		points := l.strategy.points[:min(comparedPoints, len(l.strategy.points))]
		checkInferred(t, gp.Covariance(l.strategy.spec, points, p.Lengthscales), p.observed, p.known, p.values[0])
	}
}

func square(x float64) float64 { return x * x }

// A process that has made the inferred observations says what their author says. Over 20
// authors of 8 observations the correlation of the two means over the reference points is on
// average .98 in the plane and .78 with six parameters, of which the reference points miss
// more, and on average over these .04 too little is known at most.
func TestInferredObservationsTellWhatTheAuthorSays(t *testing.T) {
	six := ""
	for i := range 6 {
		six += fmt.Sprintf("{name: x%d, type: float, low: 0, high: 1}, ", i)
	}
	for name, c := range map[string]struct {
		parameters string
		least      float64
	}{"plane": {plane, .95}, "six parameters": {six, .7}} {
		l := newLab(t, "maximize", c.parameters, "type: exact, features: 256")
		correlations, excess := 0.0, 0.0
		for author := range uint64(20) {
			f := wave(1, 0, float64(author))
			mean := l.mean(l.view(l.designs(8, random.SeedOf(author)), f))
			b := l.considered(with(l.view(nil, f), []protocol.Mean{mean}...))
			peer := b.peers[0]
			k := gp.Covariance(l.strategy.spec, l.strategy.points[:comparedPoints], peer.Lengthscales)
			observed := mat.NewSymDense(len(peer.observed.at), nil)
			for i, p := range peer.observed.at {
				for j, q := range peer.observed.at {
					observed.SetSym(i, j, k.At(p, q))
				}
				observed.SetSym(i, i, 1+peer.observed.noise[i])
			}
			var root mat.Cholesky
			if !root.Factorize(observed) {
				t.Fatal("no covariance")
			}
			var told, said []float64
			for i := range comparedPoints {
				across, weights := mat.NewVecDense(len(peer.observed.at), nil), new(mat.VecDense)
				for j, p := range peer.observed.at {
					across.SetVec(j, k.At(i, p))
				}
				if err := root.SolveVecTo(weights, across); err != nil {
					t.Fatal(err)
				}
				told = append(told, mat.Dot(weights, mat.NewVecDense(len(peer.observed.values), peer.observed.values)))
				said = append(said, peer.values[0][i])
				excess += (mat.Dot(weights, across) - peer.known[i]) / comparedPoints / 20
			}
			correlations += correlation(told, said) / 20
		}
		t.Logf("%s: correlation %.3f, known too much by %.3f", name, correlations, excess)
		if correlations < c.least {
			t.Errorf("%s: the means correlate by %.3f only", name, correlations)
		}
		if math.Abs(excess) > 0.08 {
			t.Errorf("%s: the inferred observations tell %.3f more than the author knows", name, excess)
		}
	}
}
