package surrogate_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
)

// pendingOf returns posteriors of each kind.
func pendingOf(t *testing.T) map[string]surrogate.Posterior {
	t.Helper()
	all := map[string]surrogate.Posterior{}
	for _, kind := range []string{"exact", "rff"} {
		all[kind] = learnedPosterior(t, newTask(t, kind, 2), nil)
	}
	return all
}

// With pending designs the mean, the units and the hyperparameters stay. The variance shrinks:
// at a pending design to that of the noise at most. The posterior itself does not change.
func TestWithPending(t *testing.T) {
	x := [][]float64{{0.31, 0.77}, {0.9, 0.2}, {0.31, 0.77}}
	for kind, p := range pendingOf(t) {
		_, before := p.Predict(x[0])
		given, err := p.(surrogate.Pending).WithPending(x)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if _, after := p.Predict(x[0]); after != before {
			t.Errorf("%s: the posterior itself has changed", kind)
		}
		if !reflect.DeepEqual(given.Hyperparameters(), p.Hyperparameters()) || given.(surrogate.Scaled).Units() != p.(surrogate.Scaled).Units() {
			t.Errorf("%s: other hyperparameters or units", kind)
		}
		rng := random.SeedOf(3).Stream("points", 0)
		for i := range 50 {
			at := []float64{rng.Float64(), rng.Float64()}
			if i < len(x) {
				at = x[i]
			}
			mean, variance := p.Predict(at)
			got, left := given.Predict(at)
			if math.Abs(got-mean) > 1e-6 || left > variance+1e-9 {
				t.Errorf("%s at %v: mean %g, variance %g, with pending designs %g and %g", kind, at, mean, variance, got, left)
			}
			if noise := p.Hyperparameters().Noise; i < len(x) && left > noise {
				t.Errorf("%s: variance %g at a pending design, the noise is %g", kind, left, noise)
			}
			if i < len(x) && variance > 0.05 && left > variance/4 {
				t.Errorf("%s: variance %g at a pending design, %g without", kind, left, variance)
			}
		}
	}
}

// Members rest on hyperparameters of real outcomes: those drawn without pending designs. Each
// has its own mean, and less variance at a pending design.
func TestMembersWithPending(t *testing.T) {
	x := [][]float64{{0.31, 0.77}}
	p := learnedPosterior(t, newTask(t, "exact", 2), nil)
	given, err := p.(surrogate.Pending).WithPending(x)
	if err != nil {
		t.Fatal(err)
	}
	want := membersOf(t, p, 4, 1)
	for i, member := range membersOf(t, given, 4, 1) {
		mean, variance := want[i].Predict(x[0])
		got, left := member.Predict(x[0])
		if !reflect.DeepEqual(member.Hyperparameters(), want[i].Hyperparameters()) || math.Abs(got-mean) > 1e-6 || !(left < variance) {
			t.Errorf("member %d: %+v, mean %g, variance %g; without pending designs %+v, %g, %g", i, member.Hyperparameters(), got, left, want[i].Hyperparameters(), mean, variance)
		}
	}
	again, err := given.WithPending([][]float64{{0.9, 0.2}})
	if err != nil {
		t.Fatal(err)
	}
	for i, member := range membersOf(t, again, 4, 1) {
		if !reflect.DeepEqual(member.Hyperparameters(), want[i].Hyperparameters()) {
			t.Errorf("member %d with two pending designs: %+v, want %+v", i, member.Hyperparameters(), want[i].Hyperparameters())
		}
	}
}
