package task_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/task"
)

// settingsOf reads a section back from a canonical form.
func settingsOf(t *rapid.T, canonical []byte, key string) task.Settings {
	form := map[string]json.RawMessage{}
	if err := json.Unmarshal(canonical, &form); err != nil {
		t.Fatal(err)
	}
	var settings task.Settings
	if raw, ok := form[key]; ok {
		if err := json.Unmarshal(raw, &settings); err != nil {
			t.Fatal(err)
		}
	}
	return settings
}

// What Go values say is the task that a file says, also for the defaults.
func TestNewEqualsParse(t *testing.T) {
	sections := []string{
		"", "surrogate: {type: rff, features: 64, lengthscale: 0.7}\n",
		"strategy: {type: fts, schedule: constant, own_probability: 0, share_every: 2}\n",
		"strategy: {type: constrained-gp, confidence: 0}\n", "strategy: {type: density, beta: 0}\n",
		"strategy: {type: consensus, weights: leader, response: noisy, response_noise: 0.5}\n",
		"strategy: {type: fts}\nprivacy: {mechanism: local, epsilon: 4}\n",
		summing("cells: 2", "", 4)[len(one):],
	}
	rapid.Check(t, func(t *rapid.T) {
		space := task.DrawSpace(t)
		section := rapid.SampledFrom(sections).Draw(t, "section")
		file, err := json.Marshal(task.CanonicalParameters(space))
		if err != nil {
			t.Fatal(err)
		}
		want, err := parse("", []byte("name: \"é b\"\ngoal: maximize\nparameters: "+string(file)+"\n"+section))
		if err != nil {
			t.Fatal(err)
		}
		spec := task.Spec{Name: "é b", Goal: task.Maximize, Parameters: space.Parameters()}
		if section != "" {
			canonical := want.Canonical()
			spec.Surrogate, spec.Privacy = settingsOf(t, canonical, "surrogate"), settingsOf(t, canonical, "privacy")
			spec.Strategy = want.Strategy
			if rapid.Bool().Draw(t, "keys") {
				keys := settingsOf(t, canonical, "strategy")
				delete(keys, "type")
				delete(keys, "initial_designs")
				spec.Strategy.Settings = keys
			}
		}
		got, err := newTask(spec)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Canonical(), want.Canonical()) || !got.ID().Equals(want.ID()) {
			t.Fatalf("from Go values\n%s\nfrom the file\n%s", got.Canonical(), want.Canonical())
		}
	})
}

func TestNewErrors(t *testing.T) {
	x := []task.Parameter{{Name: "x", Kind: task.Float, High: 1}}
	for _, c := range []struct {
		spec task.Spec
		want string
	}{
		{task.Spec{Name: "a", Goal: task.Minimize}, "task: 0 parameters, expected 1 to 100"},
		{task.Spec{Name: "a", Goal: task.Minimize, Parameters: []task.Parameter{{Name: "x", Kind: task.Float}}}, `task: parameter "x": low 0 must be below high 0`},
		{task.Spec{Parameters: x}, "task: goal must be one of minimize, maximize, not the text \"\"\ntask: name \"\" is not accepted: it is empty"},
		{task.Spec{Name: "a\u0007", Goal: task.Minimize, Parameters: x}, `task: name "a\a" is not accepted: it has a character that cannot be printed`},
		{task.Spec{Name: "\xff", Goal: task.Minimize, Parameters: x}, `task: name "` + "\ufffd" + `" is not accepted: it has a character that cannot be printed`},
		{task.Spec{Name: "a", Goal: task.Minimize, Parameters: x, Strategy: task.Strategy{Type: "best"}},
			"task: strategy: type must be one of " + types() + `, not the text "best"`},
		{task.Spec{Name: "a", Goal: task.Minimize, Parameters: x, Strategy: task.Strategy{Type: "ts", Settings: task.Settings{"shared": true}}},
			`task: strategy: unknown key "shared"; accepted: type, initial_designs`},
		{task.Spec{Name: "a", Goal: task.Minimize, Parameters: x, Strategy: task.Strategy{InitialDesigns: -1}, Surrogate: task.Settings{"features": 3}},
			"task: strategy: initial_designs -1 must be a whole number from 1 to 1000\ntask: surrogate: features 3 must be even: they come in pairs of cosine and sine"},
		{task.Spec{Name: "a", Goal: task.Minimize, Parameters: x, Strategy: task.Strategy{Settings: task.Settings{"type": "ts"}}},
			`task: Spec.Strategy.Settings has the key "type", expected only keys of the strategy's own; Spec.Strategy has a field for it`},
		{task.Spec{Name: "a", Goal: task.Minimize, Parameters: x, Surrogate: task.Settings{"lengthscale": math.NaN()}}, "task: settings: json: unsupported value: NaN"},
	} {
		got, err := newTask(c.spec)
		if err == nil || err.Error() != c.want || got != nil {
			t.Errorf("%+v:\n%v\nwant\n%s", c.spec, err, c.want)
		}
	}
}
