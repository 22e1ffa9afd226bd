package experiment

import (
	"context"
	"testing"
)

// knownBranin is near what Branin's function is a sample of, in its own units.
const knownBranin = "exact:process=known,lengthscales=.25;.7,mean=54,deviation=60,noise=1,kernel=se,features=32"

// All strategies of the task file that need no roster play a minimised function by a
// process that is known, and none of their agents warns, which would end the run, as it
// does of a process that cannot be conditioned. The last of 20 designs of six agents is on
// average 0.03 to 7.5 from Branin's minimum; a random one of the same seeds 88. It tells that
// they follow the process, not that its numbers are right, which package surrogate tests.
func TestStrategiesPlayByAKnownProcess(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Family = familyOf(t, "branin:shift=0,units=own,noise=1")
		p.Evaluations, p.Strategies = 20, specsOf(t, "ts,logei,ucb,mes,fts,peer-prior,consensus,constrained-gp,density,random")
		var err error
		if p.Surrogate, err = ParseSpec(knownBranin); err != nil {
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
				sum, count = sum+float64(m.Regret[len(m.Regret)-1]), count+1
			}
		}
		if regret := sum / count; (regret < 20) == (s.Name == "random") {
			t.Errorf("%s: a mean regret of %.3g", s, regret)
		}
	}
}
