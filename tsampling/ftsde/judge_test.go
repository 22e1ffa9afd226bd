package ftsde

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// heard is a view of somebody who has these sums.
func heard(view strategy.View, sums ...Sum) strategy.View {
	results := map[string]any{protocol.AggregateKind: Result{Sums: sums}}
	for name, result := range view.Results {
		if name != protocol.AggregateKind {
			results[name] = result
		}
	}
	view.Results = results
	return view
}

// random weights of this deviation, for each cell.
func noiseOf(cells, features int, deviations []float64, seed uint64) [][]float64 {
	rng := random.SeedOf(seed).Stream("noise", 0)
	weights := make([][]float64, cells)
	for cell := range weights {
		weights[cell] = make([]float64, features)
		for i := range weights[cell] {
			weights[cell][i] = deviations[cell] * rng.NormFloat64()
		}
	}
	return weights
}

func plus(a, b [][]float64) [][]float64 {
	sum := make([][]float64, len(a))
	for cell := range a {
		for i := range a[cell] {
			sum[cell] = append(sum[cell], a[cell][i]+b[cell][i])
		}
	}
	return sum
}

// spread is the variance of a function over the points at which a strategy measures.
func spread(s *Strategy, value func(x []float64) float64) float64 {
	average, square := 0.0, 0.0
	for _, x := range s.points {
		v := value(x)
		average += v / float64(len(s.points))
		square += v * v / float64(len(s.points))
	}
	return square - average*average
}

// Sums count by their observations over their variance, in each cell by itself: 2/1
// and 5/(1/4) in the one, 2/9 and 5/9 in the other.
func TestSumsArePooled(t *testing.T) {
	weights, noise := Pooled([]Sum{
		{Observations: 2, Weights: [][]float64{{1, 0}, {5, 2}}, Noise: []float64{1, 3}},
		{Observations: 5, Weights: [][]float64{{3, 8}, {5, 4}}, Noise: []float64{0.5, 3}},
	})
	want := [][]float64{{(2 + 20*3) / 22.0, 20 * 8 / 22.0}, {5, (2*2 + 5*4) / 7.0}}
	for cell := range want {
		for i := range want[cell] {
			if !near(weights[cell][i], want[cell][i], 1e-12) {
				t.Errorf("weight %d of cell %d is %g, want %g", i, cell, weights[cell][i], want[cell][i])
			}
		}
	}
	if !near(noise[0], (4+400*0.25)/484, 1e-12) || !near(noise[1], 9*(4+25)/49.0, 1e-12) {
		t.Errorf("variances %v, want 104/484 and 261/49", noise)
	}
}

// A sum that says nothing of a cell does not count there; where none says anything
// there is no noise either.
func TestZerosAreNotPooled(t *testing.T) {
	silent := []float64{0, 0}
	weights, noise := Pooled([]Sum{
		{Weights: [][]float64{silent, silent, {1, 0}}, Noise: []float64{9, 9, 2}},
		{Weights: [][]float64{{3, 8}, silent, silent}, Noise: []float64{0.5, 9, 2}},
	})
	if want := [][]float64{{3, 8}, silent, {1, 0}}; !reflect.DeepEqual(weights, want) || !reflect.DeepEqual(noise, []float64{0.25, 0, 4}) {
		t.Errorf("weights %v with variances %v", weights, noise)
	}
}

// What is no stronger than its noise says nothing.
func TestWeakSumsSayNothing(t *testing.T) {
	s := newStrategy(t, newTask(t, setting{features: 16, strategy: "cells: 2"}))
	weak := Sum{Round: 1, Weights: noiseOf(2, 16, []float64{0.1, 0.1}, 1), Noise: []float64{1, 1}}
	if said := s.statements(heard(strategy.View{}, weak)); len(said) != 0 {
		t.Errorf("statements %+v", said)
	}
	if said := s.statements(strategy.View{}); len(said) != 0 {
		t.Errorf("statements %+v without a sum", said)
	}
}

// What a statement takes for noise is what noise of the sum's deviation comes to, on
// average over 1,000 draws. These deviate by 90 % and less, so that their mean is
// within 8 % but for one case in 200; constants that are not left out make 50 % and more
// with one cell or two.
func TestNoiseIsKnown(t *testing.T) {
	const features, draws = 16, 1000
	for _, c := range []struct {
		parameters string
		cells      int
		deviations []float64
	}{
		{line, 1, []float64{1}},
		{line, 2, []float64{1, 1}},
		{plane, 4, []float64{1, 2, 0.5, 1}},
		{plane, 16, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
	} {
		s := newStrategy(t, newTask(t, setting{features: features, parameters: c.parameters, strategy: fmt.Sprintf("cells: %d", c.cells)}))
		mean := 0.0
		for draw := range draws {
			p := s.patches(noiseOf(c.cells, features, c.deviations, uint64(draw)))
			mean += spread(s, p.Value) / draws
		}
		loud := make([]float64, c.cells)
		for i := range loud {
			loud[i] = 1e3
		}
		sum := Sum{Round: 1, Weights: noiseOf(c.cells, features, loud, 7), Noise: c.deviations}
		said := s.statements(heard(strategy.View{}, sum))
		if len(said) != 1 {
			t.Fatalf("%d statements", len(said))
		}
		taken := (1 - said[0].Explained) * spread(s, said[0].Value)
		t.Logf("%d cells: noise of %.3f is taken for %.3f", c.cells, mean, taken)
		if !near(taken/mean, 1, 0.08) {
			t.Errorf("%d cells: noise of variance %g is taken for %g", c.cells, mean, taken)
		}
	}
}

// What a sum explains is its signal's part of the variance: over 100 draws of the
// noise on average within 0.02, where the draws deviate by 0.05 and less.
func TestExplainedIsTheSignalsPart(t *testing.T) {
	const features, draws = 32, 100
	for _, c := range []struct {
		cells int
		noise float64
	}{{1, 0.02}, {1, 0.1}, {2, 0.1}, {4, 0.02}, {4, 0.1}} {
		s := newStrategy(t, newTask(t, setting{features: features, parameters: plane, strategy: fmt.Sprintf("cells: %d", c.cells)}))
		bump, err := s.projected(func(x []float64) float64 { return math.Exp(-(x[0]-0.3)*(x[0]-0.3)/0.1 - x[1]*x[1]) })
		if err != nil {
			t.Fatal(err)
		}
		signal := make([][]float64, c.cells)
		deviations := make([]float64, c.cells)
		for cell := range signal {
			signal[cell], deviations[cell] = bump, c.noise
		}
		ofSignal := spread(s, s.patches(signal).Value)
		ofNoise, mean, kept := 0.0, 0.0, 0
		for draw := range draws {
			noise := noiseOf(c.cells, features, deviations, uint64(draw))
			ofNoise += spread(s, s.patches(noise).Value) / draws
			sum := Sum{Round: 1, Weights: plus(signal, noise), Noise: deviations}
			for _, said := range s.statements(heard(strategy.View{}, sum)) {
				mean += said.Explained
				kept++
			}
		}
		mean /= draws
		want := ofSignal / (ofSignal + ofNoise)
		t.Logf("%d cells, noise %g: explained %.3f, the signal's part is %.3f, %d statements", c.cells, c.noise, mean, want, kept)
		if !near(mean, want, 0.02) {
			t.Errorf("%d cells, noise %g: explained %g, the signal's part is %g", c.cells, c.noise, mean, want)
		}
	}
}
