//go:build unix

package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/cli/taskcmd"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/protocol"
)

// keeper starts a node, which runs until the test ends or stops it.
func keeper(t *testing.T, file, dir string, peers ...*process) *process {
	t.Helper()
	p := start(t, join(runLine(file, dir, join([]string{"--json"}, toPeers(t, peers...))...), objective("steady"))...)
	p.await(t, "its start", isEvent("node_started"))
	return p
}

func toPeers(t *testing.T, peers ...*process) (flags []string) {
	t.Helper()
	for _, p := range peers {
		flags = append(flags, "--peer", p.address(t))
	}
	return flags
}

// interrupt ends a node as Ctrl-C does.
func interrupt(t *testing.T, p *process) {
	t.Helper()
	p.signal(t, syscall.SIGINT)
	<-p.ended
}

// weightsSent counts the releases that a node has published.
func weightsSent(p *process) (count int) {
	for _, e := range p.of("share_sent") {
		if e.Kind == "weights" {
			count++
		}
	}
	return count
}

// releasing runs a node for six evaluations, and for six more until it has made more releases than
// before: on a busy machine its evaluations may end before it knows of the peers. It returns the number
// of all its releases, which the peers have received by then.
func releasing(t *testing.T, file, dir string, before int, peers ...*process) int {
	t.Helper()
	for evals := 6; ; evals += 6 {
		p := start(t, join(runLine(file, dir, join([]string{"--json", "--evals", strconv.Itoa(evals)}, toPeers(t, peers...))...), objective("steady"))...)
		if code := p.wait(t); code != base.ExitDone {
			t.Fatalf("exit code %d", code)
		}
		awaitReleases(t, p, peers...)
		if released := privacyOf(t, dir).Released; released > before {
			return released
		}
		if evals > 100 {
			t.Fatalf("no release after %d evaluations", evals)
		}
	}
}

// awaitReleases waits until peers have the newest release of a node, also if it makes one meanwhile.
func awaitReleases(t *testing.T, p *process, peers ...*process) {
	t.Helper()
	author := p.await(t, "its start", isEvent("node_started")).PeerID
	for known := 0; known != weightsSent(p); {
		known = weightsSent(p)
		var last protocol.Stamp
		for _, e := range p.of("share_sent") {
			if e.Kind == "weights" {
				last = e.Stamp
			}
		}
		for _, peer := range peers {
			peer.await(t, "the last release", func(e event) bool {
				return e.Event == "share_received" && e.Kind == "weights" && e.Peer == author && e.Stamp.Compare(last) >= 0
			})
		}
	}
}

// manyReleases is privateTask with room for releases of several runs.
func manyReleases(t *testing.T) string {
	t.Helper()
	return writeFile(t, "task.yaml", strings.Replace(privateTask, "releases: 3", "releases: 40", 1))
}

// copyDir copies the files of a data directory that no node uses.
func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := shortTempDir(t)
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{store.IdentityFile, store.JournalFile} {
		if err := os.Chmod(filepath.Join(to, private), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func isWarning(text string) func(event) bool {
	return func(e event) bool { return e.Event == "warning" && strings.Contains(e.Message, text) }
}

// TestARestoredBackupAmongNewcomers restores a journal to its state after the first releases. Among
// newcomers, which do not know of the others, the node shares nothing and warns, also in the next run.
// Once a peer that has received them joins, the node refuses permanently and reports what is spent.
func TestARestoredBackupAmongNewcomers(t *testing.T) {
	t.Parallel()
	file, dir, dirOfWitness := manyReleases(t), shortTempDir(t), shortTempDir(t)
	witness := keeper(t, file, dirOfWitness)
	early := releasing(t, file, dir, 0, witness)
	backup := copyDir(t, dir)
	late := releasing(t, file, dir, early, witness)
	interrupt(t, witness)

	newcomer := keeper(t, file, shortTempDir(t))
	for range 2 {
		p := keeper(t, file, backup, newcomer)
		p.await(t, "why nothing is shared", isWarning("this node shares nothing before a peer is present that knows of this node's release"))
		ended := len(p.of("trial_finished"))
		p.await(t, "ten more evaluations", func(event) bool { return len(p.of("trial_finished")) >= ended+10 })
		if n := weightsSent(p); n != 0 {
			t.Errorf("%d releases after the restoration", n)
		}
		interrupt(t, p)
	}
	if r := privacyOf(t, backup); r.Released != early || r.Refused != "" {
		t.Errorf("among newcomers: %+v", r.State)
	}

	keeper(t, file, dirOfWitness, newcomer)
	p := keeper(t, file, backup, newcomer)
	p.await(t, "the refusal", isWarning("restored from a backup"))
	interrupt(t, p)
	if r := privacyOf(t, backup); r.Released != late || r.Refused == "" || !(r.Spent > 0) {
		t.Errorf("the witness knows of %d releases: %+v, ε = %g", late, r.State, r.Spent)
	}
	if n := weightsSent(p); n != 0 {
		t.Errorf("%d releases by a restored journal", n)
	}
}

// copied is a node whose data directory exists twice, both with one journal that has some
// releases.
type copied struct {
	file, script string
	before       int // releases
	dirs, limits [2]string
}

// copyOf lets a node release to peers, ends it and copies its data directory.
func copyOf(t *testing.T, file string, peers ...*process) (c copied) {
	t.Helper()
	c = copied{file: file, script: writeFile(t, "objective.sh", summedObjective), dirs: [2]string{shortTempDir(t)}}
	for i := range c.limits {
		c.limits[i] = writeFile(t, "limit", "6\n")
	}
	p := c.start(t, 0, peers...)
	p.await(t, "six trials", finishedTrial(6))
	p.await(t, "a release", func(event) bool { return weightsSent(p) > 0 }) // needs its peers, which may come later
	awaitReleases(t, p, peers...)
	interrupt(t, p)
	if c.before = privacyOf(t, c.dirs[0]).Released; c.before == 0 {
		t.Fatal("nothing was released")
	}
	c.dirs[1] = copyDir(t, c.dirs[0])
	return c
}

// start runs a copy that makes the observations which its limit allows.
func (c copied) start(t *testing.T, i int, peers ...*process) *process {
	t.Helper()
	flags := join([]string{"--json"}, toPeers(t, peers...), []string{"--", "sh", c.script, c.limits[i], "0"})
	p := start(t, runLine(c.file, c.dirs[i], flags...)...)
	p.await(t, "its start", isEvent("node_started"))
	return p
}

func (c copied) allow(t *testing.T, trial int) {
	t.Helper()
	for i, limit := range c.limits {
		allow(t, trial, &fleetNode{dir: c.dirs[i], limit: limit})
	}
}

func finishedTrial(id uint64) func(event) bool {
	return func(e event) bool { return e.Event == "trial_finished" && e.Trial.ID == id }
}

// releasesIn counts those that a node has made itself, by its journal.
func releasesIn(t *testing.T, dir string) (count int) {
	t.Helper()
	opened, err := journal.OpenReadOnly(filepath.Join(dir, store.JournalFile), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	tasks, err := opened.Tasks()
	if err != nil || len(tasks) != 1 {
		t.Fatalf("tasks %v, %v", tasks, err)
	}
	log, err := opened.Log(tasks[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Replay(func(entry journal.Entry) error {
		record, err := agent.DecodeRecord(entry.Data)
		if err == nil && record.Note != nil && bytes.Contains(record.Note.Data, []byte(`"release":`)) {
			count++
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return count
}

// refused waits until copies that have released refuse and have heard of all releases,
// ends them, and holds what they say to be spent against what their journals count.
func (c copied) refused(t *testing.T, copies [2]*process) {
	t.Helper()
	for _, p := range copies { // one that refuses early has to stay, to pass on its proof
		p.await(t, "the refusal", isWarning("this node shares nothing more: two copies of its data directory"))
	}
	var said [2]taskcmd.PrivacyReport
	// Two shares with one stamp tell that there is a copy; its receipts come after that.
	for began := time.Now(); time.Since(began) < patienceOfTests; time.Sleep(100 * time.Millisecond) {
		for i, dir := range c.dirs {
			said[i] = privacyOf(t, dir)
		}
		if said[0].Released == said[1].Released && said[0].Released > c.before+1 {
			break
		}
	}
	var own [2]int
	for i, p := range copies {
		interrupt(t, p)
		own[i] = releasesIn(t, c.dirs[i])
	}
	for i, p := range copies {
		r := said[i]
		if r.Refused == "" || r.Released != own[0]+own[1]-c.before || !(r.Spent > 0) {
			t.Errorf("copy %d: %d releases before, %d by the copies' journals: %+v, ε = %g", i, c.before, own, r.State, r.Spent)
		}
		for _, e := range p.of("warning") {
			t.Logf("copy %d: %s", i, e.Message)
		}
	}
}

// Two copies have one peer, which treats them as one node and may receive from one of them alone. A
// copy that has not released by then learns from the peer that the other one has. If both have, both
// refuse further releases.
func TestTwoCopiesWithOnePeer(t *testing.T) {
	t.Parallel()
	file := manyReleases(t)
	peer := keeper(t, file, shortTempDir(t))
	c := copyOf(t, file, peer)
	var copies [2]*process
	for i := range copies {
		copies[i] = c.start(t, i, peer)
	}
	time.Sleep(3 * time.Second) // a window in which one copy meets the peer; the other may never do
	c.allow(t, 7)
	for _, p := range copies {
		p.await(t, "seven trials", finishedTrial(7))
	}
	sends := func() bool { return weightsSent(copies[0])+weightsSent(copies[1]) > 0 }
	for began := time.Now(); !sends() && time.Since(began) < patienceOfTests; {
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(time.Second) // a window for a release of the other, which may not come
	sent := [2]int{weightsSent(copies[0]), weightsSent(copies[1])}
	t.Logf("releases of the copies: %d", sent)
	switch {
	case sent[0]+sent[1] == 0:
		t.Error("no copy releases, although a peer knows the last release")
	case sent[0] > 0 && sent[1] > 0:
		c.refused(t, copies)
	default:
		silent := copies[0]
		if sent[0] > 0 {
			silent = copies[1]
		}
		silent.await(t, "that the other has released", isWarning("this node shares nothing more"))
	}
}
