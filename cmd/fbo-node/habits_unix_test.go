//go:build unix

package main_test

import (
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
)

func TestVersionFlag(t *testing.T) {
	t.Parallel()
	want := must(t, "version")
	for _, flag := range []string{"--version", "-v"} {
		if got := must(t, flag); got != want || !strings.HasPrefix(got, "fbo-node ") {
			t.Errorf("%s prints %q, version prints %q", flag, got, want)
		}
	}
	var build struct{ Version, Revision, Go, System, Arch string }
	decode(t, must(t, "version", "--json"), &build)
	if text := "fbo-node " + build.Version + ", revision " + build.Revision + ", " + build.Go + " " + build.System + "/" + build.Arch + "\n"; text != want {
		t.Errorf("as JSON %q, as text %q", text, want)
	}
}

func TestUnknownNamesHaveSuggestions(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"stauts":            "unknown command \"stauts\"; did you mean `fbo-node status`?; `fbo-node --help` lists the commands",
		"simulat":           "; did you mean `fbo-node simulate`?;",
		"task chekc":        "unknown command \"chekc\"; did you mean `fbo-node task check`?; `fbo-node task --help` lists the commands",
		"zzzzzz":            "unknown command \"zzzzzz\"; `fbo-node --help`",
		"run --eval 3":      "unknown flag: --eval; did you mean `--evals`?; see `fbo-node run --help`",
		"serve --pear x":    "unknown flag: --pear; did you mean `--peer`?;",
		"best --zzzzzzzz":   "unknown flag: --zzzzzzzz; see `fbo-node best --help`",
		"history -x":        "unknown shorthand flag: 'x' in -x; see `fbo-node history --help`",
		"best --format xml": `--format "xml": expected text, json, flags or env; see`,
	} {
		if e := call(t, strings.Fields(line)...); e.code != base.ExitUsage || !strings.Contains(e.stderr, want) || strings.Count(e.stderr, "\n") != 1 {
			t.Errorf("%s: %d, %s", line, e.code, e.stderr)
		}
	}
}

func TestResultsAsJSON(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	must(t, join(runLine(file, dir, "--evals", "2", "--wait-for-peers", "0"), objective("bowl"))...)
	id := strings.TrimSpace(must(t, "task", "id", file))
	for _, c := range []struct {
		args []string
		want map[string]any
	}{
		{[]string{"task", "id", file}, object{"id": id, "name": "bowl"}},
		{[]string{"task", "invite", file}, object{"task": id, "name": "bowl"}},
		{[]string{"task", "invite", file, "--out", dir + "/invite"}, object{"task": id, "file": dir + "/invite"}},
		{[]string{"peer-id", "--data-dir", dir}, object{"peer_id": strings.TrimSpace(must(t, "peer-id", "--data-dir", dir))}},
		{[]string{"export", file, dir + "/trials.csv", "--data-dir", dir}, object{"task": id, "format": "csv", "trials": 2.0, "left_out": 0.0}},
	} {
		var got map[string]any
		decode(t, must(t, append(c.args, "--json")...), &got)
		for key, want := range c.want {
			if got[key] != want {
				t.Errorf("%q: %s is %v, want %v", c.args, key, got[key], want)
			}
		}
	}
}

// TestCompletionOfValues asks the program as a shell does.
func TestCompletionOfValues(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	must(t, join(runLine(file, dir, "--evals", "1", "--wait-for-peers", "0"), objective("bowl"))...)
	id := strings.TrimSpace(must(t, "task", "id", file))
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"sta"}, []string{"status\tShow"}},
		{[]string{"best", "--format", ""}, []string{"text", "json", "flags", "env"}},
		{[]string{"run", "--log-level", ""}, []string{"debug", "info", "warn", "error"}},
		{[]string{"status", "--data-dir", dir, "b"}, []string{"bowl\t" + id}},
		{[]string{"history", "--data-dir", dir, id[:9]}, []string{id + "\tbowl"}},
		{[]string{"run", strings.TrimSuffix(file, ".yaml")}, []string{file}},
		{[]string{"status", "--data-dir", dir + "/none", ""}, nil},
	} {
		lines := strings.Split(call(t, append([]string{"__complete"}, c.args...)...).stdout, "\n")
		if len(c.want) > 0 && len(lines) < len(c.want) {
			t.Errorf("%q: %q, want %q", c.args, lines, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(lines[i], want) {
				t.Errorf("%q: line %d is %q, want %q", c.args, i+1, lines[i], want)
			}
		}
		if rest := lines[len(c.want)]; !strings.HasPrefix(rest, ":") {
			t.Errorf("%q: also %q", c.args, rest)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if script := must(t, "completion", shell); !strings.Contains(script, "fbo-node") {
			t.Errorf("completion %s: %q", shell, script)
		}
	}
}
