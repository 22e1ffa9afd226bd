//go:build unix

package main_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// conditionalTask has two optimizers with parameters of their own, one below another, fixed values
// and a constraint among parameters.
const conditionalTask = `name: conditional
goal: minimize
parameters:
  - {name: optimizer, type: categorical, choices: [sgd, adam]}
  - {name: momentum, type: float, low: 0, high: 1, when: {optimizer: sgd}}
  - {name: nesterov, type: bool, when: {momentum: {low: 0.3}}}
  - {name: beta, type: float, low: 0.5, high: 1, when: {optimizer: adam}}
  - {name: units, type: int, low: 1, high: 8}
  - {name: epochs, value: 20}
parameter_constraints: ["units * beta <= 4", "units + momentum <= 8"]
surrogate: {features: 64}
`

// conditionalScript fails if the variables, arguments or JSON of a trial have an inactive parameter,
// or lack an active or a fixed one. It prints a value that depends on the active ones.
const conditionalScript = `
refuse() { echo "$*" >&2; exit 3; }
[ "$FBO_PARAM_EPOCHS" = 20 ] || refuse "epochs is fixed"
[ "$#" = 4 ] || refuse "arguments: $*"
[ -z "$2" ] || [ "$2" = "$FBO_PARAM_BETA" ] || refuse "placeholder $2"
case "$FBO_PARAM_OPTIMIZER" in
sgd)
	[ -z "${FBO_PARAM_BETA+set}" ] || refuse "beta is inactive"
	[ "$4" = "--momentum=$FBO_PARAM_MOMENTUM" ] || refuse "option $4"
	case "$FBO_PARAMS" in *beta*) refuse "$FBO_PARAMS" ;; esac
	awk -v m="$FBO_PARAM_MOMENTUM" -v n="${FBO_PARAM_NESTEROV-none}" -v u="$FBO_PARAM_UNITS" 'BEGIN {
		if ((m >= 0.3) != (n != "none")) exit 3
		print (m - 0.6) ^ 2 + (u - 3) ^ 2 / 20 + (n == "true" ? 0 : 0.1)
	}' || refuse "nesterov with momentum $FBO_PARAM_MOMENTUM" ;;
adam)
	[ -z "${FBO_PARAM_MOMENTUM+set}${FBO_PARAM_NESTEROV+set}" ] || refuse "momentum and nesterov are inactive"
	[ "$4" = "--beta=$FBO_PARAM_BETA" ] || refuse "option $4"
	awk -v b="$FBO_PARAM_BETA" -v u="$FBO_PARAM_UNITS" 'BEGIN {
		if (u * b > 4) exit 3
		print (b - 0.8) ^ 2 + (u - 3) ^ 2 / 20 + 0.05
	}' || refuse "units * beta" ;;
esac
`

// conditionalCommand has a positional argument, and one option for each optimizer.
func conditionalCommand(t *testing.T) []string {
	script := writeFile(t, "train.sh", conditionalScript)
	return []string{"--", "/bin/sh", script, "first", "{beta}", "{units}", "--momentum={momentum}", "--beta={beta}"}
}

// checkConditional checks that designs have exactly the active parameters, and that both optimizers
// were tried: the starting designs of a node that begins alone have both.
func checkConditional(t *testing.T, trials []trialJSON) {
	t.Helper()
	seen := map[string]int{}
	for _, trial := range trials {
		var of struct {
			Optimizer                     string
			Momentum, Beta, Units, Epochs *float64
			Nesterov                      *bool
		}
		decode(t, string(trial.Parameters), &of)
		seen[of.Optimizer]++
		sgd := of.Optimizer == "sgd"
		if (of.Momentum != nil) != sgd || (of.Beta != nil) == sgd || of.Epochs == nil || of.Units == nil ||
			(of.Nesterov != nil) != (sgd && *of.Momentum >= 0.3) || !sgd && *of.Units**of.Beta > 4 {
			t.Errorf("trial %d: %s", trial.ID, trial.Parameters)
		}
		if trial.State != "done" {
			t.Errorf("trial %d is %s: %s", trial.ID, trial.State, trial.Reason)
		}
	}
	if seen["sgd"] == 0 || seen["adam"] == 0 {
		t.Errorf("optimizers %v, expected both", seen)
	}
}

func TestConditionalTaskOfTwoNodes(t *testing.T) {
	t.Parallel()
	file, command := writeFile(t, "task.yaml", conditionalTask), conditionalCommand(t)
	dirs := []string{shortTempDir(t), shortTempDir(t)}
	first := start(t, join(runLine(file, dirs[0], "--json", "--seed", "1", "--evals", "10", "--keep-after"), command)...)
	line := nodeCommand(join(runLine(file, dirs[1], "--json", "--seed", "2", "--evals", "10", "--peer", first.address(t)), command)...)
	line.Env = append(line.Env, "FBO_PARAM_BETA=0.7", "FBO_PARAM_MOMENTUM=0.1") // as within a trial of another node
	second := startCommand(t, line)
	if code := second.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d: %s", code, second.stderr.String())
	}
	first.await(t, "its last evaluation", func(e event) bool { return e.Event == "trial_finished" && e.Trial.ID == 10 })
	first.signal(t, syscall.SIGINT)
	if code := first.wait(t); code != base.ExitDone {
		t.Errorf("exit code %d: %s", code, first.stderr.String())
	}
	if len(second.of("share_received")) == 0 {
		t.Error("the second node received no share")
	}
	var all []trialJSON
	for _, dir := range dirs {
		trials := historyOf(t, dir)
		if len(trials) != 10 {
			t.Errorf("%d trials, expected 10", len(trials))
		}
		all = append(all, trials...)
	}
	checkConditional(t, all)
}

// TestConditionalTaskIsExportedAndContinued kills a node, continues it, and reads its trials back
// from each format.
func TestConditionalTaskIsExportedAndContinued(t *testing.T) {
	t.Parallel()
	file, dir, command := writeFile(t, "task.yaml", conditionalTask), shortTempDir(t), conditionalCommand(t)
	line := join(runLine(file, dir, "--json", "--seed", "3", "--evals", "9"), command)
	p := start(t, line...)
	p.await(t, "trial 4", func(e event) bool { return e.Event == "trial_finished" && e.Trial.ID == 4 })
	p.signal(t, syscall.SIGKILL)
	p.wait(t)
	before := historyOf(t, dir)
	must(t, line...)
	trials := historyOf(t, dir)
	if len(trials) != 9 {
		t.Fatalf("%d trials, expected 9", len(trials))
	}
	for i, was := range before {
		if string(trials[i].Parameters) != string(was.Parameters) {
			t.Errorf("trial %d was %s and is %s", was.ID, was.Parameters, trials[i].Parameters)
		}
	}
	checkConditional(t, trials)

	table := must(t, "history", "--data-dir", dir, "--format", "csv")
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range rows[0] {
		for k, row := range rows[1:] {
			var of map[string]any
			decode(t, string(trials[k].Parameters), &of)
			if _, active := of[name]; (name == "momentum" || name == "beta" || name == "nesterov") && active == (row[i] == "") {
				t.Errorf("trial %d: cell %q of %s, parameters %s", k+1, row[i], name, trials[k].Parameters)
			}
		}
	}
	exported := filepath.Join(shortTempDir(t), "trials.json")
	must(t, "export", file, exported, "--data-dir", dir)
	// A table without a column for a parameter that is inactive in all its rows, and without epochs.
	short := writeFile(t, "short.csv", "value,optimizer,beta,units\n0.1,adam,0.75,2\n")
	for past, want := range map[string]int{writeFile(t, "past.csv", table): 9, exported: 9, short: 1} {
		other := shortTempDir(t)
		must(t, join(runLine(file, other, "--evals", "0", "--import", past, "--import-default", "momentum=0.5"), command)...)
		if got := historyOf(t, other); len(got) != want {
			t.Errorf("%s: %d trials, expected %d", past, len(got), want)
		} else if want == 9 {
			for i := range got {
				if string(got[i].Parameters) != string(trials[i].Parameters) {
					t.Errorf("%s: trial %d is %s, expected %s", past, i+1, got[i].Parameters, trials[i].Parameters)
				}
			}
		}
	}
	for _, format := range []string{"text", "flags", "env"} {
		out := must(t, "best", "--data-dir", dir, "--format", format)
		if strings.Contains(strings.ToLower(out), "momentum") == strings.Contains(strings.ToLower(out), "beta") || !regexp.MustCompile(`(?i)epochs[ =]+20`).MatchString(out) {
			t.Errorf("best --format %s printed\n%s", format, out)
		}
	}
	study := must(t, "export", file, "-", "--format", "optuna-journal", "--data-dir", dir)
	trial := 0
	for record := range strings.Lines(study) {
		var r struct {
			Op            int `json:"op_code"`
			Params        map[string]any
			Distributions map[string]json.RawMessage
		}
		decode(t, record, &r)
		if r.Op != 4 {
			continue
		}
		var of map[string]any
		decode(t, string(trials[trial].Parameters), &of)
		trial++
		for name := range of {
			if r.Params[name] == nil || r.Distributions[name] == nil || len(r.Params) != len(of) || len(r.Distributions) != len(of) {
				t.Errorf("trial %d: %s in the study, parameters %v", trial, record, of)
			}
		}
	}
}

// TestErrorsOfConditionalTrials reads each error as a user: one line with the place and the remedy.
func TestErrorsOfConditionalTrials(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", conditionalTask)
	for content, want := range map[string]string{
		"value,optimizer,momentum,beta,units\n1,sgd,0.1,0.7,3\n":                                                     `import: .*trials.csv: line 2: .*parameter "beta": 0.7 given, expected no value: it applies only with optimizer: adam; .*`,
		"value,optimizer,momentum,beta,units\n1,sgd,,,3\n":                                                           `import: .*trials.csv: line 2: .*parameter "momentum": no value given; it takes a number from 0 to 1; .*`,
		"value,optimizer,beta,units\n1,adam,0.7,8\n":                                                                 `import: .*trials.csv: line 2: .* violates the parameter constraint "units \* beta <= 4"; .*`,
		"value,optimizer,beta,units,epochs\n1,adam,0.7,3,21\n":                                                       `import: .*trials.csv: line 2: .*parameter "epochs": 21 is not accepted; it takes only 20; .*`,
		"number,state,value,params_optimizer,params_units,params_momentum,params_beta\n0,COMPLETE,1,sgd,3,0.1,0.5\n": `import: .*trials.csv: line 2: column "params_beta": .*parameter "beta": 0.5 given, expected no value: .*`,
	} {
		e := call(t, join(runLine(file, shortTempDir(t), "--import", writeFile(t, "trials.csv", content)), []string{"--", os.Args[0]})...)
		if e.code != base.ExitUsage || !regexp.MustCompile(`\Afbo-node: (`+want+`)\n\z`).MatchString(e.stderr) {
			t.Errorf("%q: exit code %d, got\n%swant\n%s", content, e.code, e.stderr, want)
		}
	}
}
