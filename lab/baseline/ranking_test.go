package baseline

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

func TestDiscordantPairs(t *testing.T) {
	for _, c := range []struct {
		name string
		f, y []float64
		want int
	}{
		{"none", nil, nil, 0},
		{"one value", []float64{1}, []float64{2}, 0},
		{"same order", []float64{1, 2, 3}, []float64{10, 20, 30}, 0},
		{"reversed", []float64{3, 2, 1}, []float64{10, 20, 30}, 6},
		{"one pair swapped", []float64{2, 1, 3}, []float64{10, 20, 30}, 2},
		{"tied outputs", []float64{1, 2}, []float64{5, 5}, 1},
		{"tied function", []float64{1, 1}, []float64{5, 6}, 1},
		{"both tied", []float64{1, 1}, []float64{5, 5}, 0},
	} {
		if got := discordant(c.f, c.y); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestRankingWeights(t *testing.T) {
	for _, c := range []struct {
		name   string
		target []int
		peers  [][]int
		own    float64
		others []float64
	}{
		{"no peers", []int{3, 5}, nil, 1, []float64{}},
		{"the target wins ties", []int{3, 3, 3, 3}, [][]int{{3, 3, 3, 3}}, 1, []float64{0}},
		{"by draw", []int{3, 3, 3, 3}, [][]int{{2, 3, 4, 2}}, 0.5, []float64{0.5}},
		{"peers share ties", []int{4, 4, 4, 4}, [][]int{{1, 1, 9, 1}, {1, 2, 9, 1}}, 0.25, []float64{0.5, 0.25}},
		// The quantile of 0, 0, 0, 10 at 0.95 is 8.5; the medians are 8 and 9.
		{"dropped above the 95th percentile", []int{10, 0, 0, 0}, [][]int{{8, 8, 8, 8}, {0, 9, 9, 9}}, 0.75, []float64{0.25, 0}},
		{"a later peer takes over", []int{5, 5}, [][]int{{4, 6}, {3, 1}}, 0, []float64{0, 1}},
	} {
		own, others := rankingWeights(c.target, c.peers)
		if own != c.own || !slices.Equal(others, c.others) {
			t.Errorf("%s: %g and %g, want %g and %g", c.name, own, others, c.own, c.others)
		}
	}
}

// example is one member with so many observations of a hill in two dimensions.
func example(t *testing.T, kernel string, count int) *known {
	t.Helper()
	f := newFederation(t, kernel, 2, 1)
	f.observe(t, 0, hill(0.4), count, &surrogate.Hyperparameters{Lengthscales: []float64{0.3, 0.5}, Noise: 0.02})
	return f.pool.now().members[0]
}

// without is k as it would be had it not seen its observation j, under the same
// hyperparameters and standardisation.
func without(k *known, j int) *known {
	return &known{spec: k.spec, h: k.h,
		x: slices.Delete(slices.Clone(k.x), j, j+1), y: slices.Delete(slices.Clone(k.y), j, j+1)}
}

// The short form of leaving one out against leaving it out.
func TestLeaveOneOut(t *testing.T) {
	for _, kernel := range kernels {
		k := example(t, kernel, 12)
		l, err := newLeaveOneOut(k)
		if err != nil {
			t.Fatal(err)
		}
		for j := range k.x {
			want, err := without(k, j).at(k.x)
			if err != nil {
				t.Fatal(err)
			}
			a := mat.NewVecDense(len(k.x), l.columns.RawRowView(j))
			var mean mat.VecDense
			mean.AddScaledVec(l.whole.mean, l.step(j, 0), a)
			var covariance mat.SymDense
			covariance.SymRankOne(l.whole.covariance, 1/l.inverse.At(j, j), a)
			if !mat.EqualApprox(&mean, want.mean, 1e-9) || !mat.EqualApprox(&covariance, want.covariance, 1e-9) {
				t.Errorf("%s: without observation %d: mean %v and %v", kernel, j, mean, want.mean)
			}
		}
	}
}

// One observation more at p moves the mean elsewhere by the covariance times the
// surprise over the variance and noise at p: so package gp, which does not tell
// covariances, tells them.
func TestJointPosterior(t *testing.T) {
	for _, kernel := range kernels {
		k := example(t, kernel, 9)
		points := [][]float64{{0.1, 0.9}, {0.15, 0.8}, {0.7, 0.3}}
		g, err := k.at(points)
		if err != nil {
			t.Fatal(err)
		}
		process, err := k.process()
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range points {
			mean, variance := process.Predict(p)
			if math.Abs(mean-g.mean.AtVec(i)) > 1e-9 || math.Abs(variance-g.covariance.At(i, i)) > 1e-9 {
				t.Errorf("%s: at point %d (%g, %g), want (%g, %g)", kernel, i, g.mean.AtVec(i), g.covariance.At(i, i), mean, variance)
			}
			more, err := gp.NewPosterior(k.spec, slices.Concat(k.x, [][]float64{p}), append(slices.Clone(k.y), mean+1), k.h)
			if err != nil {
				t.Fatal(err)
			}
			for j, q := range points {
				want := (more.Mean(q) - process.Mean(q)) * (variance + k.h.Noise)
				if math.Abs(g.covariance.At(i, j)-want) > 1e-9 {
					t.Errorf("%s: covariance of points %d and %d is %g, want %g", kernel, i, j, g.covariance.At(i, j), want)
				}
			}
		}
	}
}

// Draws have the mean and the covariance that they should: with 20,000 draws the
// standard errors are below 1 % of the largest variance, and the bound is five.
func TestDrawsHaveMeanAndCovariance(t *testing.T) {
	g, err := example(t, gp.Matern52, 5).at([][]float64{{0.1, 0.9}, {0.2, 0.8}, {0.7, 0.3}})
	if err != nil {
		t.Fatal(err)
	}
	draws, err := g.draw(20000, random.SeedOf(1).Stream("test", 0))
	if err != nil {
		t.Fatal(err)
	}
	var covariance mat.SymDense
	stat.CovarianceMatrix(&covariance, draws, nil)
	bound := 0.05 * mat.Max(g.covariance)
	if !mat.EqualApprox(&covariance, g.covariance, bound) {
		t.Errorf("covariance\n%v\nwant\n%v", mat.Formatted(&covariance), mat.Formatted(g.covariance))
	}
	for i := range 3 {
		if mean := stat.Mean(mat.Col(nil, i, draws), nil); math.Abs(mean-g.mean.AtVec(i)) > bound {
			t.Errorf("mean %g, want %g", mean, g.mean.AtVec(i))
		}
	}
}

// The target's losses against those of leave-one-out models that are drawn from
// one by one, 20,000 of either kind: means within five standard errors, deviations
// within 5 % (their own error is 0.5 %, and somewhat more for the short form, which
// uses every draw for many losses). Draws that the models of one loss had in common
// would widen the deviation by 30 %.
func TestOwnLosses(t *testing.T) {
	const rounds = 20000 / rankingDraws
	k := example(t, gp.Matern52, 8)
	k.h.Noise = 0.3 // so that the whole posterior decides as much as its changes
	var got, want []float64
	for round := range uint64(rounds) {
		losses, err := ownLosses(k, random.SeedOf(round).Stream("test", 0))
		if err != nil {
			t.Fatal(err)
		}
		rng := random.SeedOf(round).Stream("test", 1)
		slow := make([]float64, rankingDraws)
		for j, yj := range k.y {
			at, err := without(k, j).at(k.x)
			if err != nil {
				t.Fatal(err)
			}
			draws, err := at.draw(rankingDraws, rng)
			if err != nil {
				t.Fatal(err)
			}
			for s := range slow {
				f := draws.RawRowView(s)
				for i, yi := range k.y {
					slow[s] += float64(number((f[j] < f[i]) != (yj < yi)))
				}
			}
		}
		want = append(want, slow...)
		for _, loss := range losses {
			got = append(got, float64(loss))
		}
	}
	gotMean, gotSD := stat.MeanStdDev(got, nil)
	wantMean, wantSD := stat.MeanStdDev(want, nil)
	t.Logf("mean %.3f and %.3f, deviation %.3f and %.3f", gotMean, wantMean, gotSD, wantSD)
	if math.Abs(gotMean-wantMean) > 5*wantSD*math.Sqrt(2/float64(len(want))) {
		t.Errorf("mean loss %g, want %g", gotMean, wantMean)
	}
	if math.Abs(gotSD/wantSD-1) > 0.05 {
		t.Errorf("deviation of the loss %g, want %g", gotSD, wantSD)
	}
}
