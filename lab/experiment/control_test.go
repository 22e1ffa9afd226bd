package experiment

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

// twoAlone is a report on made-up records of two federations of one agent: alone ts is
// better after three evaluations and logei after six.
func twoAlone(t *testing.T) Report {
	t.Helper()
	p := tiny(t, func(p *Plan) {
		p.Agents, p.Checkpoints, p.Control = 1, []int{3}, "best-alone"
		p.Strategies = specsOf(t, "fts,ts,pooled")
	})
	store := openTemp(t, t.TempDir(), p)
	for strategy, regrets := range map[string][2][6]Number{
		"ts":     {{9, 9, 2, 2, 2, 2}, {9, 9, 8, 8, 8, 8}},
		"logei":  {{9, 9, 6, 6, 1, 1}, {9, 9, 6, 6, 4, 4}},
		"fts":    {{9, 9, 1, 1, 1, 1}, {9, 9, 4, 4, 4, 2}},
		"pooled": {{9, 9, 1, 1, 1, 0.5}, {9, 9, 1, 1, 1, 0.5}},
	} {
		for repeat, regret := range regrets {
			if err := store.add(Record{
				Repeat: repeat, Strategy: p.key(Spec{Name: strategy}), Goal: "maximize", Deviation: 1, Build: "test",
				Members: []MemberRecord{{Regret: regret[:], Recommended: []Number{1, 1}}},
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	report, err := NewReport(p, store, "fbo-node simulate --family gp:d=1 --control best-alone")
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestBestAloneIsTheBetterOfTwoAtEachCheckpoint(t *testing.T) {
	r := twoAlone(t)
	// Geometric means are 4 and 6 after three evaluations, 4 and 2 after six.
	if !slices.Equal(r.Controls, []string{"ts", "logei"}) || r.Control != "best-alone" || r.Reference != "ts" || !slices.Equal(r.Added, []string{"logei"}) {
		t.Errorf("controls %q of %s, reference %s, added %q", r.Controls, r.Control, r.Reference, r.Added)
	}
	compared := map[string][]Comparison{}
	for _, s := range r.Strategies {
		compared[s.Strategy] = s.Compared
	}
	for _, c := range []struct {
		strategy    string
		ratios      [2]float64
		differences [2]float64
	}{
		{"fts", [2]float64{0.5, math.Sqrt(1. / 2)}, [2]float64{-2.5, -1}},
		{"ts", [2]float64{1, 2}, [2]float64{0, 2.5}},
		{"logei", [2]float64{1.5, 1}, [2]float64{1, 0}},
		{"pooled", [2]float64{0.25, 0.25}, [2]float64{-4, -2}},
	} {
		for k, got := range compared[c.strategy] {
			near(t, c.strategy+", ratio", float64(got.Ratio), c.ratios[k])
			near(t, c.strategy+", difference", float64(got.Difference), c.differences[k])
		}
		if len(compared[c.strategy]) != 2 {
			t.Errorf("%s has %d comparisons", c.strategy, len(compared[c.strategy]))
		}
	}
	near(t, "gap closed", float64(compared["fts"][1].GapClosed), 0.25)
	// ts has 5 in the end, which fts is at after three evaluations and logei after five.
	if hits := []int{*r.Strategies[0].Hit, *r.Strategies[1].Hit, *r.Strategies[3].Hit}; !slices.Equal(hits, []int{3, 3, 5}) {
		t.Errorf("hits %v", hits)
	}
	var table bytes.Buffer
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	golden(t, "bestalone.txt", table.String())
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again Report
	if err := json.Unmarshal(text, &again); err != nil || !slices.Equal(again.Controls, r.Controls) {
		t.Errorf("read again: %v, %q", err, again.Controls)
	}
}

// How soon a feasible design is found has no checkpoint: there the control is who finds
// one sooner.
func TestBestAloneUnderConstraints(t *testing.T) {
	sampleOf := func(name string, first ...float64) sample { return sample{spec: Spec{Name: name}, firsts: first} }
	c := control{candidates: []sample{sampleOf("ts", 2, 9), sampleOf("logei", 4, 4)}}
	if got := c.first().spec.Name; got != "logei" {
		t.Errorf("%s finds feasible designs sooner", got)
	}
	f := &Feasibility{}
	f.compare(sampleOf("density", 2, 2), c)
	near(t, "ratio", float64(f.FirstRatio), 0.5)
}

func TestBestAloneAddsWhatItNeeds(t *testing.T) {
	for _, c := range []struct{ strategies, added, all string }{
		{"fts", "ts,logei", "fts,ts,logei"},
		{"logei,fts,ts", "", "logei,fts,ts"},
		{"ts:peers=own-cluster", "ts,logei", "ts:peers=own-cluster,ts,logei"}, // it is another strategy
	} {
		p := tiny(t, func(p *Plan) { p.Strategies, p.Control = specsOf(t, c.strategies), "best-alone" })
		var all []string
		for _, s := range p.Strategies {
			all = append(all, s.String())
		}
		if got := strings.Join(p.added, ","); got != c.added || strings.Join(all, ",") != c.all {
			t.Errorf("%s: added %s to %s", c.strategies, got, all)
		}
		again, err := p.Complete()
		if err != nil || len(again.Strategies) != len(p.Strategies) || len(again.added) != len(p.added) {
			t.Errorf("%s: completed again %v, %v", c.strategies, again.Strategies, err)
		}
	}
	p := Plan{Agents: 3, Evaluations: 6, Repeats: 2, Family: ring(t, "ring"), Strategies: specsOf(t, "fair"), Control: "best-alone"}
	if _, err := p.Complete(); err == nil || !strings.Contains(err.Error(), "--control best-alone, which chooses between ts and logei: ts: strategy: type ts goes to any design at once") {
		t.Errorf("error %v", err)
	}
	p = Plan{Agents: 3, Evaluations: 6, Repeats: 2, Family: familyOf(t, "gp:d=1"), Strategies: specsOf(t, "ts"), Control: "best"}
	if _, err := p.Complete(); err == nil || !strings.Contains(err.Error(), "--control best: expected one of --strategy: ts; or best-alone") {
		t.Errorf("error %v", err)
	}
}
