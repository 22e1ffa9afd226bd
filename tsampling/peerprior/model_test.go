package peerprior

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/random"
	"github.com/fbo-node/fbo/surrogate/gp"
)

var testSpec = gp.Spec{Kernel: "matern52", Groups: []int{0, 0}}

// randomData are t observations in the square with a given noise.
func randomData(t int, noise float64, seed uint64) *data {
	rng := random.SeedOf(seed).Stream("data", 0)
	x, y := make([][]float64, t), make([]float64, t)
	for i := range x {
		x[i], y[i] = []float64{rng.Float64(), rng.Float64()}, 2*rng.NormFloat64()
	}
	return newData(testSpec, gp.Hyperparameters{Lengthscales: []float64{0.3}, Noise: noise}, x, y)
}

// dense is the same model by the formulas of a textbook: Σ = C + B S Bᵀ with
// B = [m 1], the log density of y - gain·m without its factor of 2π, and the
// posterior mean μ + S Bᵀ Σ⁻¹ (y - Bμ) and covariance S - S Bᵀ Σ⁻¹ B S.
func dense(d *data, m model, prior []float64) (logEvidence float64, mean [2]float64, cov [3]float64) {
	t := len(d.y)
	s := mat.NewDense(2, 2, []float64{m.gainVariance, 0, 0, m.levelVariance})
	b := mat.NewDense(t, 2, nil)
	full := mat.NewSymDense(t, nil)
	u := mat.NewVecDense(t, nil)
	for i := range t {
		b.Set(i, 0, prior[i])
		b.Set(i, 1, 1)
		u.SetVec(i, d.y[i]-m.gain*prior[i])
		for j := i; j < t; j++ {
			v := m.scale * m.scale * m.deviations[i] * m.deviations[j] * d.k.At(i, j)
			v += m.gainVariance*prior[i]*prior[j] + m.levelVariance
			if i == j {
				v += d.h.Noise
			}
			full.SetSym(i, j, v)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(full) {
		panic("the brute force failed")
	}
	var solved mat.VecDense
	if err := chol.SolveVecTo(&solved, u); err != nil {
		panic(err)
	}
	logEvidence = -0.5 * (mat.Dot(u, &solved) + chol.LogDet())
	var sb, sbSolved, gain, shrink mat.Dense
	sb.Mul(s, b.T())
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		panic(err)
	}
	sbSolved.Mul(&sb, &inverse)
	gain.Mul(&sbSolved, u)
	shrink.Mul(&sbSolved, sb.T())
	mean = [2]float64{m.gain + gain.At(0, 0), gain.At(1, 0)}
	cov = [3]float64{s.At(0, 0) - shrink.At(0, 0), -shrink.At(0, 1), s.At(1, 1) - shrink.At(1, 1)}
	return logEvidence, mean, cov
}

// The 2π of a density is the same for all models and left out by both.
func TestConditionIsTheDenseGaussian(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 25).Draw(rt, "t")
		seed := rapid.Uint64().Draw(rt, "seed")
		d := randomData(n, rapid.SampledFrom([]float64{1e-2, 0.1, 1}).Draw(rt, "noise"), seed)
		rng := random.SeedOf(seed).Stream("model", 0)
		m := model{
			scale:         rapid.Float64Range(0.3, 5).Draw(rt, "scale"),
			gain:          rapid.Float64Range(-3, 3).Draw(rt, "gain"),
			gainVariance:  rapid.SampledFrom([]float64{0, 0.01, 1, 20}).Draw(rt, "gain variance"),
			levelVariance: rapid.SampledFrom([]float64{0, 0.1, 4, 200}).Draw(rt, "level variance"),
			deviations:    make([]float64, n),
		}
		size, prior := rapid.SampledFrom([]float64{0, 0.1, 1, 30}).Draw(rt, "size of m"), make([]float64, n)
		for i := range prior {
			m.deviations[i], prior[i] = 0.05+rng.Float64(), size*rng.NormFloat64()
		}
		w := d.whiten(m.scale, m.deviations)
		wantEvidence, wantMean, wantCov := dense(d, m, prior)
		m.condition(w, w.see(prior))
		near := func(what string, got, want, unit float64) {
			if !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want)+unit)) {
				rt.Errorf("%s is %.12g, by brute force %.12g", what, got, want)
			}
		}
		near("the log evidence", m.logEvidence, wantEvidence, 0)
		for i := range wantMean {
			near("a mean", m.mean[i], wantMean[i], 0)
		}
		for i := range wantCov {
			near("a covariance", m.cov[i], wantCov[i], m.gainVariance+m.levelVariance)
		}
	})
}

// Without peers m is zero, and a is one everywhere.
func TestConditionWithoutPeers(t *testing.T) {
	d := randomData(12, 0.05, 3)
	m := model{scale: 2, levelVariance: 5}
	m.condition(d.whiten(2, nil), seen{})
	ones := make([]float64, 12)
	for i := range ones {
		ones[i] = 1
	}
	want, mean, _ := dense(d, model{scale: 2, levelVariance: 5, deviations: ones}, make([]float64, 12))
	if math.Abs(m.logEvidence-want) > 1e-9 || math.Abs(m.mean[1]-mean[1]) > 1e-9 || m.mean[0] != 0 {
		t.Errorf("log evidence %g, mean %v; by brute force %g, %v", m.logEvidence, m.mean, want, mean)
	}
}

// The evidence of a mean is that of a density whatever the mean's size, far
// beyond mostDeviations: it can never exceed that of the likeliest outputs, for
// which the quadratic form is 0.
func TestEvidenceOfHugeMeans(t *testing.T) {
	d := randomData(8, 1e-3, 5)
	rng := random.SeedOf(9).Stream("m", 0)
	shape := make([]float64, 8)
	for i := range shape {
		shape[i] = 1 + 0.3*rng.NormFloat64()
	}
	for _, size := range []float64{1, 1e3, mostDeviations, 100 * mostDeviations} {
		prior := make([]float64, len(shape))
		for i := range prior {
			prior[i] = size * shape[i]
		}
		w := d.whiten(1, nil)
		m := model{scale: 1, gain: 1, gainVariance: 0.05, levelVariance: 0.1}
		m.condition(w, w.see(prior))
		if bound := -0.5 * w.logDet; !(m.logEvidence <= bound) {
			t.Errorf("m of size %g has log evidence %g, at most %g is possible", size, m.logEvidence, bound)
		}
		if !(m.cov[0] > 0) || !(m.cov[0]*m.cov[2] >= m.cov[1]*m.cov[1]) {
			t.Errorf("m of size %g: the covariance %v is none", size, m.cov)
		}
	}
}

// The list of models of each kind carries exactly the odds that it was given.
func TestPriorOddsAreKept(t *testing.T) {
	total := func(models []model) float64 {
		sum := 0.0
		for _, m := range models {
			sum += math.Exp(m.logPrior)
		}
		return sum
	}
	for _, r := range []relation{ownUnits, commonUnits} {
		if got := total(r.models(0.37, 2, 0.1, nil)); math.Abs(got-0.37) > 1e-12 {
			t.Errorf("models with the odds 0.37 have %g together", got)
		}
	}
	if got := newData(gp.Spec{}, gp.Hyperparameters{}, nil, nil).alone; got != 0 {
		t.Errorf("before any data the log evidence without peers is %g", got)
	}
	sum := 0.0
	for _, v := range scaleOdds {
		sum += v
	}
	if len(scaleOdds) != len(scales) || math.Abs(sum-1) > 1e-12 {
		t.Errorf("the odds of %d scales are %v", len(scales), scaleOdds)
	}
}

func TestModelProbabilitiesSumToOne(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	means := l.peersOf(3, 12, bump(0.7), 50)
	for _, n := range []int{0, 1, 2, 3, 5, 45} {
		b := l.considered(with(l.view(l.designs(n, random.SeedOf(4)), bump(0.6)), means...))
		sum := b.aloneProbability
		for i, m := range b.models {
			sum += math.Exp(m.logPrior + m.logEvidence - b.logTotal)
			if m.prior == nil {
				t.Fatalf("model %d has no consensus", i)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("t = %d: probabilities sum to %.12g", n, sum)
		}
		if nobody := agree(l.strategy.compare(b.data, b.peers)[inOwnUnits]).nobody; n == 0 && math.Abs(b.aloneProbability-nobody) > 1e-9 {
			t.Errorf("before any observation alone has %g, want the probability that no two peers are alike, %g", b.aloneProbability, nobody)
		}
		if own := b.ownProbability(); !(own >= b.leastAlone() && own >= b.aloneProbability && own <= 1) {
			t.Errorf("t = %d: own probability %g, alone %g", n, own, b.aloneProbability)
		}
	}
}

// Peers are judged by how probable they make the own observations; before there
// are any, by the prior.
func TestPriorUseWithoutObservations(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	b := l.considered(with(l.view(nil, nil), l.peersOf(2, 12, bump(0.7), 50)...))
	for _, p := range b.peers {
		for view := range p.views {
			if use := p.views[view].use; math.Abs(use-peerOdds) > 1e-9 {
				t.Errorf("use %g before any observation, want %g", use, peerOdds)
			}
		}
	}
}

func TestLogAdd(t *testing.T) {
	inf := math.Inf(-1)
	for _, c := range [][3]float64{{inf, inf, inf}, {inf, 3, 3}, {3, inf, 3}, {1000, 1000, 1000 + math.Ln2}, {-1e5, 0, 0}} {
		if got := logAdd(c[0], c[1]); got != c[2] {
			t.Errorf("logAdd(%g, %g) = %g, want %g", c[0], c[1], got, c[2])
		}
	}
}

// The coordinates of the eigenvectors say the same as those of the factor.
func TestSpectrumIsTheFactor(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, seed := rapid.IntRange(1, 25).Draw(rt, "t"), rapid.Uint64().Draw(rt, "seed")
		d := randomData(n, rapid.SampledFrom([]float64{1e-2, 0.1, 1}).Draw(rt, "noise"), seed)
		rng := random.SeedOf(seed).Stream("model", 0)
		scale, deviation := rapid.Float64Range(0.3, 5).Draw(rt, "scale"), rapid.Float64Range(0.05, 1).Draw(rt, "deviation")
		deviations, prior := make([]float64, n), make([]float64, n)
		for i := range prior {
			deviations[i], prior[i] = deviation, rng.NormFloat64()
		}
		byFactor := model{scale: scale, gain: 1, gainVariance: 0.25, levelVariance: 4}
		byVectors := byFactor
		w := d.whiten(scale, deviations)
		byFactor.condition(w, w.see(prior))
		s := d.spectrum
		v := s.whiten(scale * scale * deviation * deviation)
		byVectors.condition(v, v.see(s.rotate(prior)))
		if math.Abs(byFactor.logEvidence-byVectors.logEvidence) > 1e-6*(1+math.Abs(byFactor.logEvidence)) {
			rt.Errorf("log evidence %g by the factor, %g by eigenvectors", byFactor.logEvidence, byVectors.logEvidence)
		}
		for i := range byFactor.mean {
			if math.Abs(byFactor.mean[i]-byVectors.mean[i]) > 1e-6*(1+math.Abs(byFactor.mean[i])) {
				rt.Errorf("mean %d: %g by the factor, %g by eigenvectors", i, byFactor.mean[i], byVectors.mean[i])
			}
		}
	})
}
