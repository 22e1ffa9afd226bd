package latent

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/radial"
	"github.com/fbo-node/fbo/internal/random"
)

// grid is a line of points that go beyond both ends of the unit interval. What smooths
// latent functions reaches over the ends.
func grid(count int, beyond float64) (points [][]float64) {
	for i := range count {
		points = append(points, []float64{-beyond + (1+2*beyond)*float64(i)/float64(count-1)})
	}
	return points
}

func scattered(rng *rand.Rand, count, dim int) (points [][]float64) {
	for range count {
		x := make([]float64, dim)
		for i := range x {
			x[i] = rng.Float64()
		}
		points = append(points, x)
	}
	return points
}

func specOf(dim, latents int, own bool, points [][]float64) Spec {
	s := Spec{Kernel: radial.Matern52, Points: points, Latents: latents, Own: own}
	for i := range dim {
		s.Groups = append(s.Groups, i)
	}
	return s
}

// drawn are hyperparameters around the modes of their priors, of short lengthscales.
func drawn(s Spec, rng *rand.Rand) Hyperparameters {
	theta := encode(s, s.PriorMode())
	for i := range theta {
		theta[i] += 0.3 * rng.NormFloat64()
	}
	h := decode(s, theta)
	h.Noise += 0.02
	return h
}

func outputs(rng *rand.Rand, count int) (y []float64) {
	for range count {
		y = append(y, rng.NormFloat64())
	}
	return y
}

func gathered(t *testing.T, s Spec, said ...Statement) *Gathered {
	t.Helper()
	g, err := s.Gather(said)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func stated(t *testing.T, s Spec, h Hyperparameters, x [][]float64, y []float64) Statement {
	t.Helper()
	said, err := s.State(h, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

func conditioned(t *testing.T, s Spec, g *Gathered, h Hyperparameters, x [][]float64, y []float64) *Posterior {
	t.Helper()
	p, err := s.Condition(g, h, x, y)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The gradient is that of the value, in one and two dimensions, with one and two latent
// functions, as published and with own processes, whatever others say.
func TestGradient(t *testing.T) {
	for _, dim := range []int{1, 2} {
		for _, latents := range []int{1, 2} {
			for _, own := range []bool{false, true} {
				t.Run(fmt.Sprintf("d=%d,Q=%d,own=%v", dim, latents, own), func(t *testing.T) {
					rng := random.SeedOf(uint64(dim)).Stream("gradient", uint64(latents))
					s := specOf(dim, latents, own, scattered(rng, 9, dim))
					other := drawn(s, rng)
					g := gathered(t, s, stated(t, s, other, scattered(rng, 4, dim), outputs(rng, 4)))
					h := drawn(s, rng)
					e := evidence{s, g, scattered(rng, 6, dim), outputs(rng, 6)}
					theta, free := encode(s, h), latents*dim
					got := make([]float64, len(theta)-free)
					if _, ok := e.at(h, got); !ok {
						t.Fatal("no value")
					}
					want := fd.Gradient(nil, func(private []float64) float64 {
						v, ok := e.at(decode(s, append(theta[:free:free], private...)), nil)
						if !ok {
							t.Fatal("no value")
						}
						return v
					}, theta[free:], &fd.Settings{Formula: fd.Central, Step: 1e-5})
					for i := range got {
						near(t, fmt.Sprintf("derivative %d", i), got[i], want[i], 1e-4*(1+math.Abs(want[i])))
					}
				})
			}
		}
	}
}

// agents with observations of their own.
type agents struct {
	h []Hyperparameters
	x [][][]float64
	y [][]float64
}

func drawAgents(s Spec, rng *rand.Rand, count, observations int) (a agents) {
	common := drawn(s, rng)
	for range count {
		h := drawn(s, rng)
		h.Latent = common.Latent
		a.h, a.x, a.y = append(a.h, h), append(a.x, scattered(rng, observations, len(s.Groups))), append(a.y, outputs(rng, observations))
	}
	return a
}

// cross is the covariance of agents' functions, without the points of the latent ones.
func (a agents) cross(s Spec, k, j int, x, z []float64) (value float64) {
	if k == j {
		value = s.ofOwn(a.h[k], x, z)
	}
	for q := range s.Latents {
		value += a.h[k].Gains[q] * a.h[j].Gains[q] * s.smoothed(a.h[k].Latent[q], a.h[k].Smoothing[q], a.h[j].Smoothing[q], x, z, nil)
	}
	return value
}

// dense is the posterior of agent k's function at x given all observations.
func (a agents) dense(t *testing.T, s Spec, k int, at []float64) (mean, variance float64) {
	t.Helper()
	type observation struct{ agent, index int }
	var all []observation
	for i := range a.x {
		for n := range a.x[i] {
			all = append(all, observation{i, n})
		}
	}
	c, y, of := mat.NewSymDense(len(all), nil), mat.NewVecDense(len(all), nil), mat.NewVecDense(len(all), nil)
	for i, p := range all {
		for j, q := range all[:i+1] {
			c.SetSym(i, j, a.cross(s, p.agent, q.agent, a.x[p.agent][p.index], a.x[q.agent][q.index]))
		}
		c.SetSym(i, i, c.At(i, i)+a.h[p.agent].Noise)
		y.SetVec(i, a.y[p.agent][p.index])
		of.SetVec(i, a.cross(s, k, p.agent, at, a.x[p.agent][p.index]))
	}
	var root mat.Cholesky
	if !root.Factorize(c) {
		t.Fatal("the dense covariance is not positive definite")
	}
	var alpha, solved mat.VecDense
	if root.SolveVecTo(&alpha, y) != nil || root.SolveVecTo(&solved, of) != nil {
		t.Fatal("the dense covariance is ill conditioned")
	}
	return mat.Dot(of, &alpha), a.cross(s, k, k, at, at) - mat.Dot(of, &solved)
}

// Where the points of the latent functions are close, statements of others and own
// observations give what the dense multi-output process does that has all observations:
// with own processes, and as published. Without others it is the agent's process alone.
func TestAgainstTheDenseProcess(t *testing.T) {
	for _, own := range []bool{false, true} {
		for _, latents := range []int{1, 2} {
			rng := random.SeedOf(3).Stream("dense", uint64(latents))
			s := specOf(1, latents, own, grid(80, 0.7))
			a := drawAgents(s, rng, 4, 5)
			for k := range a.h {
				var said []Statement
				for j := range a.h {
					if j != k {
						said = append(said, stated(t, s, a.h[j], a.x[j], a.y[j]))
					}
				}
				p := conditioned(t, s, gathered(t, s, said...), a.h[k], a.x[k], a.y[k])
				alone := agents{a.h[k : k+1], a.x[k : k+1], a.y[k : k+1]}
				q := conditioned(t, s, gathered(t, s), a.h[k], a.x[k], a.y[k])
				for _, at := range scattered(rng, 5, 1) {
					mean, variance := p.Predict(at)
					wantMean, wantVariance := a.dense(t, s, k, at)
					near(t, "the mean", mean, wantMean, 1e-3)
					near(t, "the variance", variance, wantVariance, 1e-3)
					mean, variance = q.Predict(at)
					wantMean, wantVariance = alone.dense(t, s, 0, at)
					near(t, "the mean alone", mean, wantMean, 1e-3)
					near(t, "the variance alone", variance, wantVariance, 1e-3)
				}
			}
		}
	}
}

// In two dimensions as well, with points on a square lattice.
func TestAgainstTheDenseProcessInThePlane(t *testing.T) {
	rng := random.SeedOf(4).Stream("dense", 0)
	var lattice [][]float64
	for _, a := range grid(10, 0.2) {
		for _, b := range grid(10, 0.2) {
			lattice = append(lattice, []float64{a[0], b[0]})
		}
	}
	s := specOf(2, 1, true, lattice)
	a := drawAgents(s, rng, 3, 8)
	said := []Statement{stated(t, s, a.h[1], a.x[1], a.y[1]), stated(t, s, a.h[2], a.x[2], a.y[2])}
	p := conditioned(t, s, gathered(t, s, said...), a.h[0], a.x[0], a.y[0])
	for _, at := range scattered(rng, 8, 2) {
		mean, variance := p.Predict(at)
		wantMean, wantVariance := a.dense(t, s, 0, at)
		near(t, "the mean", mean, wantMean, 2e-2)
		near(t, "the variance", variance, wantVariance, 2e-2)
	}
}

// However few the points of the latent functions, the own observations are known exactly: what
// points lack only makes others less worth.
func TestFewPointsLeaveOwnObservations(t *testing.T) {
	rng := random.SeedOf(5).Stream("few", 0)
	s := specOf(1, 1, true, grid(3, 0.05))
	a := drawAgents(s, rng, 1, 6)
	p := conditioned(t, s, gathered(t, s), a.h[0], a.x[0], a.y[0])
	for _, at := range scattered(rng, 5, 1) {
		mean, variance := p.Predict(at)
		wantMean, wantVariance := a.dense(t, s, 0, at)
		near(t, "the mean", mean, wantMean, 1e-8)
		near(t, "the variance", variance, wantVariance, 1e-8)
	}
}

// Whoever speaks first, what is gathered is the same, and so is what follows from more
// observations than u has values.
func TestOrderDoesNotMatter(t *testing.T) {
	rng := random.SeedOf(6).Stream("order", 0)
	s := specOf(1, 2, true, grid(7, 0.05))
	a := drawAgents(s, rng, 3, 20)
	var said []Statement
	for j := range a.h {
		a.h[j].Latent = drawn(s, rng).Latent // statements by other lengthscales are comparable all the same
		said = append(said, stated(t, s, a.h[j], a.x[j], a.y[j]))
	}
	if rows := len(said[0].Rows); rows != s.size() {
		t.Errorf("20 observations make %d rows, want %d", rows, s.size())
	}
	h := drawn(s, rng)
	there := conditioned(t, s, gathered(t, s, said[0], said[1], said[2]), h, a.x[0], a.y[0])
	back := conditioned(t, s, gathered(t, s, said[2], said[0], said[1]), h, a.x[0], a.y[0])
	for _, at := range scattered(rng, 5, 1) {
		mean, variance := there.Predict(at)
		wantMean, wantVariance := back.Predict(at)
		near(t, "the mean", mean, wantMean, 1e-9)
		near(t, "the variance", variance, wantVariance, 1e-9)
	}
	first := s.Average(gathered(t, s, said[0], said[1]), a.h[2].Latent, 20)
	last := s.Average(gathered(t, s, said[2], said[1]), a.h[0].Latent, 20)
	for q := range first {
		near(t, "the average", first[q][0], last[q][0], 1e-12)
	}
}

// In one dimension the covariances are those of the paper's code, in its precisions.
func TestOneDimension(t *testing.T) {
	const ofU, ofK, ofJ, r = 30.0, 80.0, 12.0, 0.3 * 0.3
	s := specOf(1, 1, false, grid(2, 0.05))
	l, p, q, none := []float64{1 / ofU}, []float64{1 / ofK}, []float64{1 / ofJ}, []float64{0}
	a, b := []float64{0.1}, []float64{0.4}
	sum := 1/ofK + 1/ofJ + 1/ofU
	functions := math.Pow(2/ofK+1/ofU, 0.25) * math.Pow(2/ofJ+1/ofU, 0.25) / math.Sqrt(sum) * math.Exp(-0.5*r/sum)
	near(t, "the covariance of functions", s.smoothed(l, p, q, a, b, nil), functions, 1e-12)
	sum = 1/ofK + 1/ofU
	values := math.Pow(2/ofK+1/ofU, 0.25) * math.Pow(1/ofU, 0.25) / math.Sqrt(sum) * math.Exp(-0.5*r/sum)
	near(t, "the covariance with the latent function", s.smoothed(l, p, none, a, b, nil), values, 1e-12)
	near(t, "the latent function's", s.smoothed(l, none, none, a, b, nil), math.Exp(-0.5*ofU*r), 1e-12)
	near(t, "one function's", s.covariance(l, p, a, b, nil), s.smoothed(l, p, p, a, b, nil), 1e-12)
}

// The variance counts each latent function once.
func TestVarianceBeforehand(t *testing.T) {
	s := specOf(2, 2, false, scattered(random.SeedOf(7).Stream("points", 0), 5, 2))
	h := s.PriorMode()
	h.Gains = []float64{0.5, -2}
	p := conditioned(t, s, gathered(t, s), h, nil, nil)
	_, variance := p.Predict([]float64{0.2, 0.7})
	near(t, "the variance", variance, 0.25+4, 1e-9)
}

// bound is the ELBO of the paper, of all agents with the normal distribution of v that has
// this mean and this factor of its variance.
func (a agents) bound(t *testing.T, s Spec, mean *mat.VecDense, factor *mat.TriDense) (bound float64) {
	t.Helper()
	lower, ok := s.ofValues(a.h[0].Latent)
	if !ok {
		t.Fatal("no factor")
	}
	for k, h := range a.h {
		w := timesTransposedInverse(s.withValues(h, a.x[k]), lower)
		for i, y := range a.y[k] {
			var spread mat.VecDense
			spread.MulVec(factor.T(), w.RowView(i))
			d := y - mat.Dot(w.RowView(i), mean)
			variance := s.ofLatents(h, a.x[k][i], a.x[k][i]) - mat.Dot(w.RowView(i), w.RowView(i)) + mat.Dot(&spread, &spread)
			bound -= 0.5 * (math.Log(2*math.Pi*h.Noise) + (d*d+variance)/h.Noise)
		}
	}
	for i := range s.size() {
		for j := range i + 1 {
			bound -= 0.5 * factor.At(i, j) * factor.At(i, j)
		}
		bound += 0.5 + math.Log(factor.At(i, i))
	}
	return bound - 0.5*mat.Dot(mean, mean)
}

// As published, the product of the statements is the distribution of largest ELBO: each step
// away from it lowers that. For one agent the largest is what Fit climbs on.
func TestStatementsMaximiseTheBound(t *testing.T) {
	rng := random.SeedOf(8).Stream("bound", 0)
	s := specOf(1, 1, false, grid(6, 0.05))
	for _, count := range []int{1, 3} {
		a := drawAgents(s, rng, count, 4)
		var said []Statement
		for k := range a.h {
			said = append(said, stated(t, s, a.h[k], a.x[k], a.y[k]))
		}
		b, err := s.marginalOf(gathered(t, s, said...), a.h[0].Latent)
		if err != nil {
			t.Fatal(err)
		}
		var root mat.Cholesky
		if !root.Factorize(b.variance) {
			t.Fatal("no factor")
		}
		var factor mat.TriDense
		root.LTo(&factor)
		most := a.bound(t, s, b.mean, &factor)
		if count == 1 {
			e := evidence{s, gathered(t, s), a.x[0], a.y[0]}
			value, ok := e.at(a.h[0], nil)
			if !ok {
				t.Fatal("no evidence")
			}
			near(t, "the evidence of one agent", value, most, 1e-6)
		}
		for range 40 {
			mean, moved := mat.VecDenseCopyOf(b.mean), mat.NewTriDense(s.size(), mat.Lower, nil)
			for i := range s.size() {
				mean.SetVec(i, mean.AtVec(i)+0.01*rng.NormFloat64())
				for j := range i + 1 {
					moved.SetTri(i, j, factor.At(i, j)*math.Exp(0.01*rng.NormFloat64()))
				}
			}
			if less := a.bound(t, s, mean, moved); less >= most {
				t.Errorf("the bound is %v beside the product of %d statements, and %v at it", less, count, most)
			}
		}
	}
}

// What is learned from alike functions is that they are alike, and from unlike ones that they
// are not.
func TestFitTellsAlikeFromUnlike(t *testing.T) {
	s := specOf(1, 1, true, grid(20, 0.05))
	f := func(x float64) float64 { return 1.4 * math.Sin(9*x) }
	other := func(x float64) float64 { return 1.4 * math.Cos(15*x+1) }
	observe := func(f func(float64) float64, seed uint64) (x [][]float64, y []float64) {
		x = scattered(random.SeedOf(seed).Stream("x", 0), 8, 1)
		for _, p := range x {
			y = append(y, f(p[0]))
		}
		return x, y
	}
	errorWith := func(peers func(float64) float64) (gain, deviation float64) {
		var said []Statement
		for k := range uint64(5) {
			x, y := observe(peers, k)
			h, err := s.Fit(context.Background(), gathered(t, s), x, y, s.PriorMode().Latent, true, nil)
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, stated(t, s, h, x, y))
		}
		g := gathered(t, s, said...)
		x, y := observe(f, 9)
		h, err := s.Fit(context.Background(), g, x[:5], y[:5], s.PriorMode().Latent, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		h.Latent = s.Average(g, h.Latent, 5)
		if h, err = s.Fit(context.Background(), g, x[:5], y[:5], h.Latent, true, &h); err != nil {
			t.Fatal(err)
		}
		p := conditioned(t, s, g, h, x[:5], y[:5])
		for i := range 50 {
			at := []float64{(float64(i) + 0.5) / 50}
			mean, _ := p.Predict(at)
			deviation += (mean - f(at[0])) * (mean - f(at[0])) / 50
		}
		return math.Abs(h.Gains[0]) / math.Sqrt(h.Own), math.Sqrt(deviation)
	}
	alike, good := errorWith(f)
	unlike, bad := errorWith(other)
	t.Logf("gain over own deviation %.3g and %.3g, error %.3g and %.3g", alike, unlike, good, bad)
	if !(alike > 3*unlike && good < 0.2 && good < bad/2) {
		t.Errorf("of alike peers the gain is %.3g own deviations and the error %.3g, of unlike ones %.3g and %.3g", alike, good, unlike, bad)
	}
}

// A liar who is as sure as bounds allow takes away what honest peers are worth, and more:
// nothing here weighs one statement against another. On average over twenty functions
// predictions become worse than by own observations, but not more than two and a half times.
func TestOneFalseStatementWorsensPredictions(t *testing.T) {
	s := specOf(1, 1, true, grid(20, 0.05))
	var own, honest, lied float64
	for k := range uint64(20) {
		rng := random.SeedOf(k).Stream("liar", 0)
		phase := 6 * rng.Float64()
		f := func(x float64) float64 { return 1.4 * math.Sin(9*x+phase) }
		observe := func() (x [][]float64, y []float64) {
			x = scattered(rng, 8, 1)
			for _, p := range x {
				y = append(y, f(p[0]))
			}
			return x, y
		}
		var said []Statement
		for range 4 {
			x, y := observe()
			said = append(said, stated(t, s, s.PriorMode(), x, y))
		}
		attack := Statement{Observations: MaxObservations, Latent: s.PriorMode().Latent}
		for i := range s.size() {
			row := make([]float64, s.size())
			row[i] = MaxEntry
			attack.Rows, attack.Outputs = append(attack.Rows, row), append(attack.Outputs, MaxEntry*(2*rng.Float64()-1))
		}
		x, y := observe()
		errorOf := func(said ...Statement) (square float64) {
			g := gathered(t, s, said...)
			h, err := s.Fit(context.Background(), g, x, y, s.PriorMode().Latent, true, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := conditioned(t, s, g, h, x, y)
			for i := range 50 {
				at := (float64(i) + 0.5) / 50
				mean, _ := p.Predict([]float64{at})
				square += (mean - f(at)) * (mean - f(at)) / 50 / 20
			}
			return square
		}
		own, honest, lied = own+errorOf(), honest+errorOf(said...), lied+errorOf(append(said, attack)...)
	}
	own, honest, lied = math.Sqrt(own), math.Sqrt(honest), math.Sqrt(lied)
	t.Logf("error %.3g by own observations, %.3g with four honest peers, %.3g with a liar beside them", own, honest, lied)
	if !(honest < own/2 && lied > honest && lied < 2.5*own) {
		t.Errorf("the error is %.3g by own observations, %.3g with four honest peers, %.3g with a liar beside them", own, honest, lied)
	}
}

// The gradients of mean, variance and samples are those of their values.
func TestPosteriorGradients(t *testing.T) {
	for _, own := range []bool{false, true} {
		rng := random.SeedOf(10).Stream("slopes", 0)
		s := specOf(2, 2, own, scattered(rng, 8, 2))
		a := drawAgents(s, rng, 2, 6)
		p := conditioned(t, s, gathered(t, s, stated(t, s, a.h[1], a.x[1], a.y[1])), a.h[0], a.x[0], a.y[0])
		f, err := p.Draw(64, rng)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range scattered(rng, 4, 2) {
			ofMean, ofVariance, ofSample := make([]float64, 2), make([]float64, 2), make([]float64, 2)
			mean, variance := p.PredictGradient(ofMean, ofVariance, x)
			value := f.Gradient(ofSample, x)
			wantMean, wantVariance := p.Predict(x)
			near(t, "the mean", mean, wantMean, 1e-12)
			near(t, "the variance", variance, wantVariance, 1e-12)
			near(t, "the sample", value, f.Value(x), 1e-12)
			const small = 1e-6 // an error of at most 1e-5 where a slope is up to 9
			fbotest.CheckGradient(t, ofMean, x, func(x []float64) float64 { m, _ := p.Predict(x); return m }, small)
			fbotest.CheckGradient(t, ofVariance, x, func(x []float64) float64 { _, v := p.Predict(x); return v }, small)
			fbotest.CheckGradient(t, ofSample, x, f.Value, small)
		}
	}
}

// Samples have the mean and the variance of the posterior, within four standard errors of
// 2,000 samples and what 256 waves lack.
func TestSamplesAreThePosterior(t *testing.T) {
	for _, own := range []bool{false, true} {
		rng := random.SeedOf(11).Stream("samples", 0)
		s := specOf(1, 1, own, grid(12, 0.05))
		a := drawAgents(s, rng, 2, 4)
		p := conditioned(t, s, gathered(t, s, stated(t, s, a.h[1], a.x[1], a.y[1])), a.h[0], a.x[0], a.y[0])
		points := append(scattered(rng, 4, 1), a.x[0][0])
		const count = 2000
		sums, squares := make([]float64, len(points)), make([]float64, len(points))
		for range count {
			f, err := p.Draw(256, rng)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range points {
				v := f.Value(x)
				sums[i] += v / count
				squares[i] += v * v / count
			}
		}
		for i, x := range points {
			mean, variance := p.Predict(x)
			near(t, "the samples' mean", sums[i], mean, 4*math.Sqrt(variance/count))
			near(t, "the samples' variance", squares[i]-sums[i]*sums[i], variance, variance*(4*math.Sqrt(2.0/count)+0.03))
		}
	}
}
