package strategy_test

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// register is a strategy that needs nothing more.
func register(name string) strategy.Registration {
	return strategy.Registration{
		StrategyType: task.StrategyType{Name: name},
		New:          func(*task.Task) (strategy.Strategy, error) { return nil, nil },
		Describe:     func(*task.Task) string { return "nothing" },
	}
}

func TestSetCheck(t *testing.T) {
	without := func(change func(*strategy.Registration)) strategy.Set {
		r := register("own")
		change(&r)
		return strategy.Set{register("other"), r}
	}
	for want, set := range map[string]strategy.Set{
		"":                              append(all.Strategies(), register("own")),
		"is empty":                      {},
		"two registrations":             append(all.Strategies(), register("fts")),
		"registration 2 has no name":    {register("a"), register("")},
		`"own" needs New`:               without(func(r *strategy.Registration) { r.New = nil }),
		`"own" needs New and Describe`:  without(func(r *strategy.Registration) { r.Describe = nil }),
		`"own" has the mechanism "all"`: without(func(r *strategy.Registration) { r.Mechanism = "all" }),
		`"own" has a disclosure that needs Exchanges and Reveals`: without(func(r *strategy.Registration) {
			r.Disclosures = []strategy.Disclosure{{Exchanges: func(strategy.Env) ([]strategy.Exchange, error) { return nil, nil }}}
		}),
		`"own" has a disclosure without a rung; expected one of ["results" "exact" "sum" "design" "coarse" "DP" "alone"]`: without(func(r *strategy.Registration) {
			r.Disclosures = choices()
			r.Disclosures[1].Rung = "much"
		}),
		`"own" has a disclosure with one of Release and Debit`: without(func(r *strategy.Registration) {
			r.Disclosures = choices()
			r.Disclosures[2].Debit = nil
		}),
		`"own" has two disclosures with share "narrow" for the same tasks`: without(func(r *strategy.Registration) {
			r.Disclosures = append(choices(), said("narrow", "another"))
		}),
	} {
		err := set.Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
		_, parsed := set.Parse("t", []byte("name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]"))
		if (parsed == nil) != (want == "") {
			t.Errorf("%q: Parse returns %v", want, parsed)
		}
	}
}

// A mistake in an embedding program's own settings is an error of the file's reading.
func TestSettingsThatPanic(t *testing.T) {
	r := register("own")
	r.Settings = func(*task.Section) task.StrategySettings { panic("boom") }
	_, err := strategy.Set{r}.NewTask(task.Spec{Name: "a", Goal: task.Minimize, Parameters: []task.Parameter{{Name: "x", Kind: task.Float, High: 1}}})
	if err == nil || !strings.Contains(err.Error(), "panicked: boom") {
		t.Error(err)
	}
}

// TestBudgetHint compares the rounds of consensus, 3 starting designs and 50 rounds, with budgets.
func TestBudgetHint(t *testing.T) {
	parse := func(section string) *task.Task {
		spec, err := all.Strategies().Parse("task.yaml", []byte("name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\nstrategy: "+section+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		return spec
	}
	for _, c := range []struct {
		section     string
		evaluations int
		want        string
	}{
		{"{type: consensus}", 53, ""},
		{"{type: consensus}", 52, "rounds: 49 in the task file fits them"},
		{"{type: consensus}", 2, "rounds: 1 in the task file fits them"},
		{"{type: consensus, rounds: 3}", 6, ""},
		{"{type: fts}", 6, ""},
		{"{type: alone}", 6, ""},
	} {
		spec := parse(c.section)
		r, err := all.Strategies().Of(spec)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.BudgetHint(spec, c.evaluations); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, %d evaluations: %q, want %q", c.section, c.evaluations, got, c.want)
		}
	}
}
