package trained

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/examples/synthetic"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// The objectives are the error of the training itself and the size of the network. Members have
// different errors and equal costs.
func TestNetworkObjectives(t *testing.T) {
	f := mustDraw(t, "network:samples=100,search=1,common=0.5,trainings=2", 3, 2)
	number := random.SeedOf(3).Stream("data", 0).Uint64()
	all, err := generate(synthetic.Config{Seed: number, Alpha: 1, Beta: 1, Common: 0.5, Samples: 100}, 2, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	data := forValidation(all[1])
	if len(data.TrainX) != 20 || len(data.TrainY) != 20 || len(data.ValidX) != 80 || len(data.ValidY) != 80 {
		t.Fatalf("%d, %d samples for training and %d, %d for validation", len(data.TrainX), len(data.TrainY), len(data.ValidX), len(data.ValidY))
	}
	diverged, different := 0, 0
	for _, d := range designs(f.Space, 40) {
		size := synthetic.Network{Inputs: int(d.Int("inputs")), Hidden: int(d.Int("hidden"))}
		h := synthetic.Hyperparameters{LearningRate: d.Float("learning_rate"), L2: d.Float("l2"), Momentum: momentum,
			BatchSize: int(d.Int("batch_size")), Epochs: epochs}
		want := 0.0
		for i := range uint64(2) {
			score, err := synthetic.TrainNetwork(context.Background(), data, size, h, number+i)
			if err != nil {
				want = 1
				diverged++
				break
			}
			want += (1 - score.Accuracy) / 2
		}
		m := f.Members[1]
		if got := m.Objective.Value(d); got != want {
			t.Errorf("%v: error %g, training gives %g", d, got, want)
		}
		cost := math.Log10(float64(d.Int("hidden") * (d.Int("inputs") + 10)))
		if got := m.Further[0].Value(d); got != cost || f.Members[0].Further[0].Value(d) != cost {
			t.Errorf("%v: cost %g; expected %g", d, got, cost)
		}
		if f.Members[0].Objective.Value(d) != want {
			different++
		}
	}
	if diverged == 40 || different == 0 {
		t.Errorf("%d of 40 trainings diverge, %d differ between members", diverged, different)
	}
}

// The hypervolume is that of a front, below the bound of an error of 0 at the smallest cost, and
// grows with the search on average over four members (fixed seeds).
func TestNetworkHypervolume(t *testing.T) {
	gain := 0.0
	for seed := range uint64(4) {
		few := mustDraw(t, "network:samples=60,search=40", seed, 1).Members[0]
		more := mustDraw(t, "network:samples=60,search=400", seed, 1).Members[0]
		for _, m := range []float64{few.Hypervolume, more.Hypervolume} {
			if bound := errorReference * (costReference - math.Log10(11)); !(m > 0 && m < bound) {
				t.Errorf("hypervolume %g; expected 0 to %g", m, bound)
			}
		}
		gain += more.Hypervolume - few.Hypervolume
	}
	if gain <= 0 {
		t.Errorf("a search of ten times as many designs gains %g", gain)
	}
}

// The family states the same objectives as its federations, and draws the same ones again.
func TestNetworkFamily(t *testing.T) {
	kind, err := Kinds().Parse("network:samples=60,search=20")
	if err != nil {
		t.Fatal(err)
	}
	a, b := mustDraw(t, kind.Name, 5, 2), mustDraw(t, kind.Name, 5, 2)
	if len(kind.Objectives) != 2 || len(a.Objectives) != 2 || len(a.Members[0].Further) != 1 {
		t.Fatalf("%d, %d objectives, %d beside the first", len(kind.Objectives), len(a.Objectives), len(a.Members[0].Further))
	}
	for i, o := range a.Objectives {
		if p := kind.Objectives[i]; o.Name != p.Name || *o.Reference != *p.Reference || o.Goal != task.Minimize {
			t.Errorf("objective %d is %+v, of the family %+v", i, o, p)
		}
	}
	at := designs(a.Space, 5)
	for k := range a.Members {
		if !slices.Equal(valuesAt(a.Members[k].Objective, at), valuesAt(b.Members[k].Objective, at)) || a.Members[k].Hypervolume != b.Members[k].Hypervolume {
			t.Errorf("member %d differs with the same seed", k)
		}
	}
	late := mustDraw(t, "network:samples=60,search=20,newcomer=true", 5, 2)
	if !late.Members[1].Late || late.Members[0].Counts || late.Members[1].Hypervolume == 0 {
		t.Errorf("the newcomer is %+v", late.Members[1])
	}
}
