//go:build unix

package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/store"
)

// doctor --repair says in lines what it found and did, and its exit code tells whether the
// journal is whole now.
func TestDoctorRepair(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", privateTask), shortTempDir(t)
	line := func(evals string) []string { return join(runLine(file, dir, "--evals", evals), objective("bowl")) }
	must(t, line("4")...)
	path := filepath.Join(dir, store.JournalFile)
	want := historyOf(t, dir)
	repair := func(what string, code int, says string, flags ...string) string {
		t.Helper()
		e := call(t, join([]string{"doctor", "--repair", "--data-dir", dir}, flags)...)
		if e.code != code || !strings.Contains(e.stdout+e.stderr, says) || strings.Count(e.stderr, "\n") != min(code, 1) {
			t.Errorf("%s: exit code %d, want %d and %q\n%s%s", what, e.code, code, says, e.stdout, e.stderr)
		}
		showable(t, what, e.stdout)
		return e.stdout
	}
	repair("a sound journal", base.ExitDone, "ok    journal         whole: nothing to repair")
	repair("with a task", base.ExitUsage, "--repair takes no TASK", file)

	sleeper := start(t, join(runLine(file, dir, "--json"), objective("sleep"))...)
	sleeper.await(t, "its start", isEvent("node_started"))
	repair("beside a node", base.ExitFailed, "stop that process first")
	interrupt(t, sleeper)

	spoil := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, make([]byte, 10000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spoil(path)
	expectDamage(t, "run", path, call(t, line("5")...))
	text := repair("a journal of zeros", base.ExitDone, "warn  damage")
	for _, part := range []string{"ok    damaged file    kept as " + dir, "ok    journal's copy", `"private", 5 trials, 4 with an outcome`, "it releases nothing more", "ok    journal         whole: 5 trials on 1 task"} {
		if !strings.Contains(text, part) {
			t.Errorf("it does not say %q:\n%s", part, text)
		}
	}
	if got := historyOf(t, dir); len(got) != 5 || !strings.Contains(text, "damaged-") || !reflect.DeepEqual(got[:4], want) {
		t.Errorf("after the repair: %+v, before %+v", got, want)
	}
	if r := privacyOf(t, dir); !strings.Contains(r.Refused, "repaired on") {
		t.Errorf("the promise after the repair: %+v", r)
	}
	if e := call(t, line("6")...); e.code != base.ExitDone || !strings.Contains(e.stdout+e.stderr, "this node shares nothing more: its journal was damaged, and repaired on") {
		t.Errorf("a run after the repair: exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}

	spoil(path)
	var said struct {
		OK       bool
		Repaired store.Repaired
	}
	if err := json.Unmarshal([]byte(repair("as JSON", base.ExitDone, "repaired", "--json")), &said); err != nil || !said.OK || said.Repaired.Copied == nil || len(said.Repaired.Tasks) != 1 {
		t.Errorf("as JSON: %+v, %v", said, err)
	}

	spoil(path)
	spoil(filepath.Join(dir, store.CopyFile))
	repair("without a copy", base.ExitFailed, "restore it from a backup, or move it away to begin anew")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expectDamage(t, "run without a journal beside a copy", path, call(t, line("7")...))
}

// A data directory that others can write is refused by every command in one line.
func TestADataDirectoryThatOthersCanWrite(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		join(runLine(file, dir, "--evals", "1"), objective("bowl")), {"keep", file, "--data-dir", dir}, {"serve", "--data-dir", dir}, {"peer-id", "--data-dir", dir},
		{"status", "--data-dir", dir}, {"history", "--data-dir", dir}, {"doctor", "--repair", "--data-dir", dir}, {"hub", "--data-dir", dir},
	} {
		if e := call(t, args...); e.code != base.ExitFailed || strings.Count(e.stderr, "\n") != 1 || !strings.Contains(e.stderr, "others can write it") || !strings.Contains(e.stderr, dir) {
			t.Errorf("%s: exit code %d\n%s%s", args[0], e.code, e.stdout, e.stderr)
		}
	}
	if e := call(t, "doctor", "--data-dir", dir); e.code != base.ExitFailed || !strings.Contains(e.stdout, "fail  data directory") {
		t.Errorf("doctor: exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("they have made %v, %v", entries, err)
	}
}

// Links that somebody planted below a data directory lead neither the output of trials nor
// what is read elsewhere.
func TestPlantedLinks(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "task.yaml", bowlTask)
	id := strings.TrimSpace(must(t, "task", "id", file))
	for _, at := range []string{"trials", "trials/" + id, "trials/" + id + "/trial-1.log", "peer-shares", store.JournalFile, store.IdentityFile, store.CopyFile + ".new"} {
		dir, outside := shortTempDir(t), shortTempDir(t)
		victim := filepath.Join(outside, "trial-1.log")
		if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		target := outside
		if filepath.Ext(at) != "" {
			target = victim
		}
		link := filepath.Join(dir, filepath.FromSlash(at))
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		e := call(t, join(runLine(file, dir, "--evals", "1"), objective("chatty"))...)
		if strings.Contains(e.stderr, "goroutine") || e.code != base.ExitDone && (e.code != base.ExitFailed || strings.Count(e.stderr, "\n") != 1 || !strings.Contains(e.stderr, "is a symbolic link")) {
			t.Errorf("%s: exit code %d\n%s%s", at, e.code, e.stdout, e.stderr)
		}
		if shown := call(t, "log", "1", "--data-dir", dir); strings.Contains(shown.stdout, "precious") {
			t.Errorf("%s: log shows %q", at, shown.stdout)
		}
		files, err := os.ReadDir(outside)
		if err != nil || len(files) != 1 {
			t.Errorf("%s: outside there are %v, %v", at, files, err)
		}
		if content, err := os.ReadFile(victim); err != nil || string(content) != "precious" {
			t.Errorf("%s: the file outside holds %q, %v", at, content, err)
		}
	}
}
