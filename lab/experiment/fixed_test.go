package experiment

import (
	"context"
	"slices"
	"testing"
)

// fixedBranin is a process of which Branin's function is nearly a sample, in its own units.
const fixedBranin = "exact:hyperparameters=fixed,lengthscales=.25;.7,mean=54,signal_std=60,noise_std=1,kernel=se,features=32"

// Strategies minimise a function with fixed hyperparameters. A warning of an agent, as for some
// that cannot be conditioned, ends the run. For all strategies without a roster the median regret
// of the last nine of 20 designs is .2 to 15 on average, and 46 for random designs. The test shows
// that they follow the process; package surrogate tests its numbers.
func TestStrategiesFollowFixedHyperparameters(t *testing.T) {
	checkFixedHyperparameters(t, "ts,peer-prior,random")
}

// checkFixedHyperparameters runs the strategies, of which random alone must miss the minimum.
func checkFixedHyperparameters(t *testing.T, strategies string) {
	p := tiny(t, func(p *Plan) {
		p.Family = familyOf(t, "branin:shift=0,units=own,noise=1")
		p.Evaluations, p.Strategies = 20, specsOf(t, strategies)
		var err error
		if p.Surrogate, err = ParseSpec(fixedBranin); err != nil {
			t.Fatal(err)
		}
	})
	store := openTemp(t, t.TempDir(), p)
	if err := Run(context.Background(), p, store, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Strategies {
		sum, count := 0.0, 0.0
		for repeat := range p.Repeats {
			r, ok := store.get(repeat, p.key(s))
			if !ok {
				t.Fatalf("%s: no record of repeat %d", s, repeat)
			}
			for _, m := range r.Members {
				last := slices.Sorted(slices.Values(m.Regret[len(m.Regret)-9:]))
				sum, count = sum+float64(last[4]), count+1
			}
		}
		regret := sum / count
		t.Logf("%s: %.3g", s, regret)
		if (regret < 20) == (s.Name == "random") {
			t.Errorf("%s: a mean regret of %.3g", s, regret)
		}
	}
}
