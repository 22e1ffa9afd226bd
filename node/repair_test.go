package node_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

const promisedBowl = `
name: promised
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
surrogate: {features: 16}
strategy: {type: fts, initial_designs: 2}
privacy: {mechanism: local, epsilon: 4, releases: 40}
`

var repairedAt = time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)

// life is what a node on a directory did in one run.
type life struct {
	warnings []string
	open     node.Status // of the task without a promise
	promised node.Status
}

// live runs a node on a task and on one that promises privacy, up to so many trials each.
// With peers it runs until they were told something of the first, and of the other as well
// where that may be.
func live(t *testing.T, dir string, evals int, peers ...string) (l life) {
	t.Helper()
	var mu sync.Mutex // tasks warn beside each other
	n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Peers: peers, OnWarning: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		l.warnings = append(l.warnings, text)
	}}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	open, promised := join(t, n, bowl, 1), join(t, n, promisedBowl, 2)
	evaluate(t, open, evals)
	evaluate(t, promised, evals)
	eventually(t, "it has shared", func() bool {
		l.open, l.promised = statusOf(t, open), statusOf(t, promised)
		return len(peers) == 0 || l.open.SharesSent > 0 && (spentOf(l.promised).Released > 0 || spentOf(l.promised).Refused != "")
	})
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	return l
}

func journalOf(dir string) string { return filepath.Join(dir, store.JournalFile) }

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func repair(dir string) (store.Repaired, error) {
	return store.Repair(dir, all.Strategies(), repairedAt)
}

func mustRepair(t *testing.T, dir string) store.Repaired {
	t.Helper()
	repaired, err := repair(dir)
	if err != nil {
		t.Fatal(err)
	}
	return repaired
}

// histories are those of all tasks in a directory's journal, by name.
func histories(t *testing.T, dir string) map[string]agent.History {
	t.Helper()
	archive, err := store.OpenArchive(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	ids, err := archive.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]agent.History{}
	for _, id := range ids {
		h, err := archive.History(id, all.Strategies())
		if err != nil {
			t.Fatal(err)
		}
		found[h.Task.Name] = h
	}
	return found
}

// holds tells whether trials begin with these.
func holds(trials, first []strategy.Trial) bool {
	return len(trials) >= len(first) && reflect.DeepEqual(trials[:len(first)], first)
}

// A journal of which nothing is left comes back from its copy, with all trials. Then the
// node goes on, under later epochs, and what promises privacy releases nothing more, now and
// in later runs, and says why.
func TestRepairFromTheCopy(t *testing.T) {
	t.Parallel()
	dir, witness := t.TempDir(), loopback(t)
	join(t, witness, bowl, 3)
	join(t, witness, promisedBowl, 4)
	if l := live(t, dir, 6, witness.Addresses()[0]); spentOf(l.promised).Released == 0 || l.promised.SharesSent == 0 {
		t.Fatalf("before the damage nothing was released: %+v", l.promised)
	}
	before := histories(t, dir)
	damaged := make([]byte, 100000)
	write(t, journalOf(dir), damaged)
	if err := (&node.Node{Strategies: all.Strategies(), Dir: dir}).Start(t.Context()); !errors.Is(err, node.ErrDamaged) {
		t.Fatalf("a start with the damaged journal: %v", err)
	}

	r := mustRepair(t, dir)
	if r.Copied == nil || len(r.Tasks) != 2 || len(r.Lost) != 0 || !strings.Contains(r.Damage, journalOf(dir)) {
		t.Errorf("repaired: %+v", r)
	}
	for _, task := range r.Tasks {
		if task.Trials != 6 || task.Outcomes != 6 || task.Newer+task.Imported+task.Dropped != 0 || task.Conflict || task.Private != (task.Name == "promised") {
			t.Errorf("repaired: %+v", task)
		}
	}
	if !bytes.Equal(readFile(t, r.KeptAs), damaged) || filepath.Dir(r.KeptAs) != dir {
		t.Errorf("the damaged journal is kept as %q, and is another", r.KeptAs)
	}
	after := histories(t, dir)
	for name, h := range before {
		if !reflect.DeepEqual(after[name].Trials, h.Trials) {
			t.Errorf("task %s has the trials %+v, had %+v", name, after[name].Trials, h.Trials)
		}
	}
	if spent := after["promised"].Spent; spent == nil || !strings.Contains(spent.Refused, "2031-05-06") || spent.Released != before["promised"].Spent.Released {
		t.Errorf("spent: %+v, before %+v", spent, before["promised"].Spent)
	}
	if _, err := repair(dir); !errors.Is(err, store.ErrSound) {
		t.Errorf("a second repair: %v", err)
	}
	if _, err := store.CheckCopy(dir, all.Strategies()); err != nil {
		t.Errorf("the new copy: %v", err)
	}

	for run := range 2 {
		l := live(t, dir, 9+3*run, witness.Addresses()[0])
		if l.promised.SharesSent != 0 || spentOf(l.promised).Released != before["promised"].Spent.Released || spentOf(l.promised).Refused == "" {
			t.Errorf("run %d after the repair: %d shares sent, %+v", run+1, l.promised.SharesSent, spentOf(l.promised))
		}
		if l.open.SharesSent == 0 {
			t.Errorf("run %d after the repair: the other task shares nothing", run+1)
		}
		if !strings.Contains(strings.Join(l.warnings, "\n"), "this node shares nothing more: its journal was damaged") {
			t.Errorf("run %d after the repair: warnings %q", run+1, l.warnings)
		}
	}
	for name, h := range histories(t, dir) {
		if !holds(h.Trials, before[name].Trials) || len(h.Trials) != 12 {
			t.Errorf("task %s: %d trials, or others than before", name, len(h.Trials))
		}
	}
}

// What is newer than the copy comes from the damaged file, as far as it is readable.
func TestRepairOfWhatIsNewerThanTheCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	live(t, dir, 4)
	older := readFile(t, filepath.Join(dir, store.CopyFile))
	live(t, dir, 8)
	before := histories(t, dir)
	content := readFile(t, journalOf(dir))
	clear(content[:os.Getpagesize()]) // a header, so that the other is not known to be the newest
	write(t, journalOf(dir), content)
	write(t, filepath.Join(dir, store.CopyFile), older)

	r := mustRepair(t, dir)
	after := histories(t, dir)
	for name, h := range before {
		if !holds(after[name].Trials, h.Trials[:4]) || len(after[name].Trials) < 7 {
			t.Errorf("task %s has %d trials, had %d and 4 in the copy\n%+v", name, len(after[name].Trials), len(h.Trials), r)
		}
	}
	for _, task := range r.Tasks {
		if task.Newer == 0 {
			t.Errorf("%s: nothing newer than the copy: %+v", task.Name, task)
		}
	}
	live(t, dir, 10)
}

// Without a copy what is readable of the file comes back; and without a journal its copy.
func TestRepairOfHalfOfBoth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	live(t, dir, 4)
	before := histories(t, dir)
	content, copied := readFile(t, journalOf(dir)), readFile(t, filepath.Join(dir, store.CopyFile))
	remove := func(name string) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}

	remove(store.CopyFile)
	clear(content[os.Getpagesize() : 2*os.Getpagesize()])
	write(t, journalOf(dir), content)
	if r := mustRepair(t, dir); r.Copied != nil || len(r.Tasks) != 2 {
		t.Errorf("without a copy: %+v", r)
	}
	for name, h := range histories(t, dir) {
		if len(h.Trials) < 3 || !holds(before[name].Trials, h.Trials[:3]) {
			t.Errorf("without a copy task %s has %d trials", name, len(h.Trials))
		}
	}

	write(t, filepath.Join(dir, store.CopyFile), copied)
	remove(store.JournalFile)
	if err := (&node.Node{Strategies: all.Strategies(), Dir: dir}).Start(t.Context()); !errors.Is(err, node.ErrDamaged) {
		t.Errorf("a start without a journal beside a copy: %v", err)
	}
	if _, err := os.Lstat(journalOf(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the start has made a journal: %v", err)
	}
	if r := mustRepair(t, dir); r.KeptAs != "" || r.Copied == nil {
		t.Errorf("without a journal: %+v", r)
	}
	for name, h := range histories(t, dir) {
		if !reflect.DeepEqual(h.Trials, before[name].Trials) {
			t.Errorf("from the copy alone task %s has %d trials", name, len(h.Trials))
		}
	}
}

func TestWhatIsNotRepaired(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := repair(dir); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, node.ErrDamaged) {
		t.Errorf("an empty directory: %v", err)
	}
	if _, err := repair(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}

	n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	evaluate(t, join(t, n, bowl, 1), 2)
	if _, err := repair(dir); !errors.Is(err, node.ErrBusy) {
		t.Errorf("beside a node: %v", err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	sound := readFile(t, journalOf(dir))
	if _, err := repair(dir); !errors.Is(err, store.ErrSound) {
		t.Errorf("a sound journal: %v", err)
	}
	if !bytes.Equal(readFile(t, journalOf(dir)), sound) {
		t.Error("it has changed")
	}

	garbage := []byte(strings.Repeat("garbage ", 10000))
	write(t, journalOf(dir), garbage)
	unlock, err := journal.Lock(journalOf(dir), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repair(dir); !errors.Is(err, node.ErrBusy) {
		t.Errorf("a damaged journal that somebody holds: %v", err)
	}
	unlock()
	for what, spoil := range map[string]func(path string) error{
		"with a damaged copy": func(path string) error { return os.WriteFile(path, garbage, 0o600) },
		"without a copy":      os.Remove,
	} {
		if err := spoil(filepath.Join(dir, store.CopyFile)); err != nil {
			t.Fatal(err)
		}
		if _, err := repair(dir); !errors.Is(err, store.ErrUnrepairable) {
			t.Errorf("%s: %v", what, err)
		}
		if !bytes.Equal(readFile(t, journalOf(dir)), garbage) {
			t.Errorf("%s: the journal is not as it was", what)
		}
		if err := os.WriteFile(filepath.Join(dir, store.CopyFile), nil, 0o600); err != nil { // for the next one
			t.Fatal(err)
		}
	}
}

// damage spoils a journal in one of many ways, at random.
func damage(rng *rand.Rand, sound []byte) (how string, content []byte) {
	content = bytes.Clone(sound)
	size := os.Getpagesize()
	page := rng.IntN(len(content)/size) * size
	switch rng.IntN(6) {
	case 0:
		return "truncated", content[:rng.IntN(len(content))]
	case 1:
		content[rng.IntN(len(content))] ^= 1 << rng.IntN(8)
		return "a bit", content
	case 2:
		for i := range 16 {
			content[page+i] = byte(rng.Uint32())
		}
		return "the header of a page", content
	case 3:
		clear(content[page : page+size])
		return "a page of zeros", content
	case 4:
		for range 100 {
			content[rng.IntN(len(content))] ^= 1 << rng.IntN(8)
		}
		return "many bits", content
	}
	content[page+rng.IntN(128)] ^= 1 << rng.IntN(8)
	return "a bit of a table", content
}

// Whatever happens to a journal: it is whole, or a repair makes it so, with all trials of
// the copy, as they were, and of what is newer nothing that was not there.
func TestRepairOfDamagedJournals(t *testing.T) {
	t.Parallel()
	repairDamaged(t, 30)
}

func repairDamaged(t *testing.T, count uint64) {
	dir := t.TempDir()
	live(t, dir, 4)
	older := readFile(t, filepath.Join(dir, store.CopyFile))
	live(t, dir, 7)
	sound, before := readFile(t, journalOf(dir)), histories(t, dir)
	repairs, newer := 0, 0
	for seed := range count {
		to := t.TempDir()
		how, content := damage(rand.New(rand.NewPCG(seed, 27)), sound)
		write(t, journalOf(to), content)
		write(t, filepath.Join(to, store.CopyFile), older)
		r, err := repair(to)
		if errors.Is(err, store.ErrSound) {
			continue
		}
		if err != nil {
			t.Errorf("%s, seed %d: %v", how, seed, err)
			continue
		}
		repairs++
		if strings.Contains(r.Damage, "\n") {
			t.Errorf("%s, seed %d: %q", how, seed, r.Damage)
		}
		after := histories(t, to)
		for name, h := range before {
			trials := after[name].Trials
			if !holds(trials, h.Trials[:4]) {
				t.Errorf("%s, seed %d: task %s lacks what the copy has: %+v", how, seed, name, trials)
				continue
			}
			for _, trial := range trials[4:] {
				newer++
				if !wasThere(trial, h.Trials[4:]) {
					t.Errorf("%s, seed %d: task %s has %+v", how, seed, name, trial)
				}
			}
		}
		if spent := after["promised"].Spent; spent == nil || spent.Refused == "" {
			t.Errorf("%s, seed %d: spent %+v", how, seed, spent)
		}
		if _, err := repair(to); !errors.Is(err, store.ErrSound) {
			t.Errorf("%s, seed %d: a second repair: %v", how, seed, err)
		}
		if err := os.RemoveAll(to); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d of %d journals were repaired, with %d of %d trials that the copy did not have", repairs, count, newer, repairs*6)
	if repairs == 0 {
		t.Error("no damage was noticed")
	}
}

// wasThere tells whether a trial is one of these, perhaps without its outcome or with
// another number.
func wasThere(trial strategy.Trial, all []strategy.Trial) bool {
	for _, other := range all {
		if trial.Design.Equal(other.Design) && (trial.Outcome == nil || reflect.DeepEqual(trial.Outcome, other.Outcome)) {
			return true
		}
	}
	return false
}

// spentOf returns what a node reports of its task's promise of privacy.
func spentOf(s node.Status) strategy.PrivacySpent {
	spent, _ := strategy.StatusValue[strategy.PrivacySpent](s.Items, strategy.PrivacyKey)
	return spent
}
