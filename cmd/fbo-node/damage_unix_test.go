//go:build unix

package main_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/store"
)

// damageJournal damages a journal at random, in one of three ways.
func damageJournal(rng *rand.Rand, content []byte) (what string, damaged []byte) {
	damaged = bytes.Clone(content)
	size := os.Getpagesize()
	switch rng.IntN(3) {
	case 0:
		length := rng.IntN(len(content))
		return fmt.Sprintf("truncated to %d bytes", length), damaged[:length]
	case 1:
		page := rng.IntN(len(content) / size)
		for i := range 16 {
			damaged[page*size+i] = byte(rng.Uint32())
		}
		return fmt.Sprintf("header of page %d", page), damaged
	}
	at, bit := rng.IntN(len(content)), rng.IntN(8)
	damaged[at] ^= 1 << bit
	return fmt.Sprintf("bit %d of byte %d", bit, at), damaged
}

// A journal that was damaged ends every command with one line that names it and
// exit code 1, and a repair brings all of it back, or nothing is missing and the run goes on.
func TestDamagedJournals(t *testing.T) {
	t.Parallel()
	testDamagedJournals(t, 12)
}

func testDamagedJournals(t *testing.T, count uint64) {
	const evaluations, more = 12, 14
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	line := func(evaluations int) []string {
		return join(runLine(file, dir, "--evals", fmt.Sprint(evaluations)), objective("bowl"))
	}
	must(t, line(evaluations)...)
	path := filepath.Join(dir, store.JournalFile)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(filepath.Join(dir, store.CopyFile))
	if err != nil {
		t.Fatal(err)
	}
	want := historyOf(t, dir)
	refused := 0
	for seed := range count {
		what, damaged := damageJournal(rand.New(rand.NewPCG(seed, 25)), sound)
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, command := range []string{"status", "history"} {
			if e := call(t, command, "--data-dir", dir); e.code == base.ExitDone {
				read++
			} else {
				expectDamage(t, what+": "+command, path, e)
			}
		}
		if d := call(t, "doctor", "--data-dir", dir); (d.code == base.ExitDone) != (read == 2) || strings.Contains(d.stderr, "goroutine") {
			t.Errorf("%s: doctor: exit code %d, while %d of 2 commands could read it\n%s%s", what, d.code, read, d.stdout, d.stderr)
		}
		if e := call(t, line(more)...); e.code != base.ExitDone {
			expectDamage(t, what+": run", path, e)
			refused++
			if err := os.WriteFile(filepath.Join(dir, store.CopyFile), copied, 0o600); err != nil {
				t.Fatal(err)
			}
			if e := call(t, "doctor", "--repair", "--data-dir", dir); e.code != base.ExitDone || e.stderr != "" {
				t.Errorf("%s: doctor --repair: exit code %d\n%s%s", what, e.code, e.stdout, e.stderr)
			} else if got := historyOf(t, dir); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %d trials after the repair, want the %d before", what, len(got), len(want))
			}
			if err := os.RemoveAll(filepath.Join(dir, store.CopyFile)); err != nil { // the next journal is another
				t.Fatal(err)
			}
			continue
		}
		got := historyOf(t, dir)
		if len(got) != more || !reflect.DeepEqual(got[:evaluations], want) {
			t.Errorf("%s: %d trials after the run went on, want the %d before and %d more", what, len(got), evaluations, more-evaluations)
		}
	}
	t.Logf("%d of %d journals are refused, with the others the run went on", refused, count)
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}

// Under a damaged ID nobody looks for a task: the node would begin anew.
func TestJournalWithADamagedTaskID(t *testing.T) {
	t.Parallel()
	file, dir := writeFile(t, "task.yaml", bowlTask), shortTempDir(t)
	line := join(runLine(file, dir, "--evals", "2"), objective("bowl"))
	must(t, line...)
	path := filepath.Join(dir, store.JournalFile)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(must(t, "task", "id", file))
	other := id[:len(id)-2] + "7a" // as well-formed as the right one
	damaged := bytes.ReplaceAll(content, []byte(id), []byte(other))
	if bytes.Equal(damaged, content) {
		t.Fatal("the ID is not in the file")
	}
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	expectDamage(t, "run", path, call(t, line...))
	for _, command := range []string{"status", "history"} {
		expectDamage(t, command, path, call(t, command, "--data-dir", dir))
	}
}

// expectDamage wants one line that says which file is damaged and what to do.
func expectDamage(t *testing.T, what, path string, e ended) {
	t.Helper()
	if e.code != base.ExitFailed || strings.Count(e.stderr, "\n") != 1 || !strings.Contains(e.stderr, path) ||
		!strings.Contains(e.stderr, "damaged") || !strings.Contains(e.stderr, "run fbo-node doctor --repair") {
		t.Errorf("%s: exit code %d\n%s%s", what, e.code, e.stdout, e.stderr)
	}
}
