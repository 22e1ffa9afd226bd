package family

import (
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// Searches find the stated optimum and nothing less, and with a corner alone every
// float and int of it is at a bound.
func TestCornerOptimaAreOptimal(t *testing.T) {
	for i, spec := range []string{
		"corner", "corner:d=5,clusters=3", "corner:d=3,inside=2", "corner:d=2,ints=2,choices=2", "corner:d=3,decoy=0.5,choices=1",
	} {
		f := mustDraw(t, spec, uint64(i), 3)
		for k, m := range f.Members {
			negative := Differentiable(func(u []float64) float64 { return -m.Objective.Value(f.Space.Decode(u)) })
			u, best := largest(f.Space, negative, nil, random.SeedOf(5).Derive(spec, uint64(k)))
			if m.Objective.Optimum != 0 || math.Abs(best) > 1e-6 {
				t.Errorf("%s: member %d: found %g, stated %g", spec, k, -best, m.Objective.Optimum)
			}
			for j, p := range f.Space.Parameters() {
				v := f.Space.Decode(u).Values()[j]
				if p.Kind == task.Int && v.Int() != 1 && v.Int() != cornerInts || p.Kind == task.Float && i < 2 && v.Float() != 0 && v.Float() != 1 {
					t.Errorf("%s: member %d: the best design has %s = %v", spec, k, p.Name, v)
				}
			}
		}
	}
}

// With a decoy the corner opposite to the best is better than its surroundings.
func TestDecoyIsAMinimum(t *testing.T) {
	f := mustDraw(t, "corner:d=2,decoy=0.5,shift=0", 1, 1)
	value := func(x, y float64) float64 { return f.Members[0].Objective.Value(f.Space.Decode([]float64{x, y})) }
	minima := 0
	for _, at := range [][2]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
		x, y := at[0]*0.9+0.05, at[1]*0.9+0.05
		if here := value(at[0], at[1]); here < value(at[0], y) && here < value(x, at[1]) {
			minima++
		}
	}
	if minima != 2 {
		t.Errorf("%d corners are minima, wanted 2", minima)
	}
}

// The standard deviation is 1 over the space, within what 20,000 designs tell.
func TestCornerDeviation(t *testing.T) {
	for _, spec := range []string{"corner:shift=0", "corner:d=3,ints=1,choices=2,inside=1,decoy=1,shift=0"} {
		f, rng := mustDraw(t, spec, 3, 1), random.SeedOf(9).Stream("designs", 0)
		var count, mean, square float64
		for range 20000 {
			value := f.Members[0].Objective.Value(f.Space.Decode(acquisition.Sample(f.Space, rng)))
			count++
			off := value - mean
			mean += off / count
			square += off * (value - mean)
		}
		if deviation := math.Sqrt(square / count); math.Abs(deviation-1) > 0.05 {
			t.Errorf("%s: deviation %g", spec, deviation)
		}
	}
}
