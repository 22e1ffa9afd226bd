package experiment

import (
	"slices"
	"strings"
	"testing"
)

// TestSeveralObjectives: the regret is the missing part of the largest hypervolume. It never grows, and
// both strategies are the same until the starting designs end.
func TestSeveralObjectives(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Family = familyOf(t, "zdt1:warp=0.2")
		p.Strategies = specsOf(t, "alone,parego,random")
		p.Evaluations = 8
	})
	f := drawn(t, p)
	records := playAll(t, p, f)
	for name, r := range records {
		for _, m := range r.Members {
			largest := f.Members[m.Member].Hypervolume
			for k, regret := range m.Regret {
				if !(regret >= 0 && float64(regret) <= largest) || k > 0 && regret > m.Regret[k-1] {
					t.Errorf("%s: regrets %v, expected numbers from %g down to 0", name, m.Regret, largest)
					break
				}
			}
			if got, want := m.Regret[:p.Initial], records["random"].Members[m.Member].Regret[:p.Initial]; !slices.Equal(got, want) {
				t.Errorf("%s starts with %v, random with %v", name, got, want)
			}
		}
	}
	if slices.Equal(records["alone"].Members[0].Regret, records["parego"].Members[0].Regret) {
		t.Error("alone and parego have the same regrets to the end")
	}
}

func TestSeveralObjectivesErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"logei":  "type logei takes one objective, and the task has 2",
		"pooled": "the baseline pooled takes one objective, and --family zdt1 has 2; of the baselines random takes several",
	} {
		p := Plan{Agents: 2, Evaluations: 6, Repeats: 1, Seed: 1, Surrogate: Spec{Name: "exact"}, Family: familyOf(t, "zdt1"), Strategies: specsOf(t, spec)}
		if _, err := p.Complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", spec, err, want)
		}
	}
}
