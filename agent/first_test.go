package agent

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func designsOf(t *testing.T, spec *task.Task, texts ...string) (designs []task.Design) {
	t.Helper()
	for _, text := range texts {
		design, err := spec.Space.UnmarshalDesign([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		designs = append(designs, design)
	}
	return designs
}

// TestFirstDesignsThatWereTried: whatever a trial has had, with any source and
// end, is not evaluated again.
func TestFirstDesignsThatWereTried(t *testing.T) {
	spec := newTask(t, "bowl", concurrent)
	designs := designsOf(t, spec, `{"a":1,"b":"left"}`, `{"a":2,"b":"left"}`, `{"a":3,"b":"left"}`)
	cfg := configOf(t, spec, 1)
	cfg.First = designs
	d := newDriver(t, cfg)
	if _, err := d.agent.Import(d.now, []Past{{Design: designs[1], Outcome: strategy.Outcome{Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	trial := d.ask()
	if !trial.Design.Equal(designs[0]) || trial.Why.Source != strategy.First {
		t.Errorf("first %v, %v", trial.Design, trial.Why)
	}
	if err := d.agent.Fail(d.now, trial.ID, "no luck"); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	if trial = d.ask(); !trial.Design.Equal(designs[2]) {
		t.Errorf("second %v", trial.Design)
	}
	d.tell(trial.ID, 1)
	if trial = d.ask(); trial.Why.Source == strategy.First {
		t.Errorf("third %v, %v: all of the list have been tried", trial.Design, trial.Why)
	}
}

func TestFirstDesignsAreChecked(t *testing.T) {
	spec, other := newTask(t, "bowl", concurrent), newTask(t, "coin", concurrent)
	cfg := configOf(t, spec, 1)
	cfg.First = append(designsOf(t, spec, `{"a":1,"b":"left"}`), designsOf(t, other, `{"side":"heads"}`)...)
	if _, err := New(cfg, nil, epochStart); err == nil || !strings.Contains(err.Error(), "Config.First, design 2: ") {
		t.Errorf("got %v", err)
	}
}

// TestFirstDesignsWithEveryStrategy: more of them than there are starting designs,
// alone, and then the strategy goes on.
func TestFirstDesignsWithEveryStrategy(t *testing.T) {
	for _, keys := range []string{
		"type: peer-prior, initial_designs: 1", "type: fts, initial_designs: 1", "type: ts, initial_designs: 1", "type: logei, initial_designs: 1",
		"type: ucb, initial_designs: 1", "type: mes, initial_designs: 1", "type: constrained-gp, initial_designs: 1", "type: density, initial_designs: 1",
		"type: consensus, mode: asynchronous, rounds: 9, initial_designs: 1",
	} {
		t.Run(keys, func(t *testing.T) {
			spec := newTask(t, "bowl", keys)
			cfg := configOf(t, spec, 1)
			cfg.First = designsOf(t, spec, `{"a":1,"b":"left"}`, `{"a":2,"b":"left"}`, `{"a":3,"b":"left"}`)
			d := newDriver(t, cfg)
			for i := range 5 {
				trial := d.ask()
				if first := trial.Why.Source == strategy.First; first != (i < 3) || first && !trial.Design.Equal(cfg.First[i]) ||
					trial.Why.Source == strategy.Initial {
					t.Errorf("trial %d: %v, %v", trial.ID, trial.Design, trial.Why)
				}
				d.tell(trial.ID, bowl(trial.Design))
			}
		})
	}
}
