package experiment

import (
	"strings"
	"testing"
)

// Where members learn hyperparameters from each other, nobody is alone, and baselines that
// rest on data of all members are refused.
func TestSharedHyperparametersOfAPlan(t *testing.T) {
	shared, err := ParseSpec("exact:hyperparameters=shared")
	if err != nil {
		t.Fatal(err)
	}
	for _, surrogate := range []Spec{{}, shared} {
		p := Plan{Surrogate: surrogate}
		if got, want := p.alone(Spec{Name: "alone"}), surrogate.Name == ""; got != want {
			t.Errorf("--surrogate %s: alone is %v", surrogate, got)
		}
		for _, name := range []string{"rgpe", "dp-fts-de", "random"} {
			err := p.checkBaseline(Spec{Name: name})
			refused := err != nil && strings.Contains(err.Error(), "hyperparameters=learned")
			if want := surrogate.Name != "" && name != "random"; refused != want {
				t.Errorf("--surrogate %s, baseline %s: %v", surrogate, name, err)
			}
		}
	}
}
