//go:build unix

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/exchange/sums"
	"github.com/fbo-node/fbo/internal/store"
)

// newExactFleet returns nodes that compute sums without noise of two observations each.
func newExactFleet(t *testing.T, nodes, evals int, keys string) *fleet {
	t.Helper()
	f := &fleet{evals: evals, script: writeFile(t, "objective.sh", summedObjective)}
	roster := f.enrol(t, nodes)
	for i, n := range f.nodes {
		n.shift = 0.1 * float64(i)
	}
	f.read(t, fmt.Sprintf(`name: exact sums
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
surrogate: {features: 16}
strategy: {type: peer-prior, share: sum, share_every: 2, initial_designs: 4%s, roster: [%s]}
`, keys, strings.Join(roster, ", ")))
	return f
}

// exactSum is a sum in a journal.
type exactSum struct {
	Round        int
	Contributors []int
	Vector       []int64
}

// checkExact checks the journals of nodes that have ended: one sum for each round, enough
// contributors in it, and each trial in at most one contribution.
func (f *fleet) checkExact(t *testing.T) map[int]exactSum {
	t.Helper()
	known, text := map[int]exactSum{}, map[int]string{}
	settings, _ := sums.SettingsOf(f.task)
	for _, n := range f.nodes {
		j, err := parseJournalOfSums(filepath.Join(n.dir, store.JournalFile))
		if err != nil {
			t.Fatal(err)
		}
		for trial, times := range j.spent {
			if times > 1 {
				t.Errorf("%s contributed trial %d %d times", n.id, trial, times)
			}
		}
		for round, records := range j.sums {
			for _, record := range records {
				if text[round] == "" {
					text[round] = record
				}
				if record != text[round] || len(records) > 1 {
					t.Errorf("%s has %d sums of round %d, or another than the others", n.id, len(records), round)
				}
				var s exactSum
				decode(t, record, &s)
				known[round] = s
				if len(s.Contributors) < settings.MinContributors {
					t.Errorf("round %d has %d contributors, expected at least %d", round, len(s.Contributors), settings.MinContributors)
				}
			}
		}
	}
	return known
}

// TestExactSumsOutliveAKilledNode kills one of five nodes as soon as it has contributed to the second
// round. The others get the sum, and the node gets it after its restart.
func TestExactSumsOutliveAKilledNode(t *testing.T) {
	t.Parallel()
	f := newExactFleet(t, 5, 8, "")
	f.startAll(t)
	allow(t, 4, f.nodes...)
	f.summed(t, 1, f.nodes)
	killed := f.nodes[2]
	f.summed(t, 2, f.nodes) // the first four trials make two contributions
	allow(t, 6, f.nodes...)
	contributed(t, 3, []*fleetNode{killed})
	killed.kill(t)
	f.summed(t, 3, f.alive())
	f.start(t, killed, f.evals)
	f.summed(t, 3, []*fleetNode{killed})
	f.finish(t)
	if known := f.checkExact(t); len(known) < 3 {
		t.Errorf("%d sums, expected 3 or more", len(known))
	}
}

// TestExactSumsAreForTheRoster checks the error of a node that is not on the roster.
func TestExactSumsAreForTheRoster(t *testing.T) {
	t.Parallel()
	f := newExactFleet(t, 5, 1, "")
	dir := shortTempDir(t)
	id := strings.TrimSpace(must(t, "peer-id", "--data-dir", dir))
	e := call(t, join(runLine(f.file, dir, "--evals", "1"), objective("bowl"))...)
	want := "this node, " + id + ", is not on the task's roster: only nodes on it can take part in its sums"
	if e.code != base.ExitFailed || e.stdout != "" || strings.Count(e.stderr, "\n") != 1 || !strings.Contains(e.stderr, want) {
		t.Errorf("exit code %d\n%s%s", e.code, e.stdout, e.stderr)
	}
}

// TestExactSumsAreNotForAnOldJournal restores a data directory to its state before two
// contributions. The node contributes nothing more, and gets all sums.
func TestExactSumsAreNotForAnOldJournal(t *testing.T) {
	t.Parallel()
	f := newExactFleet(t, 6, 8, ", min_contributors: 4")
	restored, others := f.nodes[5], f.nodes[:5]
	restored.moves = true
	for _, n := range others {
		f.start(t, n, f.evals)
	}
	f.start(t, restored, 1)
	allow(t, 1, f.nodes...)
	if code := restored.process().wait(t); code != base.ExitDone {
		t.Fatalf("exit code %d", code)
	}
	journal := filepath.Join(restored.dir, store.JournalFile)
	backup, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	f.start(t, restored, f.evals)
	allow(t, 4, f.nodes...)
	f.summed(t, 2, f.nodes)
	if j := restored.journal(t); len(j.dealt) == 0 {
		t.Fatal("the node has contributed to no round")
	}
	restored.kill(t)
	if err := os.WriteFile(journal, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	f.start(t, restored, f.evals)
	restored.process().await(t, "why it contributes no more", func(e event) bool {
		return e.Event == "warning" && strings.Contains(e.Message, "this node contributes to no further sum") && strings.Contains(e.Message, "peers hold contribution")
	})
	allow(t, 6, f.nodes...)
	f.summed(t, 3, f.nodes)
	restored.process().signal(t, syscall.SIGINT)
	restored.process().wait(t)
	if j := restored.journal(t); len(j.spent) > 0 || len(j.sums[3]) != 1 {
		t.Errorf("the restored node has contributed trials %v, and has %d sums of round 3", j.spent, len(j.sums[3]))
	}
}
