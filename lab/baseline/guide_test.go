package baseline

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

func at(weight, value float64, mean ...float64) upload {
	u := upload{location: location{weight: weight, mean: mean}, value: value}
	for range mean {
		u.variance = append(u.variance, 0.01)
	}
	return u
}

// The first two are within the radius of each other; the third is within that of the second only.
func TestGuideMerges(t *testing.T) {
	merged := merge([]upload{at(0.5, 1, 0.10, 0.10), at(0.3, 3, 0.14, 0.14), at(0.2, 0, 0.19, 0.19), at(0.9, 2, 0.9, 0.1)})
	if len(merged) != 3 {
		t.Fatalf("%d clusters, want 3: %+v", len(merged), merged)
	}
	slices.SortFunc(merged, func(a, b upload) int { return int(math.Copysign(1, b.weight-a.weight)) })
	m := merged[1]
	if math.Abs(m.weight-0.8) > 1e-12 || math.Abs(m.mean[0]-0.115) > 1e-12 || math.Abs(m.value-1.75) > 1e-12 {
		t.Errorf("%+v, want weight 0.8, mean 0.115, value 1.75", m)
	}
	if want := 0.01 + 0.625*0.015*0.015 + 0.375*0.025*0.025; math.Abs(m.variance[0]-want) > 1e-12 {
		t.Errorf("variance %g, want %g", m.variance[0], want)
	}
}

func TestGuideCalibrates(t *testing.T) {
	merged := []upload{at(1, 0, 0), at(1, 1, 1)}
	calibrate(merged)
	if ratio := merged[1].weight / merged[0].weight; math.Abs(math.Log(ratio)-10) > 1e-9 {
		t.Errorf("logarithm of the ratio of weights %g, want 1/.1", math.Log(ratio))
	}
	equal := []upload{at(3, 2, 0), at(1, 2, 1)}
	calibrate(equal)
	if math.Abs(equal[0].weight-0.75) > 1e-12 {
		t.Errorf("weight %g with equal values, want 0.75", equal[0].weight)
	}
}

// The first of the drawn is distributed as the weights. With 4,000 draws the standard error is below .008.
func TestGuideChooses(t *testing.T) {
	all := []upload{at(0.6, 0, 0), at(0.3, 0, 1), at(0.1, 0, 2)}
	first, rng := make([]float64, 3), random.SeedOf(1).Stream("choose", 0)
	for range 4000 {
		chosen := choose(all, 2, rng)
		if len(chosen) != 2 || chosen[0].mean[0] == chosen[1].mean[0] {
			t.Fatalf("chosen %+v, want two different ones", chosen)
		}
		first[int(chosen[0].mean[0])] += 1. / 4000
	}
	for i, u := range all {
		if math.Abs(first[i]-u.weight) > 0.03 {
			t.Errorf("component %d is first in %g, want %g", i, first[i], u.weight)
		}
	}
}

func TestGuideWidens(t *testing.T) {
	f := newFederation(t, gp.Matern52, 2, 1)
	f.observe(t, 0, hill(0.3), 8, smooth(2))
	own := f.pool.observations(f.views[0]).X
	w := widened{process: f.views[0].Posterior, guidance: []upload{at(3, 0, 0.5, 0.5), at(1, 0, 0.9, 0.2)}, strength: 0.5, own: own}
	x := []float64{0.5, 0.5}
	_, plain := w.process.Predict(x)
	_, wide := w.Predict(x)
	want := 1 + 0.5*(0.75+0.25*math.Exp(-(0.16+0.09)/0.02))
	if got := math.Sqrt(wide / plain); math.Abs(got-want) > 1e-9 {
		t.Errorf("deviation times %g, want %g", got, want)
	}
	_, wide = w.Predict(own[0])
	if _, plain = w.process.Predict(own[0]); wide != plain {
		t.Errorf("variance %g at an own observation, want %g", wide, plain)
	}
	x = []float64{0.55, 0.4}
	dMean, dVariance := make([]float64, 2), make([]float64, 2)
	w.PredictGradient(dMean, dVariance, x)
	numeric := fd.Gradient(nil, func(x []float64) float64 { _, v := w.Predict(x); return v }, x, nil)
	for i := range x {
		if math.Abs(numeric[i]-dVariance[i]) > 1e-5 {
			t.Errorf("slope %d of the variance %g, want %g", i, dVariance[i], numeric[i])
		}
	}
}

// Member 1 knows the hill well, and member 0 does not. The upload of member 1 is at the top, and
// raises the deviation of member 0 there.
func TestGuideLocatesTheOptimum(t *testing.T) {
	f := newFederation(t, gp.Matern52, 2, 2)
	f.observe(t, 0, hill(0.3), 3, smooth(2))
	f.observe(t, 1, hill(0.3), 60, smooth(2))
	guide := NewGuide(f.task, f.pool, random.SeedOf(1))
	uploads, err := guide.uploads()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range uploads[1].mean {
		if math.Abs(v-0.3) > 0.05 {
			t.Errorf("coordinate %d of the upload %g, want 0.3", i, v)
		}
	}
	again, err := NewGuide(f.task, f.pool, random.SeedOf(1)).uploads()
	if err != nil || again[1].value != uploads[1].value {
		t.Errorf("another server with the same seed: %v %v, want the same upload", again[1], err)
	}
	if got := f.suggest(t, guide.Member(0), 0, random.SeedOf(2)); got.Why.PeerCount != 1 {
		t.Errorf("%+v, want one peer", got.Why)
	}
}

// Members with the same function have fewer rank inversions than those of the opposite, whose
// hyperparameters are left out.
func TestFMTBOAverages(t *testing.T) {
	f := newFederation(t, gp.Matern52, 2, 5)
	for i := range 5 {
		value, h := hill(0.3), smooth(2)
		if i == 4 {
			value = negative(value)
			h.Lengthscales[0] = 50
		}
		h.Lengthscales[1] = float64(int(1) << i)
		f.observe(t, i, value, 20, h)
	}
	server := NewFMTBO(f.task, f.pool, random.SeedOf(1))
	h, members, err := server.average(0)
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Pow(2, (0+1+2+3)/4.); members != 4 || math.Abs(h.Lengthscales[1]-want) > 1e-9 || math.Abs(h.Lengthscales[0]-0.5) > 1e-9 {
		t.Errorf("lengthscales %v of %d members, want 0.5 and %g of 4", h.Lengthscales, members, want)
	}
	if got := f.suggest(t, server.Member(0), 0, random.SeedOf(2)); got.Why.PeerCount != 3 {
		t.Errorf("%+v, want three peers", got.Why)
	}
}
