package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/lab/experiment"
	"github.com/fbo-node/fbo/lab/family"
)

// execute runs the command in this process.
func execute(ctx context.Context, args ...string) (out string, err error) {
	var b bytes.Buffer
	root := base.NewRoot()
	root.AddCommand(New())
	root.SetOut(&b)
	root.SetArgs(append([]string{"simulate"}, args...))
	err = root.ExecuteContext(ctx)
	return b.String(), err
}

// tinySimulation takes a tenth of a second.
func tinySimulation(dir string, more ...string) []string {
	return append([]string{"--family", "gp:d=1", "--strategy", "ts,logei", "--agents", "2", "--evals", "5",
		"--repeats", "2", "--features", "32", "--out", dir}, more...)
}

func TestSimulatePrintsATableAndKeepsItsRuns(t *testing.T) {
	dir := t.TempDir()
	first, err := execute(t.Context(), tinySimulation(dir)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Family gp:d=1, maximize: 2 agents, 5 evaluations each, 2 repeats, seed 1.",
		"compared with ts",
		"core-minutes",
		"  fbo-node simulate --family gp:d=1 --strategy ts,logei --agents 2 --evals 5 --repeats 2 --features 32\n",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("the table does not say %q:\n%s", want, first)
		}
	}
	// Costs are part of the table: it is the same only when nothing ran again.
	if again, err := execute(t.Context(), tinySimulation(dir)...); err != nil || again != first {
		t.Errorf("the second time %v:\n%s\nthe first\n%s", err, again, first)
	}
	if fresh, err := execute(t.Context(), tinySimulation(dir, "--fresh")...); err != nil || fresh == first {
		t.Errorf("--fresh forgets nothing, or fails: %v", err)
	}
}

// Runs of another build are made anew, unless they are asked for; then they are marked.
func TestSimulateAndRunsOfOtherBuilds(t *testing.T) {
	dir := t.TempDir()
	args := tinySimulation(dir)
	first, err := execute(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%v, %v", paths, err)
	}
	kept, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	others := strings.ReplaceAll(string(kept), `"build":"`+buildName(), `"build":"other`)
	if err := os.WriteFile(paths[0], []byte(others), 0o600); err != nil {
		t.Fatal(err)
	}
	used, err := execute(t.Context(), append(args, "--other-builds")...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nts *", "\nlogei *", "warning: rows marked with * use runs that other builds of this program have made, 4 of 4 in all"} {
		if !strings.Contains(used, want) {
			t.Errorf("the table does not say %q:\n%s", want, used)
		}
	}
	if text, err := os.ReadFile(paths[0]); err != nil || string(text) != others {
		t.Errorf("with --other-builds runs were made, or %v", err)
	}
	anew, err := execute(t.Context(), args...)
	if err != nil || strings.Contains(anew, "*") || anew == first {
		t.Errorf("%v, made anew:\n%s", err, anew)
	}
	if text, err := os.ReadFile(paths[0]); err != nil || !strings.HasPrefix(string(text), others) || strings.Count(string(text), "\n") != 1+4+4 {
		t.Errorf("%v, kept is\n%s", err, text)
	}
}

// One line says beforehand that runs of other builds are made anew.
func TestSimulateSaysThatRunsAreMadeAnew(t *testing.T) {
	o := options{family: "gp:d=1", strategies: []string{"ts"}, surrogate: "exact", features: 32, dir: t.TempDir()}
	o.plan = experiment.Plan{Agents: 1, Evaluations: 4, Repeats: 2, Seed: 1, Initial: 3, Schedule: experiment.Schedule{JoinWithin: time.Second, MaxSlowdown: 1, Straggler: 1, Parallel: 1}}
	plan, err := o.complete(noPrograms())
	if err != nil {
		t.Fatal(err)
	}
	store, err := experiment.OpenStore(o.dir, plan, experiment.StoreOptions{Build: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(experiment.Run(t.Context(), plan, store, experiment.Options{}), store.Close()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 of 2 runs are there from other builds of this program", ""} {
		var said bytes.Buffer
		if err := o.run(t.Context(), &bytes.Buffer{}, &said); err != nil {
			t.Fatal(err)
		}
		if got := said.String(); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

func TestSimulateWritesJSONAndCSV(t *testing.T) {
	dir := t.TempDir()
	table := filepath.Join(dir, "regrets.csv")
	raw := filepath.Join(dir, "raw.csv")
	out, err := execute(t.Context(), tinySimulation(dir, "--json", "--csv", table, "--raw", raw)...)
	if err != nil {
		t.Fatal(err)
	}
	var report experiment.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Strategies) != 2 || len(report.Strategies[1].Simple.Mean) != 5 || report.CoreSeconds <= 0 {
		t.Errorf("%+v", report)
	}
	text, err := os.ReadFile(table)
	if err != nil || strings.Count(string(text), "\n") != 1+2*5 {
		t.Errorf("%v, the CSV is\n%s", err, text)
	}
	if text, err := os.ReadFile(raw); err != nil || strings.Count(string(text), "\n") != 1+2*2*2*5 {
		t.Errorf("%v, the raw CSV is\n%s", err, text)
	}
}

// The command below the table is one that makes it again.
func TestSimulateTellsOfFairness(t *testing.T) {
	dir := t.TempDir()
	first, err := execute(t.Context(), tinySimulation(dir, "--fairness")...)
	if err != nil {
		t.Fatal(err)
	}
	_, command, _ := strings.Cut(first, "Command:\n  fbo-node simulate ")
	again, err := execute(t.Context(), append(strings.Fields(command), "--out", dir)...)
	if err != nil || again != first || !strings.Contains(first, "regret per party") {
		t.Errorf("%v:\n%s\nthe first\n%s", err, again, first)
	}
}

// With constraints the table says what is feasible and how soon it was found, and the
// second time all is read from what was kept.
func TestSimulateWithConstraints(t *testing.T) {
	args := []string{"--family", "limits:d=1,c=2", "--strategy", "logei,density,random", "--agents", "2", "--evals", "6",
		"--repeats", "2", "--features", "32", "--checkpoints", "4", "--out", t.TempDir()}
	table, err := execute(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Constraints: c1 at most 0, c2 at most 0.\n",
		"Simple regret: noise-free, of the design that an agent would report as its best;",
		"first feasible", "of logei's", "nothing feasible", "recommended infeasible",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table does not say %q:\n%s", want, table)
		}
	}
	if strings.Contains(table, "warning") {
		t.Errorf("there are warnings:\n%s", table)
	}
	out, err := execute(t.Context(), append(args, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	var report experiment.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Constraints) != 2 || report.Strategies[2].Feasibility == nil || len(report.Strategies[2].Feasibility.NoFeasibleDesign) != 6 {
		t.Errorf("%+v", report)
	}
	if again, err := execute(t.Context(), args...); err != nil || again != table {
		t.Errorf("the second time %v:\n%s\nthe first\n%s", err, again, table)
	}
}

// Faults are part of what is said of a run, and runs with and without are kept apart.
func TestSimulateWithFaults(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []struct{ scenario, flags, caption string }{
		{"", "", "delay 50ms, loss 0 %.\n"},
		{"straggler: 1", "", "delay 50ms, loss 0 %.\n"},
		{"straggler: 2.5", "", "delay 50ms, loss 0 %, the last agent 2.5 times as slow.\n"},
		{"partition: 10s-1m", "", "delay 50ms, loss 0 %, cut in halves from 10s to 1m0s.\n"},
		{"join_within: 1m0s\nchurn: 0.2", "", "delay 50ms, loss 0 %, all join within 1m0s, each away 20 % of the time.\n"},
		{"min_evals: 4\nmax_slowdown: 3", "", "delay 50ms, loss 0 %, agents up to 3 times as slow as others.\n"},
		{"", "--parallel 2", "delay 50ms, loss 0 %, each evaluates 2 designs at a time.\n"},
		{"", "--parallel 2 --asynchronous=true", "delay 50ms, loss 0 %, each evaluates 2 designs at a time, asynchronously.\n"},
		{"loss: 0.3\nstraggler: 2\npartition: 0s-20s", "", "delay 50ms, loss 30 %, the last agent 2 times as slow, cut in halves from 0s to 20s.\n"},
		{"delay: 20ms\njitter: 1s\ndegree: 1 # of one\n", "", "delay 20ms to 1.02s, loss 0 %.\n"},
	} {
		flags := c.flags
		if c.scenario != "" {
			flags = "--scenario " + scenarioFile(t, c.scenario)
		}
		out, err := execute(t.Context(), tinySimulation(dir, strings.Fields(flags)...)...)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out, c.caption) || !strings.HasSuffix(strings.TrimSpace(out), strings.TrimSpace("--features 32 "+flags)) {
			t.Errorf("with %s %s:\n%s", c.scenario, flags, out)
		}
		if kept, err := filepath.Glob(filepath.Join(dir, "*.jsonl")); err != nil || len(kept) != max(1, i) {
			t.Errorf("with %s %s: kept are %v, %v", c.scenario, flags, kept, err)
		}
	}
}

func TestSimulateInterruptedSaysHowToGoOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out, err := execute(ctx, tinySimulation(t.TempDir())...)
	var usage base.UsageError
	if err == nil || errors.As(err, &usage) || out != "" {
		t.Fatalf("error %v, output %q", err, out)
	}
	if text := err.Error(); !strings.Contains(text, "interrupted: 0 of 4 runs are finished and kept in ") || !strings.Contains(text, "the same command goes on from there") {
		t.Error(text)
	}
}

func TestSimulateFlagErrorsNameFlagValueAndWhatIsAccepted(t *testing.T) {
	t.Setenv("PATH", "")
	for _, c := range []struct {
		args string
		want string
	}{
		{"--strategy ts", "--family is missing, expected gp, "},
		{"--family nonesuch --strategy ts", `--family: family "nonesuch": unknown name "nonesuch"; accepted: gp, `},
		{"--family gp:d=x --strategy ts", `--family: family "gp:d=x": key d: value "x" is not accepted; accepted: 1 to 20`},
		{"--family gp", "--strategy is missing, expected"},
		{"--family gp --strategy ts,", `--strategy ts,: "ts," has an empty name, expected NAME`},
		{"--family gp --strategy tsx", "--strategy tsx: strategy: type must be one of "},
		{"--family limits --strategy logei,fts", "--strategy fts: strategy: type fts takes no constraints, which the task has; those that do: peer-prior, constrained-gp, density, alone, parego, ts, logei, mes"},
		{"--family limits --strategy pooled", "--strategy pooled: the baseline pooled takes no constraints, which --family limits has; of the baselines random does"},
		{"--family gp --strategy ts --agents 0", "--agents 0: expected 1 to 1000"},
		{"--family gp --strategy ts --agents x", "--agents x: expected whole numbers"},
		{"--family gp --strategy ts --evals 0", "--evals 0: expected 1 to 10000"},
		{"--family gp --strategy ts --repeats -1", "--repeats -1: expected 1 to 100000"},
		{"--family gp --strategy ts --seed -1", "--seed -1: expected whole numbers from 0"},
		{"--family gp --strategy ts --initial-designs 0", "--initial-designs 0: expected 1 or more"},
		{"--family gp --strategy ts --surrogate tree", "--surrogate tree: surrogate: type must be one of exact, rff, shared-latent"},
		{"--family gp --strategy ts --surrogate exact,rff", `--surrogate exact,rff: "exact,rff" names 2, expected one`},
		{"--family gp --strategy ts --features 3", "--surrogate exact:features=3: surrogate: features 3 must be even"},
		{"--family gp --strategy ts --features 4 --surrogate rff:features=8", "--features 4: --surrogate rff:features=8 says features too, expected one of both"},
		{"--family gp --strategy ts --control fts", "--control fts: expected one of --strategy: ts; or best-alone"},
		{"--family gp --strategy ts --checkpoints 5,x", "--checkpoints x: expected whole numbers"},
		{"--family gp --strategy ts --checkpoints 60", "--checkpoints 60: 60 is not accepted there; expected ascending numbers from 1 to --evals 50"},
		{"--family gp --strategy ts --parallel 0", "--parallel 0: expected 1 to 1000"},
		{"--family gp --strategy ts --parallel 1001", "--parallel 1001: expected 1 to 1000"},
		{"--family gp --strategy ts --asynchronous", "--asynchronous with --parallel 1: expected --parallel of 2 and more"},
		{"--family gp --strategy ts --workers -1", "--workers -1: expected 0 or more"},
		{"--family gp --strategy ts --csv nonesuch/c.csv", "--csv nonesuch/c.csv: nonesuch is no directory"},
		{"--family gp --strategy ts --csv .", "--csv .: it is a directory"},
		{"--family gp --strategy ts --raw nonesuch/c.csv", "--raw nonesuch/c.csv: nonesuch is no directory"},
		{"--family gp --strategy ts --raw .", "--raw .: it is a directory"},
		{"--family gp --strategy ts --raw c.csv --csv ./c.csv", "--raw c.csv: --csv writes to that file"},
		{"--family gp --strategy ts --plot c.pdf", "--plot c.pdf: expected names that end in .svg or .png"},
		{"--family gp --strategy ts --plot c.svg", "--plot c.svg: the program fbo-plot is neither beside fbo-node nor on the PATH"},
		{"--family gp --strategy ts --loss 0.1", "unknown flag: --loss"},
		{"--family gp --strategy ts --scenario nonesuch.yaml", "--scenario: open nonesuch.yaml: no such file"},
		{"surplus", "takes no arguments, not 1"},
	} {
		_, err := execute(t.Context(), strings.Fields(c.args)...)
		var usage base.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want usage %q", c.args, err, c.want)
		}
	}
}

func TestSimulateHelpNamesEveryFamilyAndBaseline(t *testing.T) {
	help := help()
	for _, name := range append(familyNames(), experiment.Baselines()...) {
		if !strings.Contains(help, name) {
			t.Errorf("the help does not name %s", name)
		}
	}
	for _, key := range family.Kinds().List()[0].Keys {
		if !strings.Contains(help, key.Name+" ("+key.Accepts()) {
			t.Errorf("the help does not name the setting %s", key.Name)
		}
	}
}

func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		p    experiment.Progress
		want string
	}{
		{experiment.Progress{}, "drawing federations"},
		{experiment.Progress{Runs: 3, AllRuns: 8, Evaluations: 25, AllEvaluations: 100, Elapsed: 20 * time.Second}, "3 of 8 runs, 25 % of the evaluations, about 1m0s left"},
	} {
		if got := progressLine(c.p); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestCommandLineQuotesWhatAShellWouldRead(t *testing.T) {
	command := New()
	if err := command.ParseFlags([]string{"--strategy", "ts,fts", "--family", "a b", "--strategy", "logei", "--json", "--seed", "7"}); err != nil {
		t.Fatal(err)
	}
	if got, want := commandLine(command), "simulate --family 'a b' --strategy ts,fts,logei --seed 7"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
