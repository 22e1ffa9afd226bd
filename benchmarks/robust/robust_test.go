package main

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/benchmarks/internal/python"
	"github.com/fbo-node/fbo/benchmarks/internal/uniform"
	"github.com/fbo-node/fbo/internal/random"
)

func tableOf(t *testing.T, arguments ...string) string {
	t.Helper()
	var stderr, stdout strings.Builder
	c, err := parseFlags(arguments, &stderr)
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if err := c.carryOut(&stdout, io.Discard); err != nil {
		t.Fatal(err)
	}
	return stdout.String()
}

// The file of results has a line per run, the same command repeats none, and a row brings
// the row that it is compared with.
func TestTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	short := []string{"--rows", `^huge/second-is-1e\+300$`, "--methods", "random,tpe", "--python", "", "--seeds", "3", "--json", path}
	table := tableOf(t, short...)
	for _, want := range []string{"huge/none", "huge/second-is-1e+300", "|Δ log10 regret|", "0 [0, 0]", "not run"} {
		if !strings.Contains(table, want) {
			t.Errorf("%q is missing in\n%s", want, table)
		}
	}
	if again := tableOf(t, short...); again != table {
		t.Errorf("a repetition prints\n%s\nand not\n%s", again, table)
	}
	data, err := os.ReadFile(path)
	if lines := strings.Count(string(data), "\n"); err != nil || lines != 6 {
		t.Errorf("%d lines, %v; expected 6", lines, err)
	}
}

// The agent and a node run on a row that fails, and count what they evaluate.
func TestAgentAndNode(t *testing.T) {
	r, err := job{Row: "failure/memory", Method: fboName, Seed: 1}.do(nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Evals != 30 || r.Failed < 1 || r.Failed > 29 || r.Regret == nil {
		t.Errorf("%+v", r)
	}
	if n := r.Node; n == nil || n.GaveUp == "" && n.Outcomes != 10 || n.Attempts < n.Outcomes {
		t.Errorf("the node's run: %+v", r.Node)
	}
}

func TestOptuna(t *testing.T) {
	path := os.Getenv(pythonVariable)
	for _, method := range []string{tpeName, gpName} {
		t.Run(method, func(t *testing.T) {
			if err := checkOptuna(path, method); err != nil {
				t.Skip(err)
			}
			shared := &python.Shared{Path: path, Script: script}
			defer shared.Stop()
			for _, name := range []string{"failure/choice", "flat/accuracy"} {
				j := job{Row: name, Method: method, Seed: 1}
				first, err := j.do(shared)
				if err != nil {
					t.Fatal(err)
				}
				second, err := j.do(shared)
				if err != nil || *first.Regret != *second.Regret || first.Failed != second.Failed {
					t.Errorf("%s: %+v and then %+v, %v", name, first, second, err)
				}
			}
		})
	}
}

// Each objective is 0 at a known design, which does not fail, and nowhere less.
func TestOptima(t *testing.T) {
	known := map[string][]float64{
		"flat/bump2-r.25": {0.5, 0.5}, "flat/bump2-r.15": {0.5, 0.5}, "flat/bump3-r.35": {0.5, 0.5, 0.5},
		"flat/bump2-r.25-aside": {0.3, 0.65}, "flat/bump2-r.15-aside": {0.7, 0.35}, "flat/bump3-r.35-aside": {0.3, 0.6, 0.35},
		"flat/bump2-of-1e15": {0.35, 0.6}, "flat/accuracy": {2e-4, 0.8, 4}, "flat/steps": {0.65, 0.7},
		"failure/half-plane": {0.4, 0.3}, "failure/edge": {0.1, 0.3}, "failure/memory": {8, 1024, 3e-3}, "failure/choice": {1, 0.3, 0.7},
		"failure/corner": {0.8, 0.7}, "failure/half-line": {0.4}, "failure/half-space6": {0.4, 0.3, 0.7, 0.6, 0.2, 0.8},
		"penalty/10": {0.8, 0.3}, "penalty/100": {0.8, 0.3}, "penalty/10000": {0.8, 0.3}, "objective/cliff": {0.8, 0.3},
		"valley/rosenbrock2": {1, 1}, "objective/rosenbrock2": {1, 1}, "objective/rosenbrock5": {1, 1, 1, 1, 1},
		"objective/needle": {0.63, 0.37}, "objective/steps3": {3.5 / 12, 8.5 / 12, 5.5 / 12},
		"objective/sphere20": spread(20), "objective/fifty-of-which-5-count": append(spread(5), make([]float64, 45)...),
		"objective/choices30": {0.3, 0.7, 16}, "objective/corner5": make([]float64, 5), "objective/centre5": {0.5, 0.5, 0.5, 0.5, 0.5},
		"objective/rastrigin2": {1.3, -0.8}, "objective/periodic1": {0.37}, "objective/ten-decades": {0.3, 0.6, 0.45}, "objective/log-ints": {1, 1},
		"objective/ties4": {0.3, 0.7, 0.4, 0.6}, "objective/kink4": {0.3, 0.7, 0.4, 0.6}, "objective/log2": {1e-3, 1e-7},
		"objective/hartmann6": {0.20168951100670543, 0.15001069182345797, 0.476873974221897, 0.27533243051642, 0.3116516166017299, 0.6573005340667601},
		"objective/ackley10":  make([]float64, 10),
	}
	objectives, gps, names := 0, 0, map[string]bool{}
	for _, r := range rows() {
		if names[r.name] {
			t.Errorf("%s occurs twice", r.name)
		}
		names[r.name] = true
		if strings.HasPrefix(r.name, objective+"/") {
			objectives++
			if r.gp {
				gps++
			}
		}
		at, ok := known[r.name]
		switch {
		case ok:
		case strings.Contains(r.name, "branin"):
			at = []float64{math.Pi, 2.275}
		default:
			at = []float64{0.3, 0.7} // of the quadratic
		}
		rng := random.SeedOf(1).Stream("optima", 0)
		if value := r.value(at); math.Abs(value) > 1e-5 {
			t.Errorf("%s is %g at %v, expected 0", r.name, value, at)
		}
		if r.fails != nil && !strings.Contains(r.name, "machines") && r.fails(at, rng) {
			t.Errorf("%s fails at its optimum %v", r.name, at)
		}
		for range 1000 {
			x := r.coordinates(uniform.Design(r.space, rng))
			if r.fails != nil && r.fails(x, rng) {
				continue
			}
			if value := r.value(x); !(value >= -1e-12) || math.IsInf(value, 0) {
				t.Errorf("%s is %g at %v, expected at least 0", r.name, value, x)
			}
		}
	}
	if objectives != 26 || gps != 12 {
		t.Errorf("%d objectives, %d of them for gp; expected 26 and 12", objectives, gps)
	}
}

func TestTargets(t *testing.T) {
	by := map[string][]float64{fboName: {1, 2, 3, 9, 9}, randomName: {2, 3, 4}, tpeName: {1, 2, 4, 5, 6}}
	for name, c := range map[string]struct {
		target func(map[string][]float64) (met, known bool)
		met    bool
	}{
		"three of five not later":  {notLater, false},
		"median within":            {within(3, 9), true},
		"median beyond":            {within(2.9, 9), false},
		"largest beyond":           {within(3, 8.9), false},
		"not above the median":     {notAbove(tpeName, 0.5, 1), true},
		"above the lower quartile": {notAbove(tpeName, 0.25, 1), false},
		"not above twice":          {notAbove(tpeName, 0.25, 2), true},
	} {
		if met, known := c.target(by); !known || met != c.met {
			t.Errorf("%s: met %v, known %v", name, met, known)
		}
	}
	if _, known := notAbove(gpName, 0.5, 1)(by); known {
		t.Error("a target in ratio to a method that has not run is known")
	}
}

func TestCommandRefusesWrongArguments(t *testing.T) {
	for _, c := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"--rows", "("}, "--rows: "},
		{[]string{"--rows", "nothing"}, "no row has such a name"},
		{[]string{"--methods", "guess"}, `"guess" is not known; expected some of fbo, random, tpe, gp`},
		{[]string{"--seeds", "0"}, "--seeds 0: expected 1 to"},
		{[]string{"--parallel", "0"}, "--parallel 0: expected 1 or more"},
		{[]string{"flat"}, "expected flags only"},
	} {
		var stderr strings.Builder
		if _, err := parseFlags(c.arguments, &stderr); err == nil || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%v: %q, want %q", c.arguments, stderr.String(), c.want)
		}
	}
}
