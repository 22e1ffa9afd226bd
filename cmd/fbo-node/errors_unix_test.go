//go:build unix

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

// TestUsageErrors shows what a user reads after a mistake: one line, exit code
// 2, and nothing on standard output.
func TestUsageErrors(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", bowlTask)
	bad := writeFile(t, "bad.yaml", "name: b\ngoal: minimise\nparameters:\n  - {name: x, type: float, low: 0, high: 1}\n")
	limited := writeFile(t, "limited.yaml", strings.Replace(bowlTask, "fts", "logei", 1)+"constraints: [{name: c, high: 1}]\n")
	list := writeFile(t, "list", "# who\nyou\n")
	nobody := writeFile(t, "nobody", "")
	plain := writeFile(t, "plain", "not a program")
	outside := writeFile(t, "outside.csv", "x,y\n1,1\n3,1\n")
	dir := shortTempDir(t)
	run := func(args ...string) []string { return append([]string{"run", file, "--data-dir", dir}, args...) }
	cases := []struct {
		args []string
		want string // a pattern of the whole line, without the leading name
	}{
		{[]string{"bogus"}, "unknown command \"bogus\"; `fbo-node --help` lists the commands"},
		{[]string{"task"}, "fbo-node task: expected check, id or invite; see `fbo-node task --help`"},
		{[]string{"task", "bogus"}, "unknown command \"bogus\"; `fbo-node task --help` lists the commands"},
		{[]string{"task", "id"}, "fbo-node task id takes 1 argument, not 0: fbo-node task id TASK .*"},
		{[]string{"peer-id", "x"}, `fbo-node peer-id takes no arguments, not 1: .*; unexpected: "x"`},
		{[]string{"history", "a", "b"}, `fbo-node history takes at most 1 argument, not 2: .*; unexpected: "b"`},
		{[]string{"status", "a", "b"}, `fbo-node status takes at most 1 argument, not 2: .*; unexpected: "b"`},
		{[]string{"history", "--format", "xml"}, "--format \"xml\": expected table, csv or json; .*"},
		{[]string{"run"}, "run: the task file is missing: fbo-node run TASK .*"},
		{[]string{"run", "--", "true"}, "run: the task file is missing: .*"},
		{[]string{"run", file}, "run: the command is missing; write it after --, as in .*"},
		{[]string{"run", file, "--"}, "run: the command is missing; write it after --, as in .*"},
		{[]string{"run", file, "true", "x"}, "run: -- is missing before the command: write `fbo-node run " + file + " -- true x`"},
		{[]string{"run", file, "stray", "--", "true"}, "run: write one task, then --, then the command: .*; unexpected: \"stray\""},
		{[]string{"run", "nosuch.yaml", "--", "true"}, "task file: open nosuch.yaml: no such file or directory"},
		{[]string{"run", bad, "--", "true"}, ".*bad.yaml:2:7: goal must be one of minimize, maximize, not the text \"minimise\""},
		{[]string{"task", "check", bad}, ".*bad.yaml:2:7: goal .*"},
		{run("--bogus", "--", "true"), "unknown flag: --bogus; see `fbo-node run --help`"},
		{run("--peer", "foo", "--", "true"), `--peer: .*"foo": .*accepted: an address as the other node prints it.*`},
		{run("--peer", "/ip4/127.0.0.1/tcp/1", "--", "true"), `--peer: .*it must end in /p2p/ and the peer's ID\)`},
		{run("--listen", "foo", "--", "true"), `--listen: .*"foo": .*accepted: .*`},
		{run("--hub", "foo", "--", "true"), `--hub: .*"foo": .*accepted: an address .*`},
		{[]string{"hub", "--listen", "foo"}, `--listen: .*"foo": .*accepted: .*`},
		{[]string{"hub", "--allow", list}, `--allow: .*list:2: "you" is no peer ID: .*`},
		{run("--allow", "nosuch", "--", "true"), "--allow: open nosuch: no such file or directory"},
		{run("--allow", list, "--", "true"), `--allow: .*list:2: "you" is no peer ID: .* \(accepted: one ID a line, .*\)`},
		{run("--allow", nobody, "--", "true"), `--allow: .*nobody:1: the list names no node`},
		{run("--evals", "-1", "--", "true"), "--evals -1: expected 0 or more .without --evals: until Ctrl-C."},
		{run("--max-failures", "0", "--", "true"), "--max-failures 0: expected 1 or more"},
		{run("--max-failures", "-3", "--", "true"), "--max-failures -3: expected 1 or more"},
		{run("--stop-regret", "0", "--", "true"), "--stop-regret 0: expected numbers above 0, in the objective's units"},
		{run("--stop-regret", "NaN", "--", "true"), "--stop-regret NaN: expected numbers above 0, .*"},
		{run("--stop-regret", "Inf", "--", "true"), `--stop-regret \+Inf: expected numbers above 0, .*`},
		{run("--keep-after", "--", "true"), "--keep-after needs --evals, --cost, --for or --stop-regret, .*"},
		{run("--for", "0", "--", "true"), "--for 0s: expected times above 0 such as 90s, 30m or 8h"},
		{run("--for", "8", "--", "true"), "--for 8: expected times such as 90s or 10m.*"},
		{[]string{"run", limited, "--data-dir", dir, "--stop-regret", "1", "--", "true"}, "--stop-regret: the task has constraints, .*; expected tasks without"},
		{run("--enqueue", "nosuch.csv", "--", os.Args[0]), "enqueue: open nosuch.csv: no such file or directory"},
		{run("--enqueue", outside, "--", os.Args[0]), `enqueue: .*outside.csv: line 3: .*x.*`},
		{[]string{"best", "a", "b"}, "fbo-node best takes at most 1 argument, not 2: .*"},
		{[]string{"best", "--format", "xml"}, "--format \"xml\": expected text, json, flags or env; .*"},
		{run("--evals", "x", "--", "true"), `--evals x: expected whole numbers; see .*`},
		{run("--trial-timeout", "5", "--", "true"), `--trial-timeout 5: expected times such as 90s or 10m; see .*`},
		{run("--memory", "32MiB", "--", "true"), "--memory \"32MiB\": expected sizes from 64MiB to 1024GiB, such as 96MiB; see `fbo-node run --help`"},
		{run("--memory", "64MB", "--", "true"), "--memory \"64MB\": expected sizes from 64MiB to 1024GiB, such as 96MiB; see `fbo-node run --help`"},
		{run("--memory", "9223372036854775807GiB", "--", "true"), "--memory \"9223372036854775807GiB\": expected sizes from 64MiB to 1024GiB, such as 96MiB; see `fbo-node run --help`"},
		{run("--max-observations", "19", "--", "true"), "--max-observations 19: expected 20 or more"},
		{run("--parallel", "0", "--", "true"), "--parallel 0: expected 1 or more"},
		{run("--trial-timeout", "-1s", "--", "true"), "--trial-timeout -1s: expected positive times .0: never."},
		{run("--", "no-such-command"), `command "no-such-command" was not found in the directories of PATH`},
		{run("--", "./no-such-command"), `there is no command "./no-such-command"`},
		{run("--", plain), "command .* is not an executable file"},
		{run("--", os.Args[0], "{z}"), `argument "{z}": {z} is no parameter of the task \(they are: x, y\); write {{z}} to mean the text`},
		{run("--worker", "--", os.Args[0], "--x={x}"), `argument "--x={x}": {x} has no value, since a worker is started once and gets .*; write {{x}} to mean the text`},
		{[]string{"log", "a", "1", "b"}, `fbo-node log takes at most 2 arguments, not 3: .*; unexpected: "b"`},
		{[]string{"log", file, "x"}, `trial "x": expected whole numbers from 1`},
		{[]string{"log", "0"}, `trial "0": expected whole numbers from 1`},
		{[]string{"supervise", "/bin/echo", "echo"}, "supervise: a node starts it, beside a command"},
		{run("--import", "nosuch.csv", "--", os.Args[0]), "import: open nosuch.csv: no such file or directory"},
		{run("--import", plain, "--", os.Args[0]), "import: .*plain: expected files named .csv, .json or .log"},
		{run("--prior-designs", "nosuch.csv", "--", os.Args[0]), "--prior-designs: the task's strategy is .*; prior designs are used by constrained-gp and density"},
	}
	for _, c := range cases {
		e := call(t, c.args...)
		if e.code != base.ExitUsage || e.stdout != "" {
			t.Errorf("%q: exit code %d, standard output %q", c.args, e.code, e.stdout)
		}
		if !regexp.MustCompile(`\Afbo-node: ` + c.want + `\n\z`).MatchString(e.stderr) {
			t.Errorf("%q: got\n%swant\n%s", c.args, e.stderr, c.want)
		}
	}
	if made, _ := filepath.Glob(filepath.Join(dir, "*.*")); len(made) > 0 {
		t.Errorf("a mistake left %v", made)
	}
}

// TestTwoMistakesInATaskFile: both are shown, each with its place.
func TestTwoMistakesInATaskFile(t *testing.T) {
	t.Parallel()
	bad := writeFile(t, "bad.yaml", "name: b\ngoal: minimise\nparameters:\n  - {name: x, type: float, low: 2, high: 1}\n")
	e := call(t, "task", "id", bad)
	lines := strings.Split(strings.TrimSpace(e.stderr), "\n")
	if e.code != base.ExitUsage || len(lines) != 2 || !strings.Contains(lines[0], ":2:7: goal") || !strings.Contains(lines[1], ":4:33: parameter \"x\"") {
		t.Errorf("exit code %d, %q", e.code, e.stderr)
	}
}

func TestBusyDirectory(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	g := newGate(t)
	p := start(t, join(runLine(file, dir, "--json"), objective("gate", g.address))...)
	h := g.next(t)
	e := call(t, join(runLine(file, dir), objective("bowl"))...)
	want := fmt.Sprintf("fbo-node: journal: directory %s: in use by another process; stop that process or choose another directory (it is process %d, %s run)\n",
		dir, p.command.Process.Pid, filepath.Base(os.Args[0]))
	if e.code != base.ExitFailed || e.stderr != want || e.stdout != "" {
		t.Errorf("exit code %d, %q%q, want %q", e.code, e.stdout, e.stderr, want)
	}
	if s := statusOf(t, dir); !s.Running || s.Trials["running"] != 1 {
		t.Errorf("the first node is disturbed: %+v", s)
	}
	h.release()
	p.await(t, "the first node going on", isEvent("trial_finished"))
}

func TestIdentityReadableByOthers(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	id := must(t, "peer-id", "--data-dir", dir)
	key := filepath.Join(dir, "identity.key")
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	want := "fbo-node: identity " + key + " is readable by others (mode 0644): expected 0600; make a new identity if others may have read it\n"
	for _, args := range [][]string{
		{"peer-id", "--data-dir", dir},
		join(runLine(file, dir), objective("bowl")),
	} {
		if e := call(t, args...); e.code != base.ExitFailed || e.stderr != want || e.stdout != "" {
			t.Errorf("exit code %d, %q%q", e.code, e.stdout, e.stderr)
		}
	}
	// The failed start has made a journal without tasks.
	e := call(t, "status", "--data-dir", dir)
	if e.code != base.ExitFailed || e.stderr != "fbo-node: nothing has run with data directory "+dir+" yet\n" {
		t.Errorf("exit code %d, %q", e.code, e.stderr)
	}
	if err := os.Chmod(key, 0o600); err != nil {
		t.Fatal(err)
	}
	if again := must(t, "peer-id", "--data-dir", dir); again != id {
		t.Errorf("the peer ID was %s and is %s", id, again)
	}
}

func TestAddressThatIsNotOurs(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	e := call(t, join([]string{"run", file, "--data-dir", dir, "--mdns=false", "--listen", "/ip4/192.0.2.1/tcp/0"}, objective("bowl"))...)
	if e.code != base.ExitFailed || !regexp.MustCompile(`\Afbo-node: listen on .*192\.0\.2\.1.*\n\z`).MatchString(e.stderr) {
		t.Errorf("exit code %d, %q", e.code, e.stderr)
	}
}

func TestUnreachablePeer(t *testing.T) {
	t.Parallel()
	const id = "12D3KooWKykovPgZ8oYpymctQjbcaLxAjJDzXhoUcHjvpWpmWRGK"
	file, g := writeFile(t, "task.yaml", bowlTask), newGate(t)
	// The port of TCP's discard service, where nobody listens nowadays: refused at once.
	p := start(t, join(runLine(file, shortTempDir(t), "--json", "--evals", "1", "--peer", "/ip4/127.0.0.1/tcp/9/p2p/"+id), objective("gate", g.address))...)
	h := g.next(t)
	warning := p.await(t, "a warning that names the peer", func(e event) bool {
		return e.Event == "warning" && strings.Contains(e.Message, id)
	})
	if !strings.HasPrefix(warning.Message, "cannot reach peer "+id+" at [/ip4/127.0.0.1/tcp/9]: ") || strings.Contains(warning.Message, "\n") {
		t.Errorf("warning %q", warning.Message)
	}
	h.release()
	if code := p.wait(t); code != base.ExitDone || p.stderr.String() != "" {
		t.Errorf("exit code %d, %q", code, p.stderr.String())
	}
}

func TestRunGivesUpWhenEveryEvaluationFails(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", bowlTask)
	for _, c := range []struct{ mode, want string }{
		{"nothing", "the command printed nothing on standard output; its last line must be the value"},
		{"nan", `the command printed "NaN": the value is NaN, not a number`},
		{"text", `the command printed "all went well" as its last line, which is neither a number nor a JSON object`},
		{"exit", `the command exited with code 3; the last line of its standard error is "out of luck" \(see DIR/trials/[a-z0-9]+/trial-([1-9]|10).log\)`},
		{"sleep", "the command was stopped: no outcome within the trial timeout of 150ms"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			dir := shortTempDir(t)
			reason := strings.ReplaceAll(c.want, "DIR", regexp.QuoteMeta(dir))
			flags := []string{"--evals", "9"}
			if c.mode == "sleep" {
				flags = append(flags, "--trial-timeout", "150ms")
			}
			e := call(t, join(runLine(file, dir, flags...), objective(c.mode))...)
			pattern := `\Afbo-node: no evaluation has worked: 10 in a row failed, the last \(trial 10\): ` + reason +
				"; `fbo-node log " + regexp.QuoteMeta(file+" 10 --data-dir "+dir) + "` shows its output; the same command tries again, --max-failures N lets more fail\n\\z"
			if e.code != base.ExitGaveUp || !regexp.MustCompile(pattern).MatchString(e.stderr) {
				t.Errorf("exit code %d, %q, want %s", e.code, e.stderr, pattern)
			}
			if !regexp.MustCompile(`(?m)^  10  failed: `+reason+`$`).MatchString(e.stdout) || !strings.HasSuffix(e.stdout, "no result: 10 evaluations, all failed\n") {
				t.Errorf("got\n%s", e.stdout)
			}
			trials := historyOf(t, dir)
			for _, trial := range trials {
				if trial.State != "failed" || !regexp.MustCompile(reason).MatchString(trial.Reason) || trial.Outcome != nil {
					t.Errorf("trial %+v", trial)
				}
			}
			if len(trials) != 10 {
				t.Errorf("%d trials, want 10", len(trials))
			}
			if table := must(t, "history", "--data-dir", dir); !regexp.MustCompile(reason).MatchString(table) {
				t.Errorf("the table does not tell why:\n%s", table)
			}
		})
	}
}

func TestCommandThatFailsSometimes(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	e := call(t, join(runLine(file, dir, "--evals", "7"), objective("sometimes"))...)
	if e.code != base.ExitDone || e.stderr != "" || !strings.Contains(e.stdout, "in 13 evaluations (6 failed)") {
		t.Errorf("exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	for _, trial := range historyOf(t, dir) {
		if failed := trial.ID%2 == 0; failed != (trial.State == "failed") || failed != strings.Contains(trial.Reason, "an even number") {
			t.Errorf("trial %+v", trial)
		}
	}
}

// TestCommandIsCalledOncePerTrial counts what the command itself saw.
func TestCommandIsCalledOncePerTrial(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	count := filepath.Join(shortTempDir(t), "calls")
	for _, evals := range []string{"2", "4", "4", "3"} {
		must(t, join(runLine(file, dir, "--evals", evals), objective("count", count))...)
	}
	calls, err := os.ReadFile(count)
	if err != nil || string(calls) != "1\n2\n3\n4\n" {
		t.Errorf("calls %q, %v", calls, err)
	}
}

// TestFullOutput: nobody reads what is printed, as with `| head -1`.
func TestFullOutput(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	command := nodeCommand(join(runLine(file, dir, "--evals", "2"), objective("bowl"))...)
	command.Stdout = writer
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	_ = command.Wait()
	status, _ := command.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() && command.ProcessState.ExitCode() != base.ExitDone {
		t.Errorf("ended with %v", command.ProcessState)
	}
	must(t, join(runLine(file, dir, "--evals", "2"), objective("bowl"))...) // nothing is damaged
}
