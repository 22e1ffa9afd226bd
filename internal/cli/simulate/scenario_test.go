package simulate

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/experiment"
)

func scenarioFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestScenarioErrors checks that an error names the file, the line and what is accepted, in one line.
func TestScenarioErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"loss: 1":                         ":1: loss 1: expected 0 to below 1",
		"loss: x":                         ":1: loss x: expected a number",
		"loss:":                           ":1: loss ",
		"loss: [1]":                       ":1: loss: expected a number",
		"delay: -1s":                      ":1: delay -1s: expected 0s to 1h0m0s",
		"# late\ndelay: x":                ":2: delay x: expected a time such as 90s or 10m",
		"delay: 5":                        ":1: delay 5: expected a time such as 90s or 10m",
		"jitter: -1s":                     ":1: jitter -1s: expected 0s to 1h0m0s",
		"degree: -1":                      ":1: degree -1: expected 0 or more",
		"degree: 1.5":                     ":1: degree 1.5: expected a whole number",
		"loss: 0.1\nstraggler: 0":         ":2: straggler 0: expected 1 to 1000",
		"straggler: 0.5":                  ":1: straggler 0.5: expected 1 to 1000",
		"straggler: NaN":                  ":1: straggler NaN: expected 1 to 1000",
		"straggler: x":                    ":1: straggler x: expected a number",
		"max_slowdown: 0":                 ":1: max_slowdown 0: expected 1 to 1000",
		"max_slowdown: 50\nstraggler: 40": ":2: straggler 40 with max_slowdown 50: expected a product of at most 1000",
		"join_within: 0s":                 ":1: join_within 0s: expected more than 0s, up to 24h0m0s",
		"min_evals: 51":                   ":1: min_evals 51: expected --initial-designs 3 to --evals 50, and 0 for all",
		"churn: 1":                        ":1: churn 1: expected 0 to 0.9",
		"partition: 100s":                 ":1: partition 100s: expected FROM-UNTIL, two times such as in 100s-200s",
		"partition: 100-200":              ":1: partition 100-200: expected FROM-UNTIL, two times such as in 100s-200s",
		"partition: 200s-100s":            ":1: partition 3m20s-1m40s: expected FROM-UNTIL with FROM before UNTIL",
		"loss: 0.1\nspeed: 3":             `:2: unknown key "speed"; accepted: delay, jitter, loss, degree, partition, join_within, min_evals, max_slowdown, straggler, churn`,
		"loss: 0.1\nloss: 0.2":            ":2: YAML syntax: mapping key \"loss\" already defined at [1:1]",
		"loss: [":                         ":1: YAML syntax: ",
		"- loss: 1":                       ":1: expected one KEY: VALUE a line",
		"loss":                            ":1: expected one KEY: VALUE a line",
		"":                                ":1: expected one KEY: VALUE a line",
		"loss: 0.1\n---\nloss: 0.2":       ":1: expected one KEY: VALUE a line in one document",
	} {
		file := scenarioFile(t, text)
		_, err := execute(t.Context(), "--family", "gp", "--strategy", "ts", "--scenario", file)
		var usage base.UsageError
		if !errors.As(err, &usage) || !strings.HasPrefix(err.Error(), "--scenario "+file+want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, expected usage %q", text, err, want)
		}
	}
}

// TestScenarioSetsEveryPartOfThePlan checks each key, and that the usual values give the same plan as
// no file, by which finished runs are found.
func TestScenarioSetsEveryPartOfThePlan(t *testing.T) {
	t.Parallel()
	planOf := func(text string) experiment.Plan {
		t.Helper()
		o := options{family: "gp:d=1", strategies: []string{"ts"}, surrogate: "exact", plan: experiment.Plan{Agents: 3, Evaluations: 9, Repeats: 1, Initial: 3, Schedule: experiment.Schedule{Parallel: 1}}}
		if text != "" {
			o.scenario = scenarioFile(t, text)
		}
		p, err := o.complete(noPrograms())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := planOf("delay: 1s\njitter: 2s\nloss: 0.3\ndegree: 2\npartition: 4s-5s\njoin_within: 6s\nmin_evals: 7\nmax_slowdown: 8\nstraggler: 9\nchurn: 0.1\n")
	network := sim.Network{Delay: time.Second, Jitter: 2 * time.Second, Loss: 0.3, Degree: 2, Partitions: []sim.Partition{{Span: sim.Span{From: 4 * time.Second, Until: 5 * time.Second}, Parts: 2}}}
	schedule := experiment.Schedule{JoinWithin: 6 * time.Second, MinEvaluations: 7, MaxSlowdown: 8, Straggler: 9, Churn: 0.1, Parallel: 1}
	if !reflect.DeepEqual(p.Network, network) || p.Schedule != schedule {
		t.Errorf("the plan has %+v and %+v, expected %+v and %+v", p.Network, p.Schedule, network, schedule)
	}
	none, usual := planOf(""), planOf("delay: 50ms\njitter: 0s\nloss: 0\ndegree: 0\njoin_within: 10s\nmin_evals: 0\nmax_slowdown: 1\nstraggler: 1\nchurn: 0\n")
	if !reflect.DeepEqual(none.Network, usual.Network) || none.Schedule != usual.Schedule {
		t.Errorf("usual values give %+v and %+v, no file gives %+v and %+v", usual.Network, usual.Schedule, none.Network, none.Schedule)
	}
}

// TestScenariosOfTheExamples runs a small federation in each scenario of examples/scenarios.
func TestScenariosOfTheExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../examples/scenarios/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	manual, err := os.ReadFile("../../../docs/simulate.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) == "unreliable.yaml" {
			_, keys, _ := strings.Cut(string(text), "\n")
			if !strings.Contains(string(manual), "```yaml\n"+keys+"```") {
				t.Errorf("docs/simulate.md does not have the keys of %s", file)
			}
		}
		args := []string{"--family", "gp:d=1", "--strategy", "ts,fts", "--agents", "3", "--evals", "26", "--repeats", "1", "--features", "32", "--checkpoints", "5", "--out", dir, "--scenario", file}
		if out, err := execute(t.Context(), args...); err != nil || !strings.Contains(out, "--scenario "+file) {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}
