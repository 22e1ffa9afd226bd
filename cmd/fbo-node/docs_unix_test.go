//go:build unix

package main_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/sanitize"
)

// follower runs the commands of a page of the documentation, as a reader would, in a
// directory of its own.
type follower struct {
	dir string
	env []string
}

func newFollower(t *testing.T) follower {
	t.Helper()
	f := follower{dir: shortTempDir(t)}
	bin := shortTempDir(t)
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", playVariable, os.Args[0])
	if err := os.WriteFile(filepath.Join(bin, "fbo-node"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	f.env = append(nodeCommand().Env, base.DataDirVariable+"="+filepath.Join(f.dir, "data"), "PATH="+bin+":"+os.Getenv("PATH"))
	for i, variable := range f.env { // the script sets it for the node alone
		if strings.HasPrefix(variable, playVariable+"=") {
			f.env[i] = playVariable + "_UNUSED=1"
		}
	}
	return f
}

// block is a fenced part of a page: a file, when it has a name, or commands.
type block struct{ language, file, text string }

func blocksOf(t *testing.T, page string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+) ?([a-z.]*)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		all = append(all, block{m[1], m[2], m[3]})
	}
	return all
}

// follow writes the block's file, or returns what its commands print.
func (f follower) follow(t *testing.T, b block) string {
	t.Helper()
	if b.file != "" {
		if err := os.WriteFile(filepath.Join(f.dir, b.file), []byte(b.text), 0o600); err != nil {
			t.Fatal(err)
		}
		return ""
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*patienceOfTests) // a block may be dozens of evaluations
	defer cancel()
	command := exec.CommandContext(ctx, "/bin/sh", "-e", "-c", b.text)
	command.Dir, command.Env = f.dir, f.env
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, b.text, out)
	}
	return string(out)
}

// parameterOf returns a number of a trial's design.
func parameterOf(t *testing.T, trial trialJSON, name string) float64 {
	t.Helper()
	var design map[string]any
	decode(t, string(trial.Parameters), &design)
	return design[name].(float64)
}

// TestChangingATask follows docs/changing-a-task.md: every change takes the past
// trials that it can.
func TestChangingATask(t *testing.T) {
	t.Parallel()
	f, imported := newFollower(t), map[string]string{}
	line := regexp.MustCompile(`(\d+) past trials? imported from \S+ (\d+) known already(; left out: \d+ rows? outside the space)?`)
	file := ""
	for _, b := range blocksOf(t, "changing-a-task.md") {
		if b.file != "" {
			file = b.file
		}
		if m := line.FindStringSubmatch(f.follow(t, b)); m != nil {
			imported[file] = strings.Join(m[1:], " ")
		}
	}
	var trials []trialJSON
	decode(t, f.follow(t, block{text: "fbo-node history old.yaml --json"}), &trials)
	inside, adam := 0, 0
	for _, trial := range trials {
		if parameterOf(t, trial, "learning_rate") >= 0.03 {
			inside++
		}
		if strings.Contains(string(trial.Parameters), `"adam"`) {
			adam++
		}
	}
	left := "; left out: " + sanitize.Count(len(trials)-inside, "row") + " outside the space"
	if inside == len(trials) {
		left = ""
	}
	for file, want := range map[string]string{
		"wider.yaml": "6 0 ", "more.yaml": "6 0 ", "renamed.yaml": "6 0 ", "other.yaml": "6 0 ",
		"narrower.yaml": fmt.Sprintf("%d 0 %s", inside, left), "fewer.yaml": fmt.Sprintf("%d 0 ", adam),
	} {
		if imported[file] != want {
			t.Errorf("%s: imported %q, want %q", file, imported[file], want)
		}
	}
	again := f.follow(t, block{text: "fbo-node run wider.yaml --import past.csv --evals 7 -- ./measure"})
	if !strings.Contains(again, "0 past trials imported from past.csv, 6 known already\n") {
		t.Errorf("a second import:\n%s", again)
	}
	decode(t, f.follow(t, block{text: "fbo-node history wider.yaml --json"}), &trials)
	for _, trial := range trials[6:] {
		if trial.Why.Source == "initial" {
			t.Errorf("trial %d is random although 6 are known", trial.ID)
		}
	}
	if len(trials) != 13 {
		t.Errorf("%d trials", len(trials))
	}
}

// TestDocsTablesCommandsWork follows docs/tables.md: the histories of nodes, and a grid, are played.
func TestDocsTablesCommandsWork(t *testing.T) {
	t.Parallel()
	f := newFollower(t)
	f.env = append(f.env, "XDG_CACHE_HOME="+filepath.Join(f.dir, "cache"), "HOME="+f.dir) // where finished runs are kept
	var simulated []string
	for _, b := range blocksOf(t, "tables.md") {
		if out := f.follow(t, b); strings.Contains(b.text, "fbo-node simulate") {
			simulated = append(simulated, out)
		}
	}
	if len(simulated) != 2 {
		t.Fatalf("%d simulations", len(simulated))
	}
	for i, out := range simulated {
		for _, want := range []string{"minimize: 3 agents, 8 evaluations each, 20 repeats", "\npeer-prior ", "compared with ts"} {
			if !strings.Contains(out, want) {
				t.Errorf("simulation %d does not say %q:\n%s", i+1, want, out)
			}
		}
	}
	history, err := os.ReadFile(filepath.Join(f.dir, "sweeps", "0.02.csv"))
	if err != nil || !strings.HasPrefix(string(history), "trial,state,value,learning_rate,layers,source,peer,started,finished,reason,peer_count,why\n1,done,") || strings.Count(string(history), "\n") != 21 {
		t.Errorf("history, %v:\n%s", err, history)
	}
	// The error that the page shows.
	broken := strings.Replace(string(history), "\n3,done,", "\n3,done,0,0.1,7,,,,,,,\n4,done,", 1)
	if err := os.WriteFile(filepath.Join(f.dir, "sweeps", "0.02.csv"), []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	out := f.follow(t, block{text: "fbo-node simulate --family table:task=sweep.yaml,file=sweeps --strategy ts 2>&1 || true"})
	if want := `key file: sweeps/0.02.csv: line 4: parameter "layers": 7 is not accepted; it takes a whole number from 1 to 6`; !strings.Contains(out, want) {
		t.Errorf("%s\ndoes not say %s", out, want)
	}
}

// TestDocsHTTPCommandsWork follows docs/http.md beside a daemon.
func TestDocsHTTPCommandsWork(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"curl", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the page needs %s: %v", program, err)
		}
	}
	f, dir := newFollower(t), shortTempDir(t)
	_, e := startServe(t, dir, "--http", "127.0.0.1:0")
	f.env = append(f.env, base.DataDirVariable+"="+dir, "FBO_URL="+e.URL, "FBO_TOKEN="+filepath.Join(dir, "http.token"))
	var out []string
	for _, b := range blocksOf(t, "http.md") {
		if b.file == "" {
			out = append(out, f.follow(t, b))
		} else {
			f.follow(t, b)
		}
	}
	if len(out) != 6 {
		t.Fatalf("%d blocks of commands", len(out))
	}
	for i, want := range []string{`"name":"bowl","goal":"minimize"`, `"reason":"out of memory"`, `"queued":[{"id":1`, `"stop":{"rule":"program","step":2,"reason":"no progress"}`, `"text":"the sensor was replaced"`, "value  "} {
		if !strings.Contains(out[i], want) {
			t.Errorf("block %d does not say %q:\n%s", i+1, want, out[i])
		}
	}
	if s := statusOf(t, dir); s.Trials["done"] != 6 || s.Trials["failed"] != 1 || s.Trials["stopped"] != 1 || len(s.Trials) > 3 {
		t.Errorf("status %+v", s)
	}
}

// The first pages lead to a task of the reader's own: strangers who follow them on one network do
// not become peers.
func TestFirstPagesInvite(t *testing.T) {
	for page, commands := range map[string]int{"README.md": 4, "docs/tutorial.md": 7} {
		data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if !strings.Contains(text, "fbo-node task invite task.yaml --out task.invite") {
			t.Errorf("%s makes no invitation", page)
		}
		lines := regexp.MustCompile(`(?m)^ *fbo-node (run|keep|hub).* ?task\.yaml.*$`).FindAllString(text, -1)
		if len(lines) < commands {
			t.Errorf("%s has %d commands that take part in a task, the test expects %d or more", page, len(lines), commands)
		}
		for _, line := range lines {
			if !strings.Contains(line, "--invite task.invite") {
				t.Errorf("%s: no invitation in %q", page, line)
			}
		}
	}
}
