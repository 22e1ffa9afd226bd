package experiment

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/baseline"
)

// globalOf returns the source from which the baseline global computes its designs, and the word for
// it.
func globalOf(s Spec) (from baseline.From, word string, err error) {
	word = "gradients"
	for _, x := range s.Settings {
		if x.Key != "from" {
			return 0, "", fmt.Errorf("unknown key %q; accepted: from", x.Key)
		}
		word = x.Value
	}
	switch word {
	case "gradients":
		return baseline.Gradients, word, nil
	case "candidates":
		return baseline.Candidates, word, nil
	}
	return 0, "", fmt.Errorf("from must be one of gradients, candidates, not %q", word)
}

func meaningOfGlobal(s Spec) (string, error) {
	_, word, err := globalOf(s)
	return "from=" + word, err
}

func installGlobal(spec Spec, s *sim.Scenario) error {
	from, _, err := globalOf(spec)
	if err != nil {
		return err
	}
	pool, err := baseline.NewPool(s.Task, len(s.Members))
	if err != nil {
		return err
	}
	s.Watch = pool.Watch
	global := baseline.NewGlobal(s.Task, pool, from, s.Seed.Derive("global", 0))
	for i := range s.Members {
		s.Members[i].Strategy = global
	}
	return nil
}
