package family

import (
	"math"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// The published optima, as designs of the first cluster and of the second.
func TestConditionalOptima(t *testing.T) {
	for of, designs := range map[string][2][]task.Value{
		ofClassifiers: {
			{task.ChoiceValue("SVC"), task.FloatValue(10), task.FloatValue(0.01), {}, {}},
			{task.ChoiceValue("RandomForest"), {}, {}, task.IntValue(20), task.IntValue(10)},
		},
		ofTree: {
			{task.FloatValue(0.6), task.ChoiceValue("a"), task.ChoiceValue("q"), {}, {}, task.FloatValue(0.25), {}, {}, {}},
			{task.FloatValue(0.5), task.ChoiceValue("b"), {}, task.ChoiceValue("q"), {}, {}, {}, {}, task.FloatValue(0.8)},
		},
		ofNetwork: {
			{task.FloatValue(math.Pow(10, -2.5)), task.IntValue(3), task.IntValue(256), task.IntValue(128), task.IntValue(64), {}},
			{task.FloatValue(math.Pow(10, -2.5)), task.IntValue(2), task.IntValue(256), task.IntValue(128), {}, {}},
		},
	} {
		f, err := Kinds().Parse("conditional:of=" + of + ",shift=0,clusters=2")
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := f.Draw(random.SeedOf(1), 2)
		if err != nil {
			t.Fatal(err)
		}
		for k, values := range designs {
			d, err := f.Space.NewDesign(values...)
			if err != nil {
				t.Fatal(err)
			}
			if o := drawn.Members[k].Objective; math.Abs(o.Value(d)) > 1e-12 || math.Abs(o.Optimum) > 1e-12 {
				t.Errorf("%s, cluster %d: value %g at its optimum, which is %g", of, k, o.Value(d), o.Optimum)
			}
		}
	}
}

// No design of many is better than the optimum, and a search from the best ends near it.
func TestConditionalOptimaOfMovedMembers(t *testing.T) {
	for _, of := range []string{ofClassifiers, ofTree, ofNetwork} {
		f, err := Kinds().Parse("conditional:of=" + of + ",shift=0.2,clusters=3")
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := f.Draw(random.SeedOf(2), 6)
		if err != nil {
			t.Fatal(err)
		}
		for k, m := range drawn.Members {
			rng := random.SeedOf(3).Stream("designs", uint64(k))
			best, at := math.Inf(1), []float64(nil)
			for i := range 6000 {
				u := acquisition.Sample(f.Space, rng)
				if i >= 2000 { // around the best
					for j := range u {
						u[j] = at[j] + math.Pow(10, -3*rng.Float64())*rng.NormFloat64()
					}
					f.Space.Snap(u)
				}
				if v := m.Objective.Value(f.Space.Decode(u)); v < best {
					best, at = v, slices.Clone(u)
				}
			}
			if best < m.Objective.Optimum-1e-12 || best > m.Objective.Optimum+0.05 {
				t.Errorf("%s, member %d: %g found, optimum %g", of, k, best, m.Objective.Optimum)
			}
		}
	}
}
