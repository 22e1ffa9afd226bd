package task_test

import (
	"errors"
	"testing"

	"github.com/fbo-node/fbo/task"
)

// Parse never panics, its errors have a place, and what it accepts has a
// canonical form that is the same task.
func FuzzParse(f *testing.F) {
	f.Add([]byte(one))
	f.Add([]byte(head + "- name: n\n  type: int\n  low: 1e0\n  high: 1_0\n- {name: c, type: categorical, choices: ['a', \"b\\n\"]}\n"))
	f.Add([]byte(fixedText))
	f.Add([]byte(one + "surrogate: {type: rff, features: 64}\nstrategy:\n  type: fts\n  mode: one-shot\n  schedule: constant\n  own_probability: 0.5\n"))
	f.Add([]byte(one + "strategy: {type: consensus, acquisition: ts, weights: leader, mode: rounds, rounds: 7, round_timeout: 5, response: noisy, response_noise: 0.5}\n"))
	f.Add([]byte(head + "  - {name: a, type: bool}\n  - {name: b, type: float, low: 0, high: 1, step: 0.3}\n  - {name: c, type: int, choices: [1, 2e0]}\n  - {name: d, type: categorical, choices: [.5, -1]}\n"))
	f.Add([]byte(one + "strategy: {type: consensus, mode: asynchronous, weights: metropolis}\n"))
	f.Add([]byte(one + "strategy: {type: constrained-gp, threshold: open, confidence: 1.5}\n"))
	f.Add([]byte(one + "strategy: {type: density, beta: 2, components: 1, spread: 0.1}\n"))
	f.Add([]byte(one + "strategy: {type: fts}\nprivacy: {mechanism: local, epsilon: 4, delta: 1e-6, clip: 8, releases: 20, adjacency: zero-out}\n"))
	f.Add([]byte(summing("", "", 2)))
	f.Add([]byte(summing("cells: 4, weights: schedule, schedule: constant, own_probability: 0.5, share: sample, share_every: 2", "committee: 3, max_colluding: 2, min_contributors: 4, ", 5)))
	f.Add([]byte(`{"fbo":1,"name":"a","goal":"maximize","parameters":[{"name":"x","type":"float","low":1e-3,"high":1,"scale":"log"}]}`))
	f.Add([]byte("name: |\n  a\n  b\n? [x]\n: &a *b\n<<: !t {}\n---\n...\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		parsed, err := parse("task.yaml", data)
		if err != nil {
			var all *task.ParseError
			if !errors.As(err, &all) || len(all.Errors) == 0 || len(all.Errors) > task.MaxErrors {
				t.Fatalf("error is %T: %v", err, err)
			}
			for _, one := range all.Errors {
				if one.Line < 1 || one.Column < 1 || one.Message == "" || one.Line > len(data)+2 || one.Column > len(data)+2 {
					t.Fatalf("error at %d:%d: %q", one.Line, one.Column, one.Message)
				}
			}
			return
		}
		again, err := parse("canonical", parsed.Canonical())
		if err != nil {
			t.Fatalf("%s: %v", parsed.Canonical(), err)
		}
		if !again.ID().Equals(parsed.ID()) {
			t.Fatalf("%s became %s", parsed.Canonical(), again.Canonical())
		}
		if p := parsed.Privacy; p != nil && p.Aggregate != nil {
			a := p.Aggregate
			if len(a.Roster) < a.MinContributors || a.MinContributors <= a.MaxColluding || a.MaxColluding >= a.Committee || a.Committee > len(a.Roster) || a.MaxColluding < 1 {
				t.Fatalf("%+v", a)
			}
		}
		u := make([]float64, parsed.Space.Dim())
		for i := range u {
			u[i] = 0.3
		}
		d := parsed.Space.Decode(u)
		if err := parsed.Space.Check(d); err != nil {
			t.Fatal(err)
		}
		if back := parsed.Space.Decode(parsed.Space.Encode(d)); !back.Equal(d) {
			t.Fatalf("%v became %v", d, back)
		}
	})
}
