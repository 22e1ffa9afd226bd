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
	"github.com/fbo-node/fbo/task"
)

// The test program is its own worker, as the command is.
func TestMain(m *testing.M) {
	if os.Getenv(workerVariable) != "" {
		exit(work(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

func configOf(t *testing.T, arguments ...string) config {
	t.Helper()
	var stderr strings.Builder
	c, err := parseFlags(arguments, &stderr)
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return c
}

// Each method runs on each kind of parameter, and a seed repeats a run where the
// method lets it.
func TestMethodsRunAndRepeat(t *testing.T) {
	for _, method := range []string{"random", "quasi", "goptuna-tpe", "goptuna-cmaes", "ts-exact", "ts-rff+features=16+kernel=se"} {
		for _, function := range []string{"branin", "mixed", "hartmann6-noisy"} {
			j := job{Function: function, Method: method, Seed: 3, Evals: 13}
			first, err := j.do(nil)
			if err != nil {
				t.Error(err)
				continue
			}
			second, err := j.do(nil)
			if err != nil {
				t.Error(err)
				continue
			}
			unseeded := method == "goptuna-tpe" || method == "goptuna-cmaes" && function == "mixed"
			if !unseeded && !reflect.DeepEqual(first.Regret, second.Regret) {
				t.Errorf("%+v: regrets %v and then %v", j, first.Regret, second.Regret)
			}
			for i, regret := range first.Regret {
				if !(regret >= 0) || math.IsInf(regret, 0) {
					t.Errorf("%+v: regret %g after %d", j, regret, i+1)
				}
				if i > 0 && regret > first.Regret[i-1] && function != "hartmann6-noisy" {
					t.Errorf("%+v: regret grows without noise: %v", j, first.Regret)
				}
			}
		}
	}
}

// Methods meet the same function and noise with a seed, and others with another.
func TestRunsArePaired(t *testing.T) {
	p, err := problemNamed("hartmann6-noisy")
	if err != nil {
		t.Fatal(err)
	}
	u := []float64{0.3, 0.3, 0.3, 0.3, 0.3, 0.3}
	value := func(seed uint64) float64 {
		o := newObserver(p, random.SeedOf(seed))
		return o.observe(o.quiet.Space.Decode(u))
	}
	if value(1) != value(1) || value(1) == value(2) {
		t.Errorf("values %g, %g with seed 1, %g with seed 2", value(1), value(1), value(2))
	}
}

// Under noise the regret is that of the design which looked best, not of the best.
func TestRegretIsOfTheObservedIncumbent(t *testing.T) {
	p, err := problemNamed("branin")
	if err != nil {
		t.Fatal(err)
	}
	o := newObserver(p, random.SeedOf(1))
	noise := map[string]float64{}
	quiet := o.quiet
	o.noisy = quiet
	good, err := quiet.Design(quiet.Minimizers[0])
	if err != nil {
		t.Fatal(err)
	}
	bad := quiet.Space.Decode([]float64{0.9, 0.9})
	worst := quiet.Space.Decode([]float64{0, 0})
	noise[good.Key()], noise[bad.Key()] = 1000, -1000
	o.noisy.Value = func(x []float64) float64 {
		design, err := quiet.Design(x)
		if err != nil {
			t.Fatal(err)
		}
		return quiet.Value(x) + noise[design.Key()]
	}
	lucky := quiet.At(bad) - quiet.Optimum
	for i, step := range []struct {
		design task.Design
		regret float64
	}{
		{good, 0}, {worst, quiet.At(worst) - quiet.Optimum}, {bad, lucky}, {worst, lucky}, {good, lucky},
	} {
		o.observe(step.design)
		if got := o.regret[i]; math.Abs(got-step.regret) > 1e-9 {
			t.Errorf("regret after %d: %g, want %g", i+1, got, step.regret)
		}
	}
}

// The command runs, resumes without repeating anything, and prints its table.
func TestCommandResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	short := []string{"--functions", "branin,mixed", "--methods", "random,ts-rff", "--evals", "6", "--workers", "2", "--against", "random", "--out", path}
	carryOut := func(arguments ...string) (table string, lines int) {
		t.Helper()
		var out strings.Builder
		if err := configOf(t, arguments...).carryOut(&out, io.Discard); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return out.String(), bytes.Count(data, []byte("\n"))
	}
	if _, lines := carryOut(append(short, "--seeds", "1")...); lines != 4 {
		t.Fatalf("%d lines after 4 runs", lines)
	}
	// A stop in the middle of a line loses that run and no other.
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-20], 0o644); err != nil {
		t.Fatal(err)
	}
	table, lines := carryOut(append(short, "--seeds", "2")...)
	if lines != 8 {
		t.Errorf("%d lines, want 8: the 3 kept, the one lost, 4 new", lines)
	}
	for _, want := range []string{"branin (2 seeds)", "mixed (2 seeds)", "n = 6", "ts-rff", "mean rank of 2", "ratio to that of random, geometric mean over 2 functions", "core-minutes"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is missing in\n%s", want, table)
		}
	}
	if _, lines := carryOut(append(short, "--seeds", "2")...); lines != 8 {
		t.Errorf("%d lines after a repetition, want 8", lines)
	}
	table, lines = carryOut(append(short, "--seeds", "5", "--core-minutes", "1e-9")...)
	if lines >= 20 || !strings.Contains(table, "runs are missing") {
		t.Errorf("%d lines in spite of the limit on cost, and the table\n%s", lines, table)
	}
}

func TestWrongFileIsRefusedAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	for _, content := range []string{"not JSON\n", `{"function":"branin","method":"random","seed":1,"evals":3,"regret":[1]}` + "\n"} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := openResults(path); err == nil || !strings.Contains(err.Error(), "results.jsonl:1:") {
			t.Errorf("%q: error %v", content, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != content {
			t.Errorf("%q became %q, %v", content, data, err)
		}
	}
}

func TestCommandRefusesWrongArguments(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"--functions", "branin,nothing"}, `function "nothing" is not known; accepted: [branin`},
		{[]string{"--methods", "guess"}, `method "guess" is not known; expected random, quasi`},
		{[]string{"--methods", "ts-exact+features"}, `setting "features" must be KEY=VALUE`},
		{[]string{"--seeds", "0"}, "--seeds 0"},
		{[]string{"--evals", "0"}, "--evals 0"},
		{[]string{"--methods", "random,ts-exact", "--against", "quasi"}, "--against quasi: expected one of --methods"},
		{[]string{"--methods", "random,botorch", "--python", ""}, "botorch, optuna-gp and turbo need a Python with BoTorch and Optuna, by --python or FBO_PYTHON, after pip install -r solo/requirements.txt: no Python is named"},
		{[]string{"--methods", "optuna-gp", "--python", "no-such-python"}, "pip install -r solo/requirements.txt: no-such-python: "},
		{[]string{"--workers", "0"}, "--workers 0"},
		{[]string{"--core-minutes", "0"}, "--core-minutes 0"},
		{[]string{"branin"}, "only flags"},
	} {
		var stderr strings.Builder
		if _, err := parseFlags(test.arguments, &stderr); err == nil || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%v: %q, want %q", test.arguments, stderr.String(), test.want)
		}
	}
	// A table of what is there needs no Python.
	var stderr strings.Builder
	if _, err := parseFlags([]string{"--methods", "random,botorch", "--python", "", "--table"}, &stderr); err != nil {
		t.Errorf("with --table: %v", err)
	}
	// What the task file does not know shows in its own words, through a worker.
	path := filepath.Join(t.TempDir(), "results.jsonl")
	for method, want := range map[string]string{
		"nothing-exact":        "strategy: type must be one of",
		"ts-nothing":           "surrogate: type must be one of",
		"ts-exact+features=17": "features 17 must be even",
		"ts-exact+colour=red":  "unknown key",
	} {
		c := configOf(t, "--methods", method, "--functions", "branin", "--seeds", "1", "--evals", "1", "--out", path)
		if err := c.carryOut(io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", method, err, want)
		}
	}
}

func TestRanks(t *testing.T) {
	r := newRanking(config{methods: []string{"a", "b", "c"}, evals: 1})
	row := func(regrets ...float64) (rows []result) {
		for _, regret := range regrets {
			rows = append(rows, result{Regret: []float64{regret}})
		}
		return rows
	}
	r.add([][]result{row(1, 5), row(2, 5), row(3, 0)})
	if want := [][]float64{{1 + 2.5}, {2 + 2.5}, {3 + 1}}; !reflect.DeepEqual(r.sums, want) {
		t.Errorf("sums of ranks %v, want %v", r.sums, want)
	}
}

// TestMaxObservationsIsNoKeyOfTheTask covers the setting that the task file does not have.
func TestMaxObservationsIsNoKeyOfTheTask(t *testing.T) {
	maxObservations, others, err := maxObservationsOf(map[string]string{"max_observations": "50", "features": "512"})
	if err != nil || maxObservations != 50 || len(others) != 1 || others["features"] != "512" {
		t.Errorf("%d, %v, %v", maxObservations, others, err)
	}
	for _, text := range []string{"0", "many"} {
		if _, _, err := maxObservationsOf(map[string]string{"max_observations": text}); err == nil {
			t.Errorf("max_observations=%s is accepted", text)
		}
	}
}
