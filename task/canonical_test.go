package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The IDs are those of all nodes in the field: a change here cuts the new version
// off from the old, and needs a new version of the format.
func TestGoldenIDs(t *testing.T) {
	for _, c := range []struct{ text, canonical, id string }{
		{one,
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"initial_designs":3,"type":"peer-prior"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaiera7mkcvgi36iqkl5hv2mdsie44eaykejwnkkta7xvgwvczq3eiswsq"},
		{`
name: wearable-lr
goal: minimize
parameters:
  - {name: learning_rate, type: float, low: 0.001, high: 1, scale: log}
  - {name: batch_size, type: int, low: 20, high: 100}
  - {name: optimizer, type: categorical, choices: [sgd, adam]}
surrogate: {type: exact, kernel: matern52, features: 256, lengthscale: 0.3, category_lengthscale: 1}
strategy: {type: fts, mode: concurrent, schedule: inverse-sqrt, initial_designs: 3, share_every: 1}
`,
			`{"fbo":1,"goal":"minimize","name":"wearable-lr","parameters":[` +
				`{"high":1,"low":0.001,"name":"learning_rate","scale":"log","type":"float"},` +
				`{"high":100,"low":20,"name":"batch_size","scale":"linear","type":"int"},` +
				`{"choices":["sgd","adam"],"name":"optimizer","type":"categorical"}],` +
				`"strategy":{"initial_designs":3,"mode":"concurrent","schedule":"inverse-sqrt","share_every":1,"type":"fts"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.3,"type":"exact"}}`,
			"bagaaierazvcx5nsudu3ixgkyaac24n3gsehnm5fg3jjf2sr6dna55idczrra"},
		{`
name: "<b> & \"é\""
goal: maximize
parameters:
  - {name: big, type: float, low: 1e-7, high: 1e+21}
  - {name: n, type: int, low: -9007199254740992, high: -9007199254740000}
surrogate: {type: rff, kernel: se}
strategy: {type: fts, mode: one-shot, schedule: constant, own_probability: .50}
`,
			`{"fbo":1,"goal":"maximize","name":"<b> & \"é\"","parameters":[` +
				`{"high":1e+21,"low":1e-7,"name":"big","scale":"linear","type":"float"},` +
				`{"high":-9007199254740000,"low":-9007199254740992,"name":"n","scale":"linear","type":"int"}],` +
				`"strategy":{"initial_designs":3,"mode":"one-shot","own_probability":0.5,"schedule":"constant","share_after":50,"type":"fts"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"se","lengthscale":0.2,"type":"rff"}}`,
			"bagaaierasnruv47izo4wxl3kv2prqdnxw5ls33nqxirdn2kkkwqi5nrzof4q"},
		{one + "strategy: {type: ts}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"initial_designs":3,"type":"ts"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaieraxe3wafv5czsu6r55kmqm5r446pk64xhj623alknhy4mbndcbav3a"},
		{one + "strategy: {type: ucb}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"initial_designs":3,"type":"ucb"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaiera7v5jcp3jwis7i7jmkvhdyju7cffhbyr5hb3lkhrua7gzvco4zbka"},
		{one + "strategy: {type: consensus}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"acquisition":"logei","deadline":60,"initial_designs":3,"mode":"rounds","rounds":50,"type":"consensus","weights":"uniform"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaieragkohwa4eax5wvg23eilg5vur4ylxdfjz55djge24fsm6jtyqy66q"},
		{one + "strategy: {type: consensus, mode: asynchronous, weights: metropolis, acquisition: ts}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"acquisition":"ts","initial_designs":3,"mode":"asynchronous","rounds":50,"type":"consensus","weights":"metropolis"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaiera3qw7laqlrf5txtfhfuarcl3ass4tacz4avp4xtqqqg7icggmr5na"},
		{one + "strategy: {type: consensus, weights: leader, response: noisy, response_noise: .50}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"acquisition":"logei","deadline":60,"initial_designs":3,"mode":"rounds","response":"noisy","response_noise":0.5,"rounds":50,"type":"consensus","weights":"leader"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaieradomsbcymwigtgpkn4kjwye47t6hdjkrcs3item6m7wcpq6nhyeca"},
		{one + "strategy: {type: constrained-gp}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"confidence":2,"initial_designs":3,"threshold":"none","type":"constrained-gp"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaiera33hapamuvhbsoynyw75r2kdfjtuwjz4tosjcbr3w3c4e2u65kxqq"},
		{one + "strategy: {type: density}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"beta":5,"components":1,"initial_designs":3,"spread":0.2,"type":"density"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaieratwlq7nm2fi5xlq64dgaqn4zokw4jybpsqvxwuugmbqd2lh2inwea"},
		{one + "strategy: {type: density, components: 4}",
			`{"fbo":1,"goal":"minimize","name":"a","parameters":[{"high":1,"low":0,"name":"x","scale":"linear","type":"float"}],` +
				`"strategy":{"beta":5,"components":4,"initial_designs":3,"type":"density"},` +
				`"surrogate":{"basis":"quasi","category_lengthscale":1,"features":256,"kernel":"matern52","lengthscale":0.1,"type":"exact"}}`,
			"bagaaiera5kad2axuhbuntey5bnk7zae75b65ezkf6jphlotvy2xpdexzvh7q"},
	} {
		got, err := Parse("", []byte(c.text))
		if err != nil {
			t.Error(err)
			continue
		}
		if string(got.Canonical()) != c.canonical {
			t.Errorf("canonical form\n got %s\nwant %s", got.Canonical(), c.canonical)
		}
		if got.ID().String() != c.id {
			t.Errorf("ID %s, want %s", got.ID(), c.id)
		}
	}
}

// What changes the meaning of a share changes the ID.
func TestEveryKeyChangesTheID(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{
		one,
		strings.Replace(one, "name: a", "name: b", 1),
		strings.Replace(one, "minimize", "maximize", 1),
		strings.Replace(one, "name: x", "name: y", 1),
		strings.Replace(one, "high: 1", "high: 2", 1),
		strings.Replace(one, "low: 0", "low: 0.5", 1),
		strings.Replace(one, "low: 0", "low: 0.5, scale: log", 1),
		strings.Replace(one, "float", "int", 1),
		one + "surrogate: {type: rff}",
		one + "surrogate: {kernel: se}",
		one + "surrogate: {features: 128}",
		one + "surrogate: {lengthscale: 0.4}",
		one + "surrogate: {category_lengthscale: 2}",
		one + "strategy: {type: ts}",
		one + "strategy: {type: fts, mode: one-shot}",
		one + "strategy: {type: fts, mode: one-shot, share_after: 9}",
		one + "strategy: {type: fts, schedule: own-only}",
		one + "strategy: {type: fts, schedule: constant, own_probability: 0}",
		one + "strategy: {type: fts, schedule: constant, own_probability: 1}",
		one + "strategy: {initial_designs: 4}",
		one + "strategy: {type: fts, share_every: 2}",
		one + "strategy: {type: logei}",
		one + "strategy: {type: ucb}",
		one + "strategy: {type: consensus}",
		one + "strategy: {type: consensus, acquisition: ucb}",
		one + "strategy: {type: consensus, acquisition: ts}",
		one + "strategy: {type: consensus, mode: asynchronous}",
		one + "strategy: {type: consensus, rounds: 51}",
		one + "strategy: {type: consensus, deadline: 61}",
		one + "strategy: {type: consensus, weights: metropolis}",
		one + "strategy: {type: consensus, weights: leader}",
		one + "strategy: {type: consensus, weights: leader, response: noisy, response_noise: 1}",
		one + "strategy: {type: consensus, weights: leader, response: noisy, response_noise: 2}",
		one + "strategy: {type: constrained-gp}",
		one + "strategy: {type: constrained-gp, threshold: open}",
		one + "strategy: {type: constrained-gp, confidence: 3}",
		one + "strategy: {type: density}",
		one + "strategy: {type: density, beta: 4}",
		one + "strategy: {type: density, spread: 0.3}",
		one + "strategy: {type: density, components: 2}",
		one + "strategy: {type: density, components: 3}",
		head + "  - {name: x, type: categorical, choices: [a, b]}",
		head + "  - {name: x, type: categorical, choices: [b, a]}",
		one + "  - {name: y, type: float, low: 0, high: 1}\n",
		head + "  - {name: y, type: float, low: 0, high: 1}\n" + strings.TrimPrefix(one, head),
	} {
		got, err := Parse("", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if other, ok := seen[got.ID().String()]; ok {
			t.Errorf("the same ID for\n%s\nand\n%s", text, other)
		}
		seen[got.ID().String()] = text
	}
}

// writer writes a canonical form back as YAML in one of many ways.
type writer struct{ t *rapid.T }

func (w writer) chance(label string) bool { return rapid.Bool().Draw(w.t, label) }

func (w writer) number(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		w.t.Fatal(err)
	}
	forms := []string{text, strconv.FormatFloat(v, 'e', -1, 64), strconv.FormatFloat(v, 'E', 20, 64)}
	if text != "0" && !strings.ContainsAny(text, "e.") {
		forms = append(forms, text+".0", text+".", text+"0E-1", text+"e+00")
	}
	if v >= 0 {
		forms = append(forms, "+"+text)
	}
	return rapid.SampledFrom(forms).Draw(w.t, "spelling")
}

func (w writer) value(v any) string {
	switch v := v.(type) {
	case json.Number:
		return w.number(v.String())
	case string:
		return strconv.Quote(v)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = w.value(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		return "{" + strings.Join(w.pairs(v), rapid.SampledFrom([]string{", ", " ,\n    "}).Draw(w.t, "comma")) + "}"
	}
	w.t.Fatalf("a %T in a canonical form", v)
	return ""
}

func (w writer) pairs(m map[string]any) []string {
	keys := rapid.Permutation(slices.Sorted(maps.Keys(m))).Draw(w.t, "order")
	var all []string
	for _, key := range keys {
		if key == "scale" && m[key] == "linear" && w.chance("leave the default out") {
			continue
		}
		all = append(all, key+": "+w.value(m[key]))
	}
	return all
}

func (w writer) file(m map[string]any) string {
	var b strings.Builder
	for _, line := range w.pairs(m) {
		if w.chance("comment") {
			b.WriteString("# a comment: {\n\n")
		}
		b.WriteString(line + rapid.SampledFrom([]string{"\n", " # done\n", "\r\n"}).Draw(w.t, "end"))
	}
	return b.String()
}

func TestIDIsIndependentOfWriting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task := &Task{
			Name:      rapid.StringMatching(`[a-zA-Zé:#'"\\{}-][a-z :#'"\\,-]{0,20}[a-z'"\\}]`).Draw(t, "name"),
			Goal:      rapid.SampledFrom([]Goal{Minimize, Maximize}).Draw(t, "goal"),
			Space:     drawSpace(t),
			Surrogate: Surrogate{"exact", "se", 2 * rapid.IntRange(1, 2048).Draw(t, "features"), rapid.SampledFrom([]string{"quasi", "orthogonal", "plain", "random-phase"}).Draw(t, "basis"), rapid.Float64Range(0.001, 1000).Draw(t, "lengthscale"), 1},
			Strategy:  Strategy{Type: "ts", InitialDesigns: 3},
		}
		if rapid.Bool().Draw(t, "fts") {
			task.Strategy.Type = "fts"
			task.Strategy.FTS = &FTS{Mode: "concurrent", Schedule: "constant", ShareEvery: 2, OwnProbability: rapid.Float64Range(0, 1).Draw(t, "p")}
		}
		switch rapid.IntRange(0, 4).Draw(t, "shared designs") {
		case 0:
			task.Strategy = Strategy{Type: "consensus", InitialDesigns: 3, Consensus: &Consensus{Acquisition: "ucb", Weights: "leader", Mode: "rounds", Rounds: 9, Deadline: 8, Response: "noisy", ResponseNoise: rapid.Float64Range(0, 1e100).Draw(t, "noise")}}
		case 1:
			task.Strategy = Strategy{Type: "constrained-gp", InitialDesigns: 3, Constrained: &Constrained{Threshold: "open", Confidence: rapid.Float64Range(0, 100).Draw(t, "confidence")}}
		case 2:
			task.Strategy = Strategy{Type: "density", InitialDesigns: 3, Density: &Density{Beta: rapid.Float64Range(0, 1000).Draw(t, "beta"), Components: 1, Spread: rapid.Float64Range(0.001, 10).Draw(t, "spread")}}
		}
		decoder := json.NewDecoder(bytes.NewReader(task.Canonical()))
		decoder.UseNumber()
		var form map[string]any
		if err := decoder.Decode(&form); err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "no version") {
			delete(form, "fbo")
		}
		text := writer{t}.file(form)
		again, err := Parse("", []byte(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if !again.ID().Equals(task.ID()) {
			t.Fatalf("%s\nbecame %s\nby\n%s", task.Canonical(), again.Canonical(), text)
		}
	})
}

// Defaults that are written out leave the ID as it is.
func TestWrittenDefaultsOfSharedDesigns(t *testing.T) {
	for short, long := range map[string]string{
		"{type: ucb}":                        "{type: ucb, initial_designs: 3}",
		"{type: consensus}":                  "{type: consensus, acquisition: logei, weights: uniform, mode: rounds, rounds: 5e1, deadline: 60.0}",
		"{type: consensus, weights: leader}": "{response: value, weights: leader, deadline: 60, type: consensus}",
		"{type: constrained-gp}":             "{confidence: 2.0, threshold: none, type: constrained-gp}",
		"{type: density}":                    "{type: density, beta: 5, components: 1, spread: 2e-1}",
		"{type: density, components: 2}":     "{components: 2, beta: +5, type: density}",
	} {
		first, err := Parse("", []byte(one+"strategy: "+short))
		if err != nil {
			t.Fatal(err)
		}
		second, err := Parse("", []byte(one+"strategy: "+long))
		if err != nil || !second.ID().Equals(first.ID()) {
			t.Errorf("%s and %s: %v", short, long, err)
		}
	}
}

func TestCanonicalIsATaskFile(t *testing.T) {
	for _, text := range []string{
		one,
		one + "strategy: {type: ts}",
		one + "strategy: {type: fts, mode: one-shot, schedule: constant, own_probability: 1e-7}",
		one + "strategy: {type: ucb}",
		one + "strategy: {type: consensus}",
		one + "strategy: {type: consensus, mode: asynchronous}",
		one + "strategy: {type: consensus, weights: leader, response: noisy, response_noise: 1e100}",
		one + "strategy: {type: constrained-gp, threshold: open, confidence: 1e-7}",
		one + "strategy: {type: density, spread: 1e-3}",
		one + "strategy: {type: density, components: 16}",
	} {
		first, err := Parse("", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		second, err := Parse("", first.Canonical())
		if err != nil || !second.ID().Equals(first.ID()) {
			t.Errorf("%s: %v", first.Canonical(), err)
		}
	}
}

func TestDefaultLengthscale(t *testing.T) {
	for parameters, want := range map[int]string{1: "0.1", 2: "0.2", 4: "0.4", 7: "0.7", 25: "2.5", 26: "2.54951", 100: "5"} {
		if got := fmt.Sprint(lengthscaleFor(parameters)); got != want {
			t.Errorf("%d parameters: %s, want %s", parameters, got, want)
		}
	}
}
