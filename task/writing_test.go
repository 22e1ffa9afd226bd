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

	"github.com/fbo-node/fbo/consensus"
	"github.com/fbo-node/fbo/consensus/constrainedgp"
	"github.com/fbo-node/fbo/consensus/density"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
	"github.com/fbo-node/fbo/tsampling"
	"github.com/fbo-node/fbo/tsampling/ftsde"
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

func drawSumming(t *rapid.T) (task.Strategy, *task.Privacy) {
	a := &task.Aggregate{}
	for n := range rapid.IntRange(2, 5).Draw(t, "nodes") {
		a.Roster = append(a.Roster, nodeID(n))
	}
	slices.Sort(a.Roster)
	a.Committee = rapid.IntRange(2, len(a.Roster)).Draw(t, "committee")
	a.MaxColluding = rapid.IntRange(1, a.Committee-1).Draw(t, "max_colluding")
	a.MinContributors = rapid.IntRange(a.MaxColluding+1, len(a.Roster)).Draw(t, "min_contributors")
	return task.Strategy{Type: "fts-de", InitialDesigns: 3, Settings: ftsde.Settings{
			Cells: 1 << rapid.IntRange(0, 4).Draw(t, "cells"), Weights: "schedule", Choice: strategy.Choice{Share: "sample", ShareEvery: 7},
			Schedule: tsampling.Schedule{Name: "constant", OwnProbability: rapid.Float64Range(0, 1).Draw(t, "p")}}},
		&task.Privacy{Mechanism: "aggregate", Epsilon: rapid.Float64Range(0.01, 100).Draw(t, "epsilon"), Delta: rapid.Float64Range(1e-12, 0.1).Draw(t, "delta"),
			Clip: rapid.Float64Range(1e-3, 1e4).Draw(t, "clip"), Releases: rapid.IntRange(1, 1000).Draw(t, "releases"), Adjacency: "zero-out", Aggregate: a}
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
		definition := &task.Task{
			Name:      rapid.StringMatching(`[a-zA-Zé:#'"\\{}-][a-z :#'"\\,-]{0,20}[a-z'"\\}]`).Draw(t, "name"),
			Goal:      rapid.SampledFrom([]task.Goal{task.Minimize, task.Maximize}).Draw(t, "goal"),
			Space:     task.DrawSpace(t),
			Surrogate: task.Surrogate{Type: "exact", Kernel: "se", Features: 2 * rapid.IntRange(1, 2048).Draw(t, "features"), Basis: rapid.SampledFrom([]string{"quasi", "orthogonal", "plain", "random-phase"}).Draw(t, "basis"), Lengthscale: rapid.Float64Range(0.001, 1000).Draw(t, "lengthscale"), CategoryLengthscale: 1},
			Strategy:  task.Strategy{Type: "ts", InitialDesigns: 3},
		}
		if rapid.Bool().Draw(t, "fts") {
			definition.Strategy.Type = "fts"
			definition.Strategy.Settings = tsampling.Settings{Mode: "concurrent", Schedule: tsampling.Schedule{Name: "constant", OwnProbability: rapid.Float64Range(0, 1).Draw(t, "p")}, ShareEvery: 2}
		}
		switch rapid.IntRange(0, 5).Draw(t, "shared designs or sums") {
		case 0:
			definition.Strategy = task.Strategy{Type: "consensus", InitialDesigns: 3, Settings: consensus.Settings{Acquisition: "ucb", Weights: "leader", Mode: "rounds", Rounds: 9, RoundTimeout: 8, Response: "noisy", ResponseNoise: rapid.Float64Range(0, 1e100).Draw(t, "noise")}}
		case 1:
			definition.Strategy = task.Strategy{Type: "constrained-gp", InitialDesigns: 3, Settings: constrainedgp.Settings{Choice: best(constrainedgp.Designs{Threshold: "open", Confidence: rapid.Float64Range(0, 100).Draw(t, "confidence")})}}
		case 2:
			definition.Strategy = task.Strategy{Type: "density", InitialDesigns: 3, Settings: density.Settings{Beta: rapid.Float64Range(0, 1000).Draw(t, "beta"), Choice: best(density.Shape{Components: 1, Spread: rapid.Float64Range(0.001, 10).Draw(t, "spread")})}}
		case 3:
			definition.Strategy, definition.Privacy = drawSumming(t)
			definition.Surrogate.Features = 2 * rapid.IntRange(1, 900).Draw(t, "fewer features")
		}
		definition.Surrogate.SharedHyperparameters = definition.Privacy == nil && rapid.Bool().Draw(t, "shared hyperparameters")
		decoder := json.NewDecoder(bytes.NewReader(definition.Canonical()))
		decoder.UseNumber()
		var form map[string]any
		if err := decoder.Decode(&form); err != nil {
			t.Fatal(err)
		}
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
