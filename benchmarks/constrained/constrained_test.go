package main

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
)

func configOf(t *testing.T, arguments ...string) config {
	t.Helper()
	var stderr strings.Builder
	c, err := parseFlags(arguments, &stderr)
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return c
}

// A seed repeats a run, and methods share their starting designs and nothing more.
func TestRunsRepeatAndArePaired(t *testing.T) {
	var first []result
	for _, method := range []string{"random", "logei", "ts", "density"} {
		j := job{Family: "limits:noise=0", Method: method, Draw: 2, Evals: 9}
		a, err := j.do(nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := j.do(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a.Regret, b.Regret) || len(a.Regret) != 9 {
			t.Errorf("%s: regrets %v and then %v", method, a.Regret, b.Regret)
		}
		first = append(first, a)
	}
	for _, r := range first[1:] {
		if !reflect.DeepEqual(r.Regret[:3], first[0].Regret[:3]) || r.Range != first[0].Range {
			t.Errorf("%s starts with %v, and random with %v", r.Method, r.Regret[:3], first[0].Regret[:3])
		}
	}
	if reflect.DeepEqual(first[0].Regret, first[1].Regret) {
		t.Error("logei is random search")
	}
}

// The regret is of the best feasible design, and nothing while there is none.
func TestRegretIsOfTheBestFeasibleDesign(t *testing.T) {
	p, err := job{Family: "limits:noise=0,c=2", Draw: 2}.problem()
	if err != nil {
		t.Fatal(err)
	}
	rng, best := random.SeedOf(1).Stream("designs", 0), math.Inf(1)
	for i := range 200 {
		d := p.Space.Decode([]float64{rng.Float64(), rng.Float64()})
		o := p.observe(d)
		feasible := true
		for k, c := range p.Constraints {
			feasible = feasible && c.Keeps(p.member.Constraints[k].Value(d))
		}
		if feasible {
			best = min(best, p.member.Objective.Optimum-o.Value)
		}
		got := p.result.Regret[i]
		if (got == nil) != math.IsInf(best, 1) || got != nil && *got != best {
			t.Fatalf("after %d: regret %v, want %g", i+1, got, best)
		}
	}
	if !(best >= 0 && best < p.result.Range) || p.result.Regret[0] != nil {
		t.Errorf("the best has regret %g of a range of %g; the first %v", best, p.result.Range, p.result.Regret[0])
	}
}

// fakePython answers as BoTorch would, with the middle of the space.
const fakePython = `#!/bin/sh
echo '{"versions": {"botorch": "fake"}}'
while read -r line; do
  case $line in
    *'"seed":2005}'*) echo '{"error": "ModelFittingError: no"}' ;;
    *) echo '{"x": [0.5, 0.5], "seconds": 2}' ;;
  esac
done
`

// The command asks a Python process, resumes without repeating anything, and prints its
// table without one; an error of the process ends the command.
func TestCommandResumes(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("needs /bin/sh, for a process in place of Python")
	}
	dir := t.TempDir()
	python, path := filepath.Join(dir, "python"), filepath.Join(dir, "results.jsonl")
	if err := os.WriteFile(python, []byte(fakePython), 0o755); err != nil {
		t.Fatal(err)
	}
	short := []string{"--families", "limits:noise=0", "--evals", "5", "--out", path, "--python", python}
	carryOut := func(arguments ...string) (table string, lines int, err error) {
		t.Helper()
		var out strings.Builder
		err = configOf(t, arguments...).carryOut(&out, io.Discard)
		data, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatal(readErr)
		}
		return out.String(), bytes.Count(data, []byte("\n")), err
	}
	if _, lines, err := carryOut(append(short, "--draws", "1")...); err != nil || lines != 3 {
		t.Fatalf("%d lines after 3 runs, %v", lines, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-20], 0o644); err != nil {
		t.Fatal(err)
	}
	table, lines, err := carryOut(append(short, "--draws", "1")...)
	if err != nil || lines != 3 || !strings.Contains(table, "limits:noise=0 (1 draws)") || !strings.Contains(table, "botorch fake") {
		t.Errorf("%d lines, %v, and the table\n%s", lines, err, table)
	}
	if again, _, err := carryOut("--table", "--families", "limits:noise=0", "--draws", "1", "--out", path, "--python", "nonesuch"); err != nil || strings.SplitAfterN(again, "\n", 4)[3] != strings.SplitAfterN(table, "\n", 4)[3] {
		t.Errorf("with --table: %v\n%s", err, again)
	}
	// In draw 2 the sixth request fails: what was finished before is kept.
	longer := []string{"--families", "limits:noise=0", "--evals", "8", "--out", path, "--python", python, "--first-draw", "2", "--draws", "1"}
	if _, lines, err := carryOut(longer...); err == nil || !strings.Contains(err.Error(), "botorch on limits:noise=0, draw 2: BoTorch: ModelFittingError: no") || lines != 5 {
		t.Errorf("%d lines, error %v", lines, err)
	}
	if _, _, err := carryOut(append(short, "--draws", "2", "--python", filepath.Join(dir, "nonesuch"))...); err == nil || !strings.Contains(err.Error(), "--python names a Python that has it") {
		t.Errorf("without Python: %v", err)
	}
}

func TestCommandRefusesWrongArguments(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"--families", "gp"}, `family "gp" has no constraints`},
		{[]string{"--families", "nothing"}, `unknown name "nothing"`},
		{[]string{"--methods", "fts"}, `method "fts" is not known or takes no constraints`},
		{[]string{"--draws", "0"}, "--draws 0"},
		{[]string{"--evals", "0"}, "--evals 0"},
		{[]string{"--floor", "0"}, "--floor 0"},
		{[]string{"--control", "ts"}, "--control ts: expected one of --methods"},
		{[]string{"limits"}, "only flags"},
	} {
		var stderr strings.Builder
		if _, err := parseFlags(test.arguments, &stderr); err == nil || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%v: %q, want %q", test.arguments, stderr.String(), test.want)
		}
	}
	for spec, want := range map[string]string{"limits": "has noise", "limits:noise=0,feasible=0": "nothing is feasible"} {
		if _, err := (job{Family: spec, Method: "random", Draw: 1, Evals: 1}).do(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", spec, err, want)
		}
	}
}

// Logarithms of ratios 1/4 and 1: mean -log 2, standard error log 2, and Student's
// quantile for one degree of freedom at 95 % is 6.313752.
func TestRatioByHand(t *testing.T) {
	if got, want := ratioOf([]float64{1, 1e-9}, []float64{4, 1e-8}, 1e-6), "0.5 [0.00629, 39.8]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	half := 0.5
	regrets, nothing := after([]result{{Range: 3, Regret: []*float64{nil, &half}}, {Range: 2, Regret: []*float64{nil, nil}}}, 2)
	if !reflect.DeepEqual(regrets, []float64{0.5, 2}) || nothing != 0.5 {
		t.Errorf("regrets %v, %g with nothing", regrets, nothing)
	}
}
