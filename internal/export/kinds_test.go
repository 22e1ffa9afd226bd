package export_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/export"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// anyTask has a parameter of every kind several times over, with random ranges, and
// trials at random designs and at the ends of all ranges.
func anyTask(t *testing.T, seed uint64) (*task.Task, []strategy.Trial) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	size := func(least, most int) float64 { return (1 + 9*rng.Float64()) * math.Pow10(least+rng.IntN(most-least+1)) }
	signed := func(v float64) float64 { return v * float64(1-2*rng.IntN(2)) }
	makers := []func() task.Parameter{
		func() task.Parameter {
			low := signed(size(-8, 8))
			return task.Parameter{Kind: task.Float, Low: low, High: low + math.Abs(low)*size(0, 3)}
		},
		func() task.Parameter {
			low := size(-200, 200)
			return task.Parameter{Kind: task.Float, Low: low, High: low * size(1, 50), Scale: task.Log}
		},
		func() task.Parameter { // steps that decimals have
			step := float64(1 + rng.IntN(50))
			return task.Parameter{Kind: task.Float, Low: signed(step) / 100, High: step/100 + 20, Step: step / 100}
		},
		func() task.Parameter { // so many that floats lose count
			return task.Parameter{Kind: task.Float, Low: 0.1, High: 300000000.1 * math.Pow10(rng.IntN(3)), Step: 0.3}
		},
		func() task.Parameter { // steps of as many digits as there are, and many of them
			step := size(-6, 6)
			low := signed(step * size(0, 4))
			return task.Parameter{Kind: task.Float, Low: low, High: low + step*size(0, 9), Step: step}
		},
		func() task.Parameter {
			return task.Parameter{Kind: task.Float, Numbers: []float64{-size(-9, 9), 0, size(-9, 9)}}
		},
		func() task.Parameter {
			low := math.Round(signed(size(0, 14)))
			return task.Parameter{Kind: task.Int, Low: low, High: low + math.Round(size(0, 11))}
		},
		func() task.Parameter {
			low := math.Round(size(0, 5))
			return task.Parameter{Kind: task.Int, Low: low, High: low + math.Round(size(0, 11)), Scale: task.Log}
		},
		func() task.Parameter {
			step := math.Round(size(0, 3))
			return task.Parameter{Kind: task.Int, Low: -step, High: math.Round(step * size(1, 5)), Step: step}
		},
		func() task.Parameter { return task.Parameter{Kind: task.Int, Numbers: []float64{-7, 0, 1 << 53}} },
		func() task.Parameter {
			return task.Parameter{Kind: task.Categorical, Choices: []string{"true", "1", "a, \"b\"", "ä€\U0001f600", `\n`, "null"}}
		},
		func() task.Parameter { return task.Parameter{Kind: task.Categorical, Numbers: []float64{3, -1, 0, 1}} },
		func() task.Parameter {
			return task.Parameter{Kind: task.Categorical, Numbers: []float64{signed(size(-300, 299)), 1, 0.5}}
		},
		func() task.Parameter { return task.Parameter{Kind: task.Bool} },
	}
	spec := task.Spec{Name: fmt.Sprintf("any %d", seed), Goal: []task.Goal{task.Minimize, task.Maximize}[rng.IntN(2)]}
	for len(spec.Parameters) < 70 {
		p := makers[len(spec.Parameters)%len(makers)]()
		p.Name = fmt.Sprintf("p%d", len(spec.Parameters))
		spec.Parameters = append(spec.Parameters, p)
	}
	of, err := all.Strategies().NewTask(spec)
	if err != nil {
		t.Fatal(err)
	}
	var trials []strategy.Trial
	for i := range 12 {
		u := acquisition.Sample(of.Space, rng)
		for j := range u {
			switch i {
			case 0:
				u[j] = 0
			case 1:
				u[j] = 1
			}
		}
		begin := time.Unix(1.7e9+int64(i)*60, 0)
		trials = append(trials, strategy.Trial{
			ID: uint64(i + 1), Design: of.Space.Decode(u), State: strategy.Done, Why: strategy.Why{Source: strategy.Own},
			Started: begin, Finished: begin.Add(time.Second), Outcome: &strategy.Outcome{Value: signed(size(-9, 9))},
		})
	}
	return of, trials
}

// journalOf is what a reader of Optuna's format finds, which knows only that format.
func journalOf(t *testing.T, of *task.Task, trials []strategy.Trial) (text []byte, params []map[string]any) {
	t.Helper()
	var out bytes.Buffer
	if err := export.OptunaJournal(&out, of, trials); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		var record struct {
			Op            int `json:"op_code"`
			Distributions map[string]string
			Params        map[string]float64
		}
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatal(err)
		}
		if record.Op != 4 {
			continue
		}
		values := map[string]any{}
		for name, internal := range record.Params {
			values[name] = externalValue(t, name, record.Distributions[name], internal)
		}
		params = append(params, values)
	}
	return out.Bytes(), params
}

func externalValue(t *testing.T, name, distribution string, internal float64) any {
	t.Helper()
	var d struct {
		Name       string
		Attributes struct {
			Low, High, Step float64
			Choices         []any
		}
	}
	if err := json.Unmarshal([]byte(distribution), &d); err != nil {
		t.Fatal(err)
	}
	a := d.Attributes
	if d.Name == "CategoricalDistribution" {
		return a.Choices[int(internal)]
	}
	steps := (internal - a.Low) / max(a.Step, 1e-308)
	if internal < a.Low || internal > a.High || a.Step > 0 && math.Abs(steps-math.Round(steps)) > 1e-8 {
		t.Errorf("%s: %v is not in %s", name, internal, distribution)
	}
	return internal
}

// sameValues tells which parameters of a trial were not read as they are.
func sameValues(t *testing.T, of *task.Task, trial strategy.Trial, got map[string]any) {
	t.Helper()
	if len(got) != len(of.Space.Parameters()) {
		t.Errorf("trial %d has %d parameters", trial.ID, len(got))
	}
	for _, p := range of.Space.Parameters() {
		var want any
		data, err := json.Marshal(trial.Design.Value(p.Name))
		if err != nil || json.Unmarshal(data, &want) != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if got[p.Name] != want {
			t.Errorf("trial %d, %s: %v, want %v of %+v", trial.ID, p.Name, got[p.Name], want, p)
		}
	}
}

// TestOptunaJournalRoundTripOfEveryKind: values come back from the numbers that stand for them in the journal,
// and lie in their distributions.
func TestOptunaJournalRoundTripOfEveryKind(t *testing.T) {
	for seed := range uint64(100) {
		of, trials := anyTask(t, seed)
		_, params := journalOf(t, of, trials)
		if len(params) != len(trials) {
			t.Fatalf("%d trials of %d", len(params), len(trials))
		}
		for i, trial := range trials {
			sameValues(t, of, trial, params[i])
		}
	}
}

// study is what testdata/study.py prints.
type study struct {
	Name, Direction string
	Attributes      map[string]any
	Best            *int
	Trials          []struct {
		State         string
		Value         *float64
		Params        map[string]any
		Types         map[string]string
		Distributions map[string]string
		Attributes    map[string]any
		Constraints   map[string]float64
		Intermediate  map[string]float64
		Started       *float64
		Ended         *float64
	}
}

// readByOptuna skips the test, and says why, where there is no Optuna.
func readByOptuna(t *testing.T, journal []byte) (s study) {
	t.Helper()
	python := os.Getenv("FBO_PYTHON")
	if python == "" {
		python = "python3"
	}
	if output, err := exec.Command(python, "-c", "import optuna").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import optuna: %v, %s; FBO_PYTHON can name another Python", python, err, output)
	}
	path := filepath.Join(t.TempDir(), "study.log")
	if err := os.WriteFile(path, journal, 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	command := exec.Command(python, filepath.Join("testdata", "study.py"), path)
	command.Stderr = &stderr
	output, err := command.Output()
	if err == nil {
		err = json.Unmarshal(output, &s)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	return s
}

// TestOptunaReadsEveryKind: Optuna takes all values and warns of nothing.
func TestOptunaReadsEveryKind(t *testing.T) {
	for seed := range uint64(3) {
		of, trials := anyTask(t, seed)
		journal, _ := journalOf(t, of, trials)
		got := readByOptuna(t, journal)
		best := strategy.Best(of, trials)
		if got.Name != of.Name || got.Direction != strings.ToUpper(string(of.Goal)) || got.Best == nil || uint64(*got.Best)+1 != best.ID || len(got.Trials) != len(trials) {
			t.Fatalf("%s, %s, best %v, %d trials; the best is %d", got.Name, got.Direction, got.Best, len(got.Trials), best.ID)
		}
		for i, trial := range trials {
			read := got.Trials[i]
			sameValues(t, of, trial, read.Params)
			if read.State != "COMPLETE" || *read.Value != trial.Outcome.Value || *read.Started != float64(trial.Started.Unix()) || *read.Ended != float64(trial.Finished.Unix()) {
				t.Errorf("trial %d became %+v", trial.ID, read)
			}
			for _, p := range of.Space.Parameters() {
				want := map[task.Kind]string{task.Float: "float", task.Int: "int", task.Categorical: "str", task.Bool: "bool"}[trial.Design.Value(p.Name).Kind()]
				if read.Types[p.Name] != want {
					t.Errorf("%s is a %s, want %s", p.Name, read.Types[p.Name], want)
				}
			}
		}
	}
}

// TestOptunaReadsConstraints: the best of the golden trials is not the one of the largest
// value, which is infeasible, and what has not ended is not there.
func TestOptunaReadsConstraints(t *testing.T) {
	of := parse(t, everything)
	trials := trialsOf(t, of)
	journal, _ := journalOf(t, of, trials)
	got := readByOptuna(t, journal)
	if got.Attributes["task_id"] != of.ID().String() || got.Best == nil || *got.Best != 0 || len(got.Trials) != 6 {
		t.Fatalf("%+v", got)
	}
	second, failed, imported := got.Trials[1], got.Trials[2], got.Trials[3]
	if second.Constraints["ram"] != 2 || second.Constraints["gap"] != 0.5 || second.Constraints["sound"] != 1 ||
		second.Attributes["peer"] != trials[1].Why.Peer.String() || second.Attributes["why"] != "sample from a peer" || second.Attributes["feasible"] != false {
		t.Errorf("%+v", second)
	}
	if failed.State != "FAIL" || failed.Value != nil || failed.Attributes["reason"] != trials[2].Reason {
		t.Errorf("%+v", failed)
	}
	if imported.State != "COMPLETE" || imported.Started == nil || imported.Constraints["ram"] != -13 || imported.Attributes["trial"] != 6.0 {
		t.Errorf("%+v", imported)
	}
	stopped, patient := got.Trials[4], got.Trials[5]
	if stopped.State != "PRUNED" || stopped.Value == nil || *stopped.Value != -2 || len(stopped.Intermediate) != 3 || stopped.Intermediate["3"] != 1e-7 ||
		stopped.Attributes["stop.rule"] != "program" || stopped.Attributes["stop.reason"] != trials[6].Stop.Reason {
		t.Errorf("%+v", stopped)
	}
	if patient.State != "COMPLETE" || *patient.Value != -4 || patient.Intermediate["2"] != -4 {
		t.Errorf("%+v", patient)
	}
	for name, want := range map[string]string{
		"rate":    "FloatDistribution(high=1.0, log=True, low=0.001, step=None)",
		"dropout": "FloatDistribution(high=1.0, log=False, low=0.1, step=0.3)",
		"layers":  "IntDistribution(high=7, log=False, low=1, step=3)",
		"units":   "IntDistribution(high=1000, log=True, low=1, step=1)",
		"kind":    `CategoricalDistribution(choices=('sgd', 'a, b', '7', 'ä"<&>'))`,
		"on":      "CategoricalDistribution(choices=(False, True))",
	} {
		if second.Distributions[name] != want {
			t.Errorf("%s is %s, want %s", name, second.Distributions[name], want)
		}
	}
}
