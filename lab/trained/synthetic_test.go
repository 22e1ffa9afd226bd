package trained

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/fbo-node/fbo/examples/synthetic"
	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

func mustDraw(t testing.TB, spec string, seed uint64, agents int) family.Federation {
	t.Helper()
	f, err := Kinds().Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	federation, err := f.Draw(random.SeedOf(seed), agents)
	if err != nil {
		t.Fatal(err)
	}
	return federation
}

func designs(space *task.Space, n int) []task.Design {
	rng := random.SeedOf(1).Stream("designs", 0)
	all := make([]task.Design, n)
	for i := range all {
		all[i] = space.Decode(acquisition.Sample(space, rng))
	}
	return all
}

func valuesAt(o family.Objective, at []task.Design) []float64 {
	values := make([]float64, len(at))
	for i, d := range at {
		values[i] = o.Value(d)
	}
	return values
}

const quick = "synthetic:samples=40,search=10"

func TestSameSeedSameFederation(t *testing.T) {
	a, b, other := mustDraw(t, quick, 1, 2), mustDraw(t, quick, 1, 3), mustDraw(t, quick, 2, 2)
	at := designs(a.Space, 5)
	for k := range a.Members {
		m, n := a.Members[k].Objective, b.Members[k].Objective
		if !slices.Equal(valuesAt(m, at), valuesAt(n, at)) || m.Optimum != n.Optimum {
			t.Errorf("member %d is another with the same seed", k)
		}
		if !slices.Equal(valuesAt(m, at), valuesAt(m, at)) {
			t.Errorf("member %d has other values when asked again", k)
		}
	}
	if slices.Equal(valuesAt(a.Members[0].Objective, at), valuesAt(other.Members[0].Objective, at)) {
		t.Error("another seed gives the same member")
	}
	if slices.Equal(valuesAt(a.Members[0].Objective, at), valuesAt(a.Members[1].Objective, at)) {
		t.Error("two members are the same")
	}
	if a.Goal != task.Minimize || a.Members[0].Objective.Noise != 0 {
		t.Errorf("goal %s, noise %g", a.Goal, a.Members[0].Objective.Noise)
	}
}

// The value is the loss of the training itself, within its bound.
func TestValueIsTheLoss(t *testing.T) {
	f := mustDraw(t, "synthetic:samples=40,trainings=2,search=1,alpha=0.5,majority=1", 3, 2)
	number := random.SeedOf(3).Stream("data", 0).Uint64()
	data, err := synthetic.Generate(synthetic.Config{Seed: number, Node: 1, Alpha: 0.5, Beta: 1, Samples: 40})
	if err != nil {
		t.Fatal(err)
	}
	bounded := 0
	for _, d := range designs(f.Space, 30) {
		h := synthetic.Hyperparameters{LearningRate: d.Float("learning_rate"), L2: d.Float("l2"), Momentum: momentum,
			BatchSize: int(d.Int("batch_size")), Epochs: epochs, Optimizer: d.Choice("optimizer")}
		score, err := synthetic.Average(context.Background(), data, h, number, 2)
		want := score.Loss
		if err != nil || want > worst {
			want = worst
			bounded++
		}
		if got := f.Members[1].Objective.Value(d); got != want {
			t.Errorf("%v: %g, training gives %g", d, got, want)
		}
	}
	if bounded == 0 || bounded == 30 {
		t.Errorf("%d of 30 losses are bounded", bounded)
	}
}

// An optimum is the least of the designs searched, and lower than that of as many
// random designs on average over four members (fixed seed).
func TestOptimaAreTheBestOfASearch(t *testing.T) {
	space, err := syntheticSpace()
	if err != nil {
		t.Fatal(err)
	}
	all, err := generate(synthetic.Config{Seed: 2, Samples: 60}, 4, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	gain := 0.0
	for k, data := range all {
		l := &loss{data: data, trainings: 1}
		least := l.least(space, 60, random.SeedOf(uint64(k)))
		if lowest := slices.Min(slices.Collect(maps.Values(l.known.values))); lowest != least || len(l.known.values) < 50 || len(l.known.values) > 60 {
			t.Errorf("member %d: optimum %g; the least of %d designs is %g", k, least, len(l.known.values), lowest)
		}
		spread := &loss{data: data, trainings: 1}
		lowest := math.Inf(1)
		for _, d := range designs(space, 60) {
			lowest = min(lowest, spread.at(d))
		}
		gain += lowest - least
	}
	if gain <= 0 {
		t.Errorf("random designs are better by %g in all", -gain)
	}
}

func TestLatecomersAloneCount(t *testing.T) {
	f := mustDraw(t, quick+",newcomer=true,noise=0.1", 1, 3)
	for k, m := range f.Members {
		if last := k == 2; m.Counts != last || m.Late != last || math.IsNaN(m.Objective.Optimum) == last || m.Objective.Noise != 0.1 {
			t.Errorf("member %d is %+v", k, m)
		}
	}
}

// Nobody has nearly one class alone, unless that is asked for; who is passed over
// does not depend on how many members there are.
func TestMajorityOfOneClassIsExcluded(t *testing.T) {
	config := synthetic.Config{Seed: 1, Samples: 60}
	all, err := generate(config, 12, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	published, err := generate(config, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	shares := func(all []*synthetic.Data) []float64 {
		var shares []float64
		for _, data := range all {
			shares = append(shares, largestClass(data))
		}
		return shares
	}
	if most := slices.Max(shares(all)); most > 0.8 {
		t.Errorf("a class has %g", most)
	}
	if most := slices.Max(shares(published)); most < 0.9 {
		t.Errorf("the largest class of 12 nodes as published has %g", most)
	}
	fewer, err := generate(config, 5, 0.8)
	if err != nil || !slices.Equal(shares(fewer), shares(all)[:5]) {
		t.Errorf("five members are not the first of twelve (%v)", err)
	}
	if _, err := generate(config, 5, 0.1); err == nil {
		t.Error("classes of a tenth are found")
	}
}

func TestFamilyNames(t *testing.T) {
	all := append(family.Kinds(), Kinds()...)
	for spec, name := range map[string]string{
		"gp:d=2":                              "gp",
		"synthetic":                           "synthetic",
		"synthetic:newcomer=true,alpha=0.50":  "synthetic:alpha=0.5,newcomer=true",
		"synthetic:search=256,samples=4.0e+2": "synthetic",
	} {
		f, err := all.Parse(spec)
		if err != nil || f.Name != name {
			t.Errorf("%q is called %q (%v), want %q", spec, f.Name, err, name)
		}
	}
}

// BenchmarkSynthetic has the cost of a value, which is one training, and of a member's optimum.
func BenchmarkSynthetic(b *testing.B) {
	b.Run("value", func(b *testing.B) {
		f := mustDraw(b, "synthetic:search=1", 1, 1)
		rng := random.SeedOf(1).Stream("designs", 0)
		for b.Loop() {
			f.Members[0].Objective.Value(f.Space.Decode(acquisition.Sample(f.Space, rng)))
		}
	})
	b.Run("draw", func(b *testing.B) {
		for b.Loop() {
			mustDraw(b, "synthetic", 1, 1)
		}
	})
}
