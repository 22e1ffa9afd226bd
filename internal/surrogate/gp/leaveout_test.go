package gp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Leaving an observation, or a group of them, out is what conditioning on the others says.
func TestLeaveOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	spec := Spec{Kernel: Matern52, Groups: []int{0, 1}}
	h := Hyperparameters{Lengthscales: []float64{0.3, 0.6}, Noise: 0.02}
	var x [][]float64
	var y []float64
	for range 12 {
		x = append(x, []float64{rng.Float64(), rng.Float64()})
		y = append(y, rng.NormFloat64())
	}
	p, err := NewPosterior(spec, x, y, h)
	if err != nil {
		t.Fatal(err)
	}
	var each []int
	for i := range x {
		each = append(each, i)
	}
	for _, groups := range [][]int{nil, each, {0, 2, 0, 2, 3, 3, 0, 2, 2, 0, 3, 0}} {
		of := groups
		if of == nil {
			of = each
		}
		for i, z := range p.LeaveOut(groups) {
			var otherX [][]float64
			var otherY []float64
			for j := range x {
				if of[j] != of[i] {
					otherX, otherY = append(otherX, x[j]), append(otherY, y[j])
				}
			}
			others, err := NewPosterior(spec, otherX, otherY, h)
			if err != nil {
				t.Fatal(err)
			}
			mean, variance := others.Predict(x[i])
			if want := (y[i] - mean) / math.Sqrt(variance+h.Noise); math.Abs(z-want) > 1e-9 {
				t.Errorf("groups %v: observation %d is %g deviations off, want %g", groups, i, z, want)
			}
		}
	}
}

func TestLeaveOutOfNothing(t *testing.T) {
	p, err := NewPosterior(Spec{Kernel: SE, Groups: []int{0}}, nil, nil, Hyperparameters{Lengthscales: []float64{0.3}, Noise: 0.02})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.LeaveOut(nil); !slices.Equal(got, nil) {
		t.Errorf("%v", got)
	}
}
