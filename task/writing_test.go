package task_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/task"
)

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
	case bool:
		return strconv.FormatBool(v)
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

// drawSumming draws the sections strategy and privacy of a task of private sums.
func drawSumming(t *rapid.T) (strategy, privacy map[string]any) {
	nodes := rapid.IntRange(2, 5).Draw(t, "nodes")
	var roster []string
	for n := range nodes {
		roster = append(roster, nodeID(n).String())
	}
	committee := rapid.IntRange(2, nodes).Draw(t, "committee")
	colluding := rapid.IntRange(1, committee-1).Draw(t, "max_colluding")
	return map[string]any{
			"type": "fts-de", "cells": 1 << rapid.IntRange(0, 4).Draw(t, "cells"), "weights": "schedule", "share": "sample", "share_every": 7,
			"schedule": "constant", "own_probability": rapid.Float64Range(0, 1).Draw(t, "p"),
		}, map[string]any{
			"mechanism": "aggregate", "epsilon": rapid.Float64Range(0.01, 100).Draw(t, "epsilon"), "delta": rapid.Float64Range(1e-12, 0.1).Draw(t, "delta"),
			"clip": rapid.Float64Range(1e-3, 1e4).Draw(t, "clip"), "releases": rapid.IntRange(1, 1000).Draw(t, "releases"), "adjacency": "zero-out",
			"roster": roster, "committee": committee, "max_colluding": colluding,
			"min_contributors": rapid.IntRange(colluding+1, nodes).Draw(t, "min_contributors"),
		}
}

// drawStrategy draws the section strategy, and privacy where the strategy has it.
func drawStrategy(t *rapid.T) (strategy, privacy map[string]any) {
	number := func(name string, low, high float64) float64 { return rapid.Float64Range(low, high).Draw(t, name) }
	switch rapid.IntRange(0, 5).Draw(t, "strategy") {
	case 0:
		return map[string]any{"type": "consensus", "acquisition": "ucb", "weights": "leader", "rounds": 9, "round_timeout": 8, "response": "noisy", "response_noise": number("noise", 0, 1e100)}, nil
	case 1:
		return map[string]any{"type": "constrained-gp", "threshold": "open", "confidence": number("confidence", 0, 100)}, nil
	case 2:
		return map[string]any{"type": "density", "beta": number("beta", 0, 1000), "spread": number("spread", 0.001, 10)}, nil
	case 3:
		return drawSumming(t)
	case 4:
		return map[string]any{"type": "fts", "schedule": "constant", "own_probability": number("p", 0, 1), "share_every": 2}, nil
	}
	return map[string]any{"type": "ts"}, nil
}

// The roster is a set: in which order, and in which of the two notations, its
// nodes are written does not matter.
func TestIDIsIndependentOfTheRostersOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(2, 12).Draw(t, "nodes")
		text := summing("", "", nodes)
		want, err := parse("", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, id := range rapid.Permutation(want.Privacy.Aggregate.Roster).Draw(t, "order") {
			name := id.String()
			if rapid.Bool().Draw(t, "as CID") {
				name = peer.ToCid(id).String()
			}
			names = append(names, rapid.SampledFrom([]string{name, "'" + name + "'", strconv.Quote(name)}).Draw(t, "name"))
		}
		again := strings.Replace(text, rosterOf(nodes), "\n  ["+strings.Join(names, ",\n  ")+"]", 1)
		got, err := parse("", []byte(again))
		if err != nil {
			t.Fatalf("%v in\n%s", err, again)
		}
		if !got.ID().Equals(want.ID()) {
			t.Fatalf("%s\nbecame %s\nby\n%s", want.Canonical(), got.Canonical(), again)
		}
	})
}

func TestIDIsIndependentOfWriting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := &task.Task{
			Name:      rapid.StringMatching(`[a-zA-Zé:#'"\\{}-][a-z :#'"\\,-]{0,20}[a-z'"\\}]`).Draw(t, "name"),
			Goal:      rapid.SampledFrom([]task.Goal{task.Minimize, task.Maximize}).Draw(t, "goal"),
			Space:     task.DrawSpace(t),
			Surrogate: task.Surrogate{Type: "exact", Kernel: "se", Features: 2 * rapid.IntRange(1, 2048).Draw(t, "features"), Basis: rapid.SampledFrom([]string{"quasi", "orthogonal", "plain", "random-phase"}).Draw(t, "basis"), Lengthscale: rapid.Float64Range(0.001, 1000).Draw(t, "lengthscale"), CategoryLengthscale: 1},
			Strategy:  task.Strategy{Type: "ts", InitialDesigns: 3},
		}
		strategy, privacy := drawStrategy(t)
		if privacy != nil {
			drawn.Surrogate.Features = 2 * rapid.IntRange(1, 900).Draw(t, "fewer features")
		}
		if privacy == nil && rapid.Bool().Draw(t, "shared hyperparameters") {
			drawn.Surrogate.Extension = task.SurrogateExtension{Key: "hyperparameters", Word: "shared"}
		}
		form := formOf(t, drawn)
		form["strategy"] = strategy
		if privacy != nil {
			form["privacy"] = privacy
		}
		file, err := json.Marshal(form)
		if err != nil {
			t.Fatal(err)
		}
		definition, err := parse("", file)
		if err != nil {
			t.Fatalf("%v in\n%s", err, file)
		}
		form = formOf(t, definition)
		if rapid.Bool().Draw(t, "no version") {
			delete(form, "fbo")
		}
		text := writer{t}.file(form)
		again, err := parse("", []byte(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if !again.ID().Equals(definition.ID()) {
			t.Fatalf("%s\nbecame %s\nby\n%s", definition.Canonical(), again.Canonical(), text)
		}
	})
}

// formOf decodes the canonical form of a task, with numbers as they are written.
func formOf(t *rapid.T, of *task.Task) (form map[string]any) {
	decoder := json.NewDecoder(bytes.NewReader(of.Canonical()))
	decoder.UseNumber()
	if err := decoder.Decode(&form); err != nil {
		t.Fatal(err)
	}
	return form
}
