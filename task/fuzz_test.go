package task_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

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
	f.Add([]byte(head + "  - {name: x, type: float, low: 0, high: 1}\n  - {name: c, type: categorical, choices: [p, q]}\n  - {name: y, type: int, low: 1, high: 5, when: {c: p, x: {low: 0.5}}}\n  - {name: z, type: bool, when: {y: [1, 2], c: [p, q]}}\n  - {name: k, value: 3}\n  - {name: one, type: categorical, choices: [o]}\n  - {name: same, type: float, low: 2, high: 2}\nparameter_constraints: [\"x * y <= 2 or c == 'q'\", 'max(x, y / k) < 1.5', \"c in ['p', 'q']\", 'z ? x > 0.6 : y % 2 ** 2 != 3', '1 < y < 4']\n"))
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
		checkDecoding(t, parsed.Space, data)
	})
}

// checkDecoding checks at points that depend on data that Decode returns valid designs. They are
// read from their JSON, and encoding keeps them.
func checkDecoding(t *testing.T, s *task.Space, data []byte) {
	rng := rand.New(rand.NewPCG(uint64(len(data)), 1))
	for k := range 8 {
		u := make([]float64, s.Dim())
		for i := range u {
			if u[i] = 0.3; k > 0 {
				u[i] = rng.Float64()
			}
		}
		d := s.Decode(u)
		if err := s.Check(d); err != nil {
			t.Fatal(err)
		}
		if back := s.Decode(s.Encode(d)); !back.Equal(d) {
			t.Fatalf("%v became %v", d, back)
		}
		text, err := d.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := s.UnmarshalDesign(text); err != nil || !back.Equal(d) {
			t.Fatalf("%s became %v: %v", text, back, err)
		}
	}
}

// FuzzParameterConstraint checks that an expression of any text is compiled and checked within
// a bounded time: ten milliseconds each, in the fastest of five attempts.
func FuzzParameterConstraint(f *testing.F) {
	for _, text := range []string{
		"x * y <= 2 or c == 'q'", "max(x, y / 3) < 1.5", "c in ['p', 'q']", "z ? x > 0.6 : y % 2 ** 2 != 3", "1 < y < 4", "not z", "x = 3", "((((((x))))))<1",
		"all(1..1000000000, # > x)", "x in 1..1000000000", "'a' + 'b' == c", "y ** y ** y ** y > 0", "let k = x; k > 0", "x | max(y) > 0", "x ?? y > 0", "c matches '(a+)+b'", "[[x]] == [[y]]",
	} {
		f.Add(text)
	}
	parameters := []task.Parameter{
		{Name: "x", Kind: task.Float, Low: 0, High: 1, Step: 0.25}, {Name: "y", Kind: task.Int, Low: 1, High: 9}, // few designs, so that an infeasible space is found fast
		{Name: "c", Kind: task.Categorical, Choices: []string{"p", "q"}}, {Name: "z", Kind: task.Bool, When: []task.Condition{task.Equals("c", task.ChoiceValue("p"))}},
	}
	const limit = 10 * time.Millisecond
	f.Fuzz(func(t *testing.T, text string) {
		compile, check := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
		for range 5 {
			begin := time.Now()
			_, err := task.NewSpace(parameters, text+" and (", text) // the first expression is wrong, so that only compiling is timed
			compile = min(compile, time.Since(begin))
			if err == nil {
				t.Fatalf("%q is accepted", text+" and (")
			}
		}
		if s, err := task.NewSpace(parameters, text); err == nil {
			u := make([]float64, s.Dim())
			for range 5 {
				begin := time.Now()
				s.Settle(u)
				check = min(check, time.Since(begin))
			}
			checkDecoding(t, s, []byte(text))
		} else {
			check = 0
		}
		if compile > limit || check > limit {
			t.Errorf("%q: compiled in %v and checked in %v, expected at most %v each", text, compile, check, limit)
		}
	})
}
