package hyper

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

var standard = gp.Prior{Location: []float64{-1.2, -5}, Spread: []float64{1.7, 1}}

// told is what a node says whose values are theta, of which it has seen so much.
func told(theta, precision []float64, rng *rand.Rand) Statement {
	s := Statement{Precision: precision}
	for i, value := range theta {
		peak := value + rng.NormFloat64()/math.Sqrt(precision[i])
		weight := 1 / (standard.Spread[i] * standard.Spread[i])
		s.Mean = append(s.Mean, (precision[i]*peak+weight*standard.Location[i])/(precision[i]+weight))
	}
	return s
}

// nodes are statements of nodes around a centre.
func nodes(count int, centre, spread float64, precision float64, rng *rand.Rand) (all []Statement) {
	for range count {
		theta := []float64{centre + spread*rng.NormFloat64(), standard.Location[1]}
		all = append(all, told(theta, []float64{precision, precision}, rng))
	}
	return all
}

func TestNothingIsSaid(t *testing.T) {
	if got := Combine(standard, nil); !slices.Equal(got.Location, standard.Location) || !slices.Equal(got.Spread, standard.Spread) {
		t.Errorf("%+v", got)
	}
}

// Over many federations, alike or not, of nodes that know little or much: what a further
// node turns out to be is as far from the prior as it says, and it knew more than the
// standard one does.
func TestPriorIsCalibrated(t *testing.T) {
	const federations = 500
	for _, c := range []struct{ spread, precision float64 }{{0.1, 0.5}, {0.1, 10}, {0.7, 0.5}, {0.7, 10}, {1.2, 10}} {
		rng := random.SeedOf(1).Stream("federations", 0)
		squares, gain := 0.0, 0.0
		for range federations {
			centre := standard.Location[0] + standard.Spread[0]*rng.NormFloat64()
			prior := Combine(standard, nodes(9, centre, c.spread, c.precision, rng))
			theta := centre + c.spread*rng.NormFloat64()
			density := func(p gp.Prior) float64 {
				z := (theta - p.Location[0]) / p.Spread[0]
				return -0.5*z*z - math.Log(p.Spread[0])
			}
			z := (theta - prior.Location[0]) / prior.Spread[0]
			squares += z * z / federations
			gain += (density(prior) - density(standard)) / federations
		}
		t.Logf("%+v: mean square %.2f, gain %.2f", c, squares, gain)
		if squares > 1.5 || gain < 0.05 { // standard errors are below 0.05
			t.Errorf("nodes with %+v: the mean square is %.2f, the gain %.2f", c, squares, gain)
		}
	}
}

// Whatever is said within the bounds of statements, and in whatever order, the prior is
// one, and no wider than the standard one.
func TestPriorOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		statements := rapid.SliceOfN(anything(), 0, 12).Draw(t, "statements")
		prior := Combine(standard, statements)
		for i, at := range prior.Location {
			if !(math.Abs(at-standard.Location[i]) <= maxSpreads*standard.Spread[i]+1e-6) || !(prior.Spread[i] >= minSpread && prior.Spread[i] <= standard.Spread[i]) {
				t.Fatalf("%+v", prior)
			}
		}
		turned := slices.Clone(statements)
		slices.Reverse(turned)
		again := Combine(standard, turned)
		for i := range prior.Location {
			if math.Abs(prior.Location[i]-again.Location[i]) > 1e-6 || math.Abs(prior.Spread[i]-again.Spread[i]) > 1e-6 {
				t.Fatalf("%+v, in the other order %+v", prior, again)
			}
		}
	})
}

func anything() *rapid.Generator[Statement] {
	return rapid.Custom(func(t *rapid.T) Statement {
		var s Statement
		for i, at := range standard.Location {
			reach := surrogate.MaxSpreads * standard.Spread[i]
			s.Mean = append(s.Mean, rapid.Float64Range(at-reach, at+reach).Draw(t, "mean"))
			s.Precision = append(s.Precision, rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 20), rapid.Just(float64(surrogate.MaxPrecision))).Draw(t, "precision"))
		}
		return s
	})
}

// One liar among ten, whatever it says, moves the prior of the others, when they know little, by less than 0.7 times
// the standard prior's spread, when they know more by less than a quarter of it, and cannot make it narrower by more than a fifth.
func TestCombineBoundsOneFalseStatement(t *testing.T) {
	for precision, most := range map[float64]float64{0.5: 0.7, 3: 0.25, 10: 0.25} {
		rng := random.SeedOf(2).Stream("honest", 0)
		honest := nodes(9, -2, 0.4, precision, rng)
		before := Combine(standard, honest)
		moved, narrowed := 0.0, 1.0
		rapid.Check(t, func(rt *rapid.T) {
			after := Combine(standard, append(slices.Clone(honest), anything().Draw(rt, "lie")))
			for i, spread := range standard.Spread {
				shift, ratio := math.Abs(after.Location[i]-before.Location[i])/spread, after.Spread[i]/before.Spread[i]
				moved, narrowed = max(moved, shift), min(narrowed, ratio)
				if shift > most || ratio < 0.8 {
					rt.Fatalf("precision %g: %+v became %+v", precision, before, after)
				}
			}
		})
		t.Logf("precision %g: moved by at most %.2f spreads, narrowed to %.2f", precision, moved, narrowed)
	}
}

// A thousand nodes that say the same extreme thing leave a prior that a fit accepts.
func TestCombineOfExtremeStatementsIsValid(t *testing.T) {
	for _, precision := range []float64{0, 0.01, surrogate.MaxPrecision} {
		var said []Statement
		for range 1000 {
			said = append(said, Statement{Mean: []float64{-1.2 + 2*1.7, -5 + 2}, Precision: []float64{precision, precision}})
		}
		prior := Combine(standard, said)
		spec := gp.Spec{Kernel: gp.Matern52, Groups: []int{0}}
		if _, err := gp.FitUnder(t.Context(), spec, &prior, [][]float64{{0}, {1}}, []float64{-1, 1}, nil, nil, random.SeedOf(1).Stream("fit", 0)); err != nil {
			t.Errorf("precision %g: %v", precision, err)
		}
	}
}

// Nodes of two kinds leave a prior that is wide enough for both.
func TestCombineOfTwoKindsIsWide(t *testing.T) {
	rng := random.SeedOf(3).Stream("kinds", 0)
	prior := Combine(standard, append(nodes(5, -2.5, 0.1, 5, rng), nodes(5, 0, 0.1, 5, rng)...))
	for _, kind := range []float64{-2.5, 0} {
		if z := math.Abs(kind-prior.Location[0]) / prior.Spread[0]; z > 1.5 {
			t.Errorf("nodes at %g are %.2f deviations from %+v", kind, z, prior)
		}
	}
}
