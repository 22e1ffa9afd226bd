package testfunc

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestEmbeddedHasTheValuesOfItsFunction(t *testing.T) {
	f := Hartmann6()
	g := Embedded(f, 20)
	if g.Name != "hartmann6in20" || g.Space.Len() != 20 {
		t.Fatalf("%s has %d parameters, expected hartmann6in20 with 20", g.Name, g.Space.Len())
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		x := make([]float64, 20)
		for i := range x {
			x[i] = rng.Float64()
		}
		if got, want := g.Value(x), f.Value(x[:6]); got != want {
			t.Fatalf("the value at %v is %v, expected %v", x, got, want)
		}
	}
	for _, m := range g.Minimizers {
		design, err := g.Design(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.At(design); math.Abs(got-g.Optimum) > 1e-6 {
			t.Errorf("the value at the minimizer %v is %v, expected %v", m, got, g.Optimum)
		}
	}
	if n := f.Space.Len(); n != 6 {
		t.Errorf("the embedded function has now %d parameters, expected 6", n)
	}
}
