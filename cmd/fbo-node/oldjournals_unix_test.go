//go:build unix

package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// testdata/journals.tar.gz holds data directories that the build of commit 47c6af8
// left, with their task files:
//
//	NAME.yaml, NAME/identity.key, NAME/journal.db
//	NAME.history    fbo-node history NAME.yaml --data-dir NAME --json
//	NAME.privacy    fbo-node privacy NAME.yaml --data-dir NAME --json
//
// They were made by `fbo-node run NAME.yaml --data-dir NAME --mdns=false --seed 5
// --evals 9 -- python3 objective.py` and once more with --evals 12. The objective fails
// for n = 8 and prints a value, a constraint and a metric. peer-prior has two past
// trials besides, by --import. fts-de-a and fts-de-b are the two nodes of one roster
// and ran together, once; so did fts-peer with a node that is not kept.
const oldJournals = "testdata/journals.tar.gz"

// Journals of before are read, and a run continues them.
func TestOldJournals(t *testing.T) {
	t.Parallel()
	dir := shortTempDir(t)
	unpack(t, oldJournals, dir)
	tasks, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(tasks) != 9 {
		t.Fatalf("tasks %q, %v", tasks, err)
	}
	for _, file := range tasks {
		data := strings.TrimSuffix(file, ".yaml")
		t.Run(filepath.Base(data), func(t *testing.T) {
			history := must(t, "history", file, "--data-dir", data, "--json")
			if want := renamed(readText(t, data+".history")); history != want {
				t.Errorf("history is\n%s\nwant\n%s", history, want)
			}
			if want, err := os.ReadFile(data + ".privacy"); err == nil {
				samePrivacy(t, must(t, "privacy", file, "--data-dir", data, "--json"), string(want))
			} else if strings.HasPrefix(filepath.Base(data), "fts-de") {
				t.Error(err)
			}
			continues(t, file, data)
		})
	}
}

// samePrivacy compares what privacy says with what the version of the journal said of it.
// That version asked for a little more noise, and took what is spent for as much.
func samePrivacy(t *testing.T, text, of string) {
	t.Helper()
	var got, want privacyReport
	decode(t, text, &got)
	decode(t, of, &want)
	if ratio := got.Noise / want.Noise; ratio < 0.9 || ratio >= 1 {
		t.Errorf("the noise is %g of what it was", ratio)
	}
	if math.Abs(got.Spent-want.Spent) > 0.01*want.Spent {
		t.Errorf("ε %g is spent, it was %g", got.Spent, want.Spent)
	}
	got.Noise, got.Spent, got.Costs = want.Noise, want.Spent, want.Costs
	if got.Sums != nil && want.Sums != nil {
		got.Sums.All, got.Sums.Least, got.Sums.Heard = want.Sums.All, want.Sums.Least, want.Sums.Heard
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("privacy is\n%s\nwant, but for the noise\n%s", text, of)
	}
}

// renamed gives a stamp the names that its parts have now.
func renamed(history string) string {
	return strings.NewReplacer(`"Epoch"`, `"epoch"`, `"Sequence"`, `"sequence"`).Replace(history)
}

// continues makes two more evaluations.
func continues(t *testing.T, file, dir string) {
	t.Helper()
	before, status := rawHistory(t, dir), statusOf(t, dir)
	own := 0
	for _, trial := range historyOf(t, dir) {
		if trial.State == "done" && trial.Attempts > 0 { // imported trials have none
			own++
		}
	}
	e := call(t, join(runLine(file, dir, "--evals", strconv.Itoa(own+2)), objective("bowl"))...)
	if e.code != exitDone {
		t.Fatalf("exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	after, now := rawHistory(t, dir), statusOf(t, dir)
	if len(after) != len(before)+2 || !reflect.DeepEqual(after[:len(before)], before) {
		t.Errorf("the history was\n%s\nand is\n%s", before, after)
	}
	if now.Starts != status.Starts+1 || now.Trials["done"] != status.Trials["done"]+2 {
		t.Errorf("the status was %+v and is %+v", status, now)
	}
}

func rawHistory(t *testing.T, dir string) (trials []json.RawMessage) {
	t.Helper()
	decode(t, must(t, "history", "--json", "--data-dir", dir), &trials)
	return trials
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// unpack writes the files of an archive below a directory.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for reader := tar.NewReader(unzipped); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}
