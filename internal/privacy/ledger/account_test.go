package ledger

import (
	"slices"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol"
)

// run is one run of a node on a journal, which it may share with nobody.
type run struct {
	t        testing.TB
	ledger   *Ledger
	journal  [][]byte
	reported protocol.Receipt // that it has announced
	tells    bool
}

func begin(t testing.TB, seed byte, journal [][]byte) *run {
	t.Helper()
	l, err := NewLedger(parse(t, "epsilon: 4, releases: 50"), entropy(seed))
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range journal {
		l.Replay(record)
	}
	r := &run{t: t, ledger: l, journal: slices.Clone(journal)}
	r.announce()
	return r
}

func (r *run) announce() {
	r.t.Helper()
	if payload := r.ledger.Announce(); payload != nil {
		var err error
		if r.reported, err = protocol.DecodeReceipt(payload, 50); err != nil {
			r.t.Fatal(err)
		}
		r.tells = true
	}
}

func (r *run) note(record []byte, _ string) {
	if record != nil {
		r.journal = append(r.journal, record)
	}
	r.announce()
}

// trusts tells whether the run would release to one peer that has told all.
func (r *run) trusts() bool {
	r.ledger.CaughtUp("b")
	return r.ledger.Open() && r.ledger.Trusted([]peer.ID{"a", "b"})
}

func (r *run) release() protocol.Receipt {
	r.t.Helper()
	_, _, record, err := r.ledger.Release(weights(0))
	if err != nil {
		r.t.Fatal(err)
	}
	r.note(record, "")
	return r.reported
}

// An account that begins in a run needs nobody. In later runs a peer must have told the
// last release, or the one before, or where there is none that it knows the node; until
// then the node tells nobody how far it is.
func TestAccountTrustsAfterReceipt(t *testing.T) {
	first := begin(t, 1, nil)
	if !first.tells || !first.trusts() {
		t.Fatal("a new account is not trusted")
	}
	if again := begin(t, 2, first.journal); !again.trusts() {
		t.Error("an account of which nobody has heard is not trusted")
	}
	first.note(first.ledger.Reconcile(first.reported))
	if again := begin(t, 2, first.journal); again.trusts() || again.tells {
		t.Error("without a release, an account that peers know is trusted before one tells it")
	}
	receipts := []protocol.Receipt{first.reported}
	for range 4 {
		receipts = append(receipts, first.release())
		first.note(first.ledger.Reconcile(first.reported))
	}
	for i, r := range receipts {
		again := begin(t, 2, first.journal)
		again.note(again.ledger.Reconcile(r))
		if got, want := again.trusts(), i >= 3; got != want || again.tells != want || again.ledger.State().Refused != "" {
			t.Errorf("told release %d of 4: trusted %v, tells %v, %+v", i, got, again.tells, again.ledger.State())
		}
	}
}

// After releases whose receipts no peer has stored, a peer confirms the account that stores as much as
// any peer did. Otherwise a node that crashes while its network fails would release nothing more.
func TestAccountTrustsAfterReceiptsThatNoPeerStored(t *testing.T) {
	for _, unread := range []int{0, 1, 2, 3} {
		first := begin(t, 1, nil)
		receipts := []protocol.Receipt{first.reported}
		for range 3 {
			receipts = append(receipts, first.release())
			first.note(first.ledger.Reconcile(first.reported))
		}
		for range unread {
			receipts = append(receipts, first.release())
			first.note(first.ledger.Reconcile(receipts[3])) // of a peer that the new receipt does not reach
		}
		for i, r := range receipts {
			again := begin(t, 2, first.journal)
			again.note(again.ledger.Reconcile(r))
			if got, want := again.trusts(), i >= min(3, 2+unread); got != want || again.tells != want || again.ledger.State().Refused != "" {
				t.Errorf("%d releases unread, receipt of %d: trusted %v, sends its own %v, %+v", unread, i, got, again.tells, again.ledger.State())
			}
		}
	}
}

// What waits says so once.
func TestAccountWarnsOnceWhileWaiting(t *testing.T) {
	first := begin(t, 1, nil)
	first.release()
	first.release()
	present := []peer.ID{"a", "b"}
	again := begin(t, 2, first.journal)
	if text := again.ledger.Waits(present); text != "" {
		t.Errorf("before anybody has told: %q", text)
	}
	again.ledger.CaughtUp("b")
	if text := again.ledger.Waits(present); !strings.Contains(text, "knows of this node's release 2") {
		t.Errorf("told %q", text)
	}
	if text := again.ledger.Waits(present); text != "" {
		t.Errorf("told again %q", text)
	}
}

// However copies, backups, peers and restarts are mixed: whoever is told what its journal
// does not know refuses for good, knows of all releases that it was told and of its own,
// and a run that starts from a backup releases nothing before it has heard from somebody
// who was there.
func TestNoJournalReleasesPastWhatItIsTold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var backups [][][]byte                  // journals as they were at some time
		holds := map[int]protocol.Receipt{}     // of peers
		made := map[protocol.ReleaseName]bool{} // all releases of the node
		backups = append(backups, nil)
		for step := range rapid.IntRange(1, 12).Draw(rt, "runs") {
			from := rapid.IntRange(0, len(backups)-1).Draw(rt, "backup")
			r := begin(t, byte(step+1), backups[from])
			fresh := len(backups[from]) == 0
			received, knew := false, map[protocol.ReleaseName]bool{}
			for _, name := range r.ledger.journal.Releases {
				knew[name] = true
			}
			for range rapid.IntRange(0, 4).Draw(rt, "peers met") {
				id := rapid.IntRange(0, 3).Draw(rt, "peer")
				held, ok := holds[id]
				if ok {
					unknown := r.ledger.journal.Common(held) < len(held.Releases)
					r.note(r.ledger.Reconcile(held))
					received = true
					if unknown && r.ledger.State().Refused == "" {
						rt.Fatalf("told %v, the journal has %v: goes on", held, r.ledger.journal)
					}
					for _, name := range held.Releases {
						knew[name] = true
					}
				}
				for range rapid.IntRange(0, 2).Draw(rt, "releases") {
					if !r.trusts() {
						continue
					}
					if !fresh && !received {
						rt.Fatal("a release from a journal for which nobody has vouched")
					}
					receipt := r.release()
					name := receipt.Releases[len(receipt.Releases)-1]
					made[name], knew[name] = true, true
				}
				if r.tells && !r.reported.Forked(holds[id]) && len(r.reported.Releases) >= len(holds[id].Releases) {
					holds[id] = r.reported
				}
			}
			// What a run before the backup was told, its refusal has counted.
			if s := r.ledger.State(); s.Released < len(knew) || s.Released > len(made) || s.Refused == "" && s.Released != len(r.ledger.journal.Releases) {
				rt.Fatalf("%d releases were told or made, of %d in all; the state is %+v", len(knew), len(made), s)
			}
			after := begin(t, 99, r.journal)
			if after.ledger.State() != r.ledger.State() {
				rt.Fatalf("after a restart %+v, before %+v", after.ledger.State(), r.ledger.State())
			}
			backups = append(backups, r.journal)
		}
	})
}

// Evidence counts the releases of both copies, once each, and both tell their receipt so
// that the other side learns of it.
func TestEvidenceCountsBothCopies(t *testing.T) {
	origin := begin(t, 1, nil)
	origin.release()
	shared := origin.release()
	copies := []*run{begin(t, 2, origin.journal), begin(t, 3, origin.journal)}
	for _, c := range copies {
		c.note(c.ledger.Reconcile(shared))
	}
	copies[0].release()
	copies[0].release()
	copies[1].release()
	record, reason := copies[1].ledger.Reconcile(copies[0].reported)
	if s := copies[1].ledger.State(); record == nil || s.Released != 5 || !strings.Contains(reason, "two copies") || !strings.Contains(reason, "5 releases known to be made, ε = ") {
		t.Errorf("record %s, reason %q, %+v", record, reason, s)
	}
	late := begin(t, 4, append(slices.Clone(origin.journal), copies[1].journal[len(origin.journal):]...))
	if late.tells {
		t.Fatal("told before anybody has vouched")
	}
	late.note(late.ledger.Reconcile(copies[0].reported))
	if !late.tells || !late.reported.Forked(copies[0].reported) {
		t.Errorf("the forked account is not announced: %v", late.reported)
	}
}
