package strategy_test

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// width is the key of two of the choices below.
type width struct{ width float64 }

func (w width) Keys() map[string]any { return map[string]any{"width": w.width} }

func readWidth(s *task.Section) task.StrategySettings { return width{s.Within("width", 1, 0, 9)} }

// said is a disclosure that can be told from others by what it reveals.
func said(share, reveals string) strategy.Disclosure {
	return strategy.Disclosure{
		Share:     share,
		Rung:      strategy.RungDesign,
		Exchanges: func(strategy.Env) ([]strategy.Exchange, error) { return nil, nil },
		Reveals:   func(*task.Task) string { return reveals },
	}
}

// choices are wide, with a key, an interval and, if the key is 2, another form; its form with noise;
// narrow, the default of canonical forms, without keys; and labels, for tasks with constraints.
func choices() []strategy.Disclosure {
	wide := said("wide", "all")
	wide.Every, wide.Settings = true, readWidth
	two := wide
	two.Applies = func(t *task.Task) bool { return strategy.ChosenSettings[width](t).width == 2 }
	two.Reveals = func(*task.Task) string { return "two" }
	two.New = func(*task.Task) (strategy.Strategy, error) { return nil, errNew }
	noisy := wide
	noisy.Reveals = func(*task.Task) string { return "noise" }
	noisy.Debit = func(_ string, note []byte) []byte { return note }
	noisy.Release = func(t *task.Task) task.Release { return task.Release{Numbers: 1, Norm: 1} }
	narrow := said("narrow", "little")
	narrow.Implied = true
	narrow.Holds = func(*task.Task) string { return "a share holds little" }
	labels := said("labels", "labels")
	labels.Constrained = true
	return []strategy.Disclosure{two, wide, noisy, narrow, labels}
}

const errNew = refusal("made by the disclosure")

type refusal string

func (r refusal) Error() string { return string(r) }

type chosen struct{ strategy.Choice }

func (chosen) Release(t *task.Task) task.Release { return strategy.ReleaseOf(choices(), t) }

func choosing() strategy.Set {
	r := register("own")
	r.Settings = func(s *task.Section) task.StrategySettings { return chosen{strategy.ReadChoice(s, choices())} }
	r.Mechanism, r.Constraints = task.MechanismLocal, true
	r.Disclosures = choices()
	return strategy.Set{r}
}

const file = "name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\n"

func TestReadChoice(t *testing.T) {
	for _, c := range []struct {
		file    string
		want    strategy.Choice
		reveals string
	}{
		{"", strategy.Choice{Share: "wide", ShareEvery: 1, Settings: width{1}}, "all"},
		{"strategy: {type: own, width: 2, share_every: 4}", strategy.Choice{Share: "wide", ShareEvery: 4, Settings: width{2}}, "two"},
		{"strategy: {type: own}\nprivacy: {mechanism: local, epsilon: 1}", strategy.Choice{Share: "wide", ShareEvery: 1, Settings: width{1}}, "noise"},
		{"strategy: {type: own, share: narrow}", strategy.Choice{Share: "narrow", Implied: true, ShareEvery: 1}, "little"},
		{"strategy: {type: own, share: labels}\nfailures: constraint", strategy.Choice{Share: "labels", ShareEvery: 1}, "labels"},
	} {
		parsed, err := choosing().Parse("t", []byte(file+c.file))
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if got := strategy.ChoiceOf(parsed); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.file, got, c.want)
		}
		again, err := choosing().ParseCanonical("t", parsed.Canonical())
		if err != nil || again.ID() != parsed.ID() || strategy.ChoiceOf(again) != c.want {
			t.Errorf("%s: the canonical form %s, %v", c.file, parsed.Canonical(), err)
		}
		if got := choosing()[0].Disclosure(parsed).Reveals(parsed); got != c.reveals {
			t.Errorf("%s: reveals %q, want %q", c.file, got, c.reveals)
		}
	}
}

func TestReadChoiceRefuses(t *testing.T) {
	for section, want := range map[string][]string{
		"strategy: {type: own, share: narrow, width: 3, share_every: 2}":                     {"width applies only with share: wide", "share_every applies only with share: wide"},
		"strategy: {type: own, share: labels}":                                               {"share labels applies only to tasks with constraints, or with failures: constraint; expected wide and narrow"},
		"strategy: {type: own, share: best, width: 3}":                                       {`share must be one of wide, narrow, labels, not the text "best"`},
		"strategy: {type: own, share: narrow, depth: 3}":                                     {`unknown key "depth"; accepted: type, share, initial_designs`},
		"strategy: {type: own, share: wide, share_every: 10001}":                             {"share_every 10001 must be a whole number from 1 to 10000"},
		"strategy: {type: own, share: narrow}\nprivacy: {mechanism: local, epsilon: 1}":      {"needs share: wide"},
		"strategy: {type: own, share: narrow, width: 99}\nprivacy: {mechanism: local, x: 1}": {"width applies only", `missing key "epsilon"`, "needs share: wide", `unknown key "x"`},
	} {
		_, err := choosing().Parse("t", []byte(file+section))
		if err == nil {
			t.Errorf("%s: no error", section)
			continue
		}
		if lines := strings.Split(err.Error(), "\n"); len(lines) != len(want) {
			t.Errorf("%s: %d errors, want %d:\n%v", section, len(lines), len(want), err)
		}
		for _, text := range want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v\nwant %s", section, err, text)
			}
		}
	}
}

// A key that several values of share have is refused with all of them.
func TestReadChoiceListsValuesWithAKey(t *testing.T) {
	all := choices()
	all[4].Settings, all[4].Every = readWidth, true
	r := register("own")
	r.Settings = func(s *task.Section) task.StrategySettings { return chosen{strategy.ReadChoice(s, all)} }
	r.Constraints, r.Disclosures = true, all
	_, err := strategy.Set{r}.Parse("t", []byte(file+"strategy: {type: own, share: narrow, width: 3, share_every: 2}"))
	for _, want := range []string{"width applies only with share: wide or labels", "share_every applies only with share: wide or labels"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// The values that a task without constraints can have are listed, however many there are.
func TestReadChoiceListsValuesWithoutConstraints(t *testing.T) {
	labels := choices()[4]
	for want, others := range map[string][]string{"expected a": {"a"}, "expected a and b": {"a", "b"}, "expected a, b and c": {"a", "b", "c"}} {
		r := register("own")
		r.Settings = func(s *task.Section) task.StrategySettings {
			var all []strategy.Disclosure
			for _, share := range others {
				all = append(all, said(share, ""))
			}
			return strategy.ReadChoice(s, append(all, labels))
		}
		if _, err := (strategy.Set{r}).Parse("t", []byte(file+"strategy: {type: own, share: labels}")); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestDisclosureMakesTheStrategy(t *testing.T) {
	for section, want := range map[string]error{"": nil, "strategy: {type: own, width: 2}": errNew} {
		parsed, err := choosing().Parse("t", []byte(file+section))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := choosing()[0].NewStrategy(parsed); err != want {
			t.Errorf("%s: %v, want %v", section, err, want)
		}
	}
}

func TestSummary(t *testing.T) {
	for section, want := range map[string]string{
		"":                                     "nothing",
		"strategy: {type: own, share: narrow}": "nothing; a share holds little",
	} {
		parsed, err := choosing().Parse("t", []byte(file+section))
		if err != nil {
			t.Fatal(err)
		}
		if got := choosing()[0].Summary(parsed); got != want {
			t.Errorf("%s: %q, want %q", section, got, want)
		}
	}
	alone := strategy.Set{register("alone")}
	parsed, err := alone.Parse("t", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if got := alone[0].Summary(parsed); got != "nothing; nothing is shared" {
		t.Error(got)
	}
}

// Each choice that the strategies of this project list can be read, and is the one of its task.
func TestEveryChoiceIsOfItsTask(t *testing.T) {
	for _, r := range all.Strategies() {
		for _, d := range r.Disclosures {
			if r.Roster || r.Private || d.Roster {
				continue // these need nodes
			}
			text := file + "strategy: {type: " + r.Name
			if d.Share != "" {
				text += ", share: " + d.Share
			}
			text += "}\n"
			if d.Constrained {
				text += "failures: constraint\n"
			}
			if d.Release != nil {
				text += "privacy: {mechanism: local, epsilon: 4}\n"
			}
			parsed, err := all.Strategies().Parse("t", []byte(text))
			if err != nil {
				t.Error(err)
				continue
			}
			got := r.Disclosure(parsed)
			if got.Share != d.Share || (got.Release == nil) != (d.Release == nil) || d.Applies == nil && got.Uses != d.Uses {
				t.Errorf("%s: share %q of %q", text, got.Share, d.Share)
			}
			if got.Holds == nil || got.Holds(parsed) == "" || got.Reveals(parsed) == "" {
				t.Errorf("%s: does not describe what is shared", text)
			}
		}
	}
}
