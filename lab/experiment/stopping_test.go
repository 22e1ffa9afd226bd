package experiment

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/lab/trained"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// curveTable writes a table of two members whose curves fall from 1 above their final value.
func curveTable(t *testing.T, steps int) family.Family {
	t.Helper()
	folder := t.TempDir()
	var table bytes.Buffer
	table.WriteString("member,x,value")
	for step := range steps {
		fmt.Fprintf(&table, ",step_%d", step+1)
	}
	for _, member := range []string{"a", "b"} {
		for x := range 40 {
			final := math.Abs(float64(x)-25) / 10
			fmt.Fprintf(&table, "\n%s,%d,%g", member, x, final)
			for step := range steps {
				fmt.Fprintf(&table, ",%g", final+1-float64(step+1)/float64(steps))
			}
		}
	}
	for name, content := range map[string]string{
		"task.yaml": "name: curves\ngoal: minimize\nparameters: [{name: x, type: int, low: 0, high: 39}]\n",
		"table.csv": table.String() + "\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := trained.Kinds().Parse("table:task=" + folder + "/task.yaml,file=" + folder + "/table.csv,curve=step_")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestStopCountsSteps: with a rule, a budget of ten evaluations is one of ninety steps, of which
// stopped trials use fewer, so that there are more of them.
func TestStopCountsSteps(t *testing.T) {
	p := Plan{Family: curveTable(t, 9), Agents: 2, Evaluations: 10, Repeats: 3, Seed: 1}
	for _, text := range []string{"logei", "logei:stop=asha", "random:stop=asha", "peer-prior:stop=median,grace_period=2"} {
		s, err := ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		p.Strategies = append(p.Strategies, s)
	}
	p.Control = "logei"
	p, err := p.Complete()
	if err != nil {
		t.Fatal(err)
	}
	regrets := map[string]float64{}
	for _, s := range p.Strategies {
		f, err := p.draw(0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.play(t.Context(), 0, s, f, 1, func() {})
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		for _, m := range r.Members {
			if len(m.Regret) != 10 || len(m.Recommended) != len(p.Checkpoints) {
				t.Fatalf("%s: %d regrets, %d recommendations", s, len(m.Regret), len(m.Recommended))
			}
			for k, regret := range m.Regret {
				if math.IsNaN(float64(regret)) || k > 0 && regret > m.Regret[k-1] && s.has(stopKey) {
					t.Errorf("%s: regrets %v", s, m.Regret)
				}
			}
			regrets[s.String()] += float64(m.Regret[3])
		}
	}
	if regrets["logei:stop=asha"] > regrets["logei"] {
		t.Errorf("after four full evaluations the sums of regrets are %v", regrets)
	}
}

func TestStopSettings(t *testing.T) {
	p := Plan{Family: curveTable(t, 3), Agents: 2, Evaluations: 4, Repeats: 1, Seed: 1}
	for text, want := range map[string]string{
		"logei:stop=hyperband":                   `stop must be one of forecast, asha, median, not "hyperband"`,
		"logei:reduction_factor=3":               "reduction_factor is a key beside stop=asha",
		"logei:stop=asha,reduction_factor=1":     `reduction_factor "1" must be a whole number from 2 to 100`,
		"logei:stop=asha,grace_period=x":         `grace_period "x" must be`,
		"random:stop=asha,units=own":             "accepts no settings",
		"logei:stop=asha,reduction_factor=4,a=1": `unknown key "a"`,
	} {
		s, err := ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		p.Strategies = []Spec{s}
		if _, err := p.Complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
	p.Family = familyOf(t, "branin")
	p.Strategies = []Spec{{Name: "logei", Settings: []Setting{{stopKey, "asha"}}}}
	p, err := p.Complete()
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.draw(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.play(t.Context(), 0, p.Strategies[0], f, 1, func() {}); err == nil || !strings.Contains(err.Error(), "needs values by step") {
		t.Errorf("a family without curves: %v", err)
	}
}

func TestBySteps(t *testing.T) {
	f := curveTable(t, 3)
	drawn, err := f.Draw(random.SeedOf(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	listing := drawn.Space.Listing()
	at := func(x int) task.Design { return listing.Design(x) }
	judge := func(d task.Design) (float64, float64) { return float64(d.Int("x")), 0 }
	curve := func(n int) strategy.Curve { return make(strategy.Curve, n) }
	trials := []strategy.Trial{
		{Design: at(9), State: strategy.Done, Steps: curve(3)},         // until step 3
		{Design: at(1), State: strategy.StoppedEarly, Steps: curve(1)}, // until 4; no outcome
		{Design: at(7), State: strategy.Done, Steps: curve(3)},         // until 7
		{Design: at(8), State: strategy.Done, Steps: curve(2)},         // until 9
		{Design: at(2), State: strategy.Done, Steps: curve(3)},         // until 12
		{Design: at(0), State: strategy.Done, Steps: curve(3)},         // beyond the budget
	}
	got := bySteps(trials, 3, 4, judge)
	if want := []Number{9, 9, 7, 2}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
