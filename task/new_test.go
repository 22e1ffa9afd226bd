package task

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// settingsOf reads a section back from a canonical form.
func settingsOf(t *rapid.T, canonical []byte, key string) Settings {
	form := map[string]json.RawMessage{}
	if err := json.Unmarshal(canonical, &form); err != nil {
		t.Fatal(err)
	}
	var settings Settings
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
		space := drawSpace(t)
		section := rapid.SampledFrom(sections).Draw(t, "section")
		file, err := json.Marshal(canonicalParameters(space))
		if err != nil {
			t.Fatal(err)
		}
		want, err := Parse("", []byte("name: \"é b\"\ngoal: maximize\nparameters: "+string(file)+"\n"+section))
		if err != nil {
			t.Fatal(err)
		}
		spec := Spec{Name: "é b", Goal: Maximize, Parameters: space.Parameters()}
		if section != "" {
			canonical := want.Canonical()
			spec.Surrogate, spec.Strategy, spec.Privacy = settingsOf(t, canonical, "surrogate"), settingsOf(t, canonical, "strategy"), settingsOf(t, canonical, "privacy")
		}
		got, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Canonical(), want.Canonical()) || !got.ID().Equals(want.ID()) {
			t.Fatalf("from Go values\n%s\nfrom the file\n%s", got.Canonical(), want.Canonical())
		}
	})
}

func TestNewErrors(t *testing.T) {
	x := []Parameter{{Name: "x", Kind: Float, High: 1}}
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{Name: "a", Goal: Minimize}, "task: 0 parameters given; accepted: 1 to 100"},
		{Spec{Name: "a", Goal: Minimize, Parameters: []Parameter{{Name: "x", Kind: Float}}}, `task: parameter "x": low 0 must be below high 0`},
		{Spec{Parameters: x}, "task: goal must be one of minimize, maximize, not the text \"\"\ntask: name \"\" is not accepted: it is empty"},
		{Spec{Name: "a\u0007", Goal: Minimize, Parameters: x}, `task: name "a\a" is not accepted: it has a character that cannot be printed`},
		{Spec{Name: "\xff", Goal: Minimize, Parameters: x}, `task: name "` + "\ufffd" + `" is not accepted: it has a character that cannot be printed`},
		{Spec{Name: "a", Goal: Minimize, Parameters: x, Strategy: Settings{"type": "best"}},
			`task: strategy: type must be one of peer-prior, fts, fts-de, consensus, constrained-gp, density, ts, logei, ucb, not the text "best"`},
		{Spec{Name: "a", Goal: Minimize, Parameters: x, Strategy: Settings{"type": "ts", "shared": true}},
			`task: strategy: unknown key "shared"; accepted: type, initial_designs`},
		{Spec{Name: "a", Goal: Minimize, Parameters: x, Strategy: Settings{"initial_designs": 0}, Surrogate: Settings{"features": 3}},
			"task: strategy: initial_designs 0 must be a whole number from 1 to 1000\ntask: surrogate: features 3 must be even: they come in pairs of cosine and sine"},
		{Spec{Name: "a", Goal: Minimize, Parameters: x, Surrogate: Settings{"lengthscale": math.NaN()}}, "task: settings: json: unsupported value: NaN"},
	} {
		got, err := New(c.spec)
		if err == nil || err.Error() != c.want || got != nil {
			t.Errorf("%+v:\n%v\nwant\n%s", c.spec, err, c.want)
		}
	}
}
