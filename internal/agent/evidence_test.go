package agent

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/largetopic"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func privateTask(t testing.TB) *task.Task {
	t.Helper()
	return newTask(t, "cup", concurrent+"}\nprivacy: {mechanism: local, epsilon: 4, releases: 9")
}

func newPrivate(t testing.TB, spec *task.Task, n byte) *driver {
	t.Helper()
	cfg := configOf(t, spec, n)
	cfg.Entropy = rand.Reader
	return newDriver(t, cfg)
}

// fetch lets one agent get all that another one tells, contradictions of the asking one
// going the other way first, and returns how many items that took.
func fetch(to, from *driver) int {
	to.t.Helper()
	for _, c := range to.agent.EquivocationProofs() {
		from.agent.Equivocators(from.now, c)
		from.carryOut()
	}
	items := from.agent.Since(from.now, to.agent.Digest())
	for _, item := range items {
		if item.ConflictingEnvelope != nil {
			c, err := protocol.OpenEquivocationProof(item.Envelope, item.ConflictingEnvelope)
			if err != nil {
				to.t.Fatal(err)
			}
			to.agent.Equivocators(to.now, c)
			to.carryOut()
			continue
		}
		share, err := protocol.Open(item.Envelope)
		if err != nil {
			to.t.Fatal(err)
		}
		_, _ = to.agent.Receive(to.now, share, item.Age)
		to.carryOut()
	}
	to.agent.CaughtUp(to.now, from.self())
	to.carryOut()
	return len(items)
}

func meet(a, b *driver) {
	for range 2 {
		fetch(a, b)
		fetch(b, a)
	}
}

// copyOf is a node with the same key and the same journal.
func copyOf(d *driver) *driver {
	c := &driver{t: d.t, cfg: d.cfg, now: d.now, stamps: map[protocol.Stamp][32]byte{}, journal: slices.Clone(d.journal)}
	c.start()
	return c
}

func (d *driver) released() int { return d.spent().Released }

// spent returns what the agent reports of the task's promise of privacy.
func (d *driver) spent() ledger.State {
	spent, _ := strategy.StatusValue[ledger.State](d.agent.Status(), strategy.PrivacyKey)
	return spent
}

// The receipt of a release outlives the share and the peer's restart. With its journal put
// back to before the release, the author is told it and refuses; among newcomers it shares
// nothing, and tells them nothing that they could vouch for.
func TestReceiptsOutliveTheirShares(t *testing.T) {
	spec := privateTask(t)
	author, witness := newPrivate(t, spec, 1), newPrivate(t, spec, 2)
	meet(author, witness)
	author.run(2, bowl)
	if author.released() != 1 {
		t.Fatalf("%d releases after two observations", author.released())
	}
	meet(author, witness)
	early := slices.Clone(author.journal)
	author.run(2, bowl)
	meet(author, witness)
	if author.released() != 3 {
		t.Fatalf("%d releases after four observations", author.released())
	}

	for _, d := range []*driver{author, witness} {
		d.now = d.now.Add(100 * 24 * time.Hour) // more than any share lives
	}
	received := witness.agent.PeerShares(witness.now)
	witness.start()
	witness.recall(received)

	author.journal = early
	author.start()
	newcomer := newPrivate(t, spec, 3)
	newcomer.now = author.now
	newcomer.start()
	meet(author, newcomer)
	author.run(3, bowl)
	meet(author, newcomer)
	if author.released() != 1 || author.spent().Refused != "" || len(newcomer.agent.evidence.receipts) != 1 {
		t.Errorf("among newcomers: %+v, the newcomer holds %d receipts", author.spent(), len(newcomer.agent.evidence.receipts))
	}
	author.checkWarned("this node shares nothing before a peer is present that knows of this node's release 1")

	meet(author, witness)
	if s := author.spent(); s.Released != 3 || !strings.Contains(s.Refused, "peers hold release 3 of this node, and its journal knows of 1") {
		t.Errorf("told by a witness: %+v", s)
	}
	author.start()
	if s := author.spent(); s.Released != 3 || s.Refused == "" {
		t.Errorf("after a restart: %+v", s)
	}
}

// A node that restarts goes on once a peer has told its last release, and withholds its
// own shares until then.
func TestARestartIsVouchedFor(t *testing.T) {
	spec := privateTask(t)
	author, witness := newPrivate(t, spec, 1), newPrivate(t, spec, 2)
	meet(author, witness)
	author.run(2, bowl)
	meet(author, witness)
	author.start()
	author.run(1, bowl)
	own := func() (kinds []string) {
		for _, item := range author.agent.Since(author.now, nil) {
			if share, err := protocol.Open(item.Envelope); err == nil && share.Author == author.self() {
				kinds = append(kinds, share.Kind)
			}
		}
		return kinds
	}
	if got := own(); author.released() != 1 || slices.Contains(got, "weights") || slices.Contains(got, protocol.ReceiptKind) {
		t.Errorf("before anybody has told: %d releases, tells %q", author.released(), got)
	}
	meet(author, witness)
	author.run(1, bowl)
	if got := own(); author.released() < 2 || !slices.Contains(got, "weights") || !slices.Contains(got, protocol.ReceiptKind) {
		t.Errorf("vouched for: %d releases, tells %q", author.released(), got)
	}
}

// Two copies release beside each other, each with a peer. When the peers meet, they hold
// evidence, which reaches both copies, a bystander and the copies' next starts; everybody
// ends with the same, and says it once.
func TestEvidenceReachesBothCopies(t *testing.T) {
	spec := privateTask(t)
	author := newPrivate(t, spec, 1)
	peers := []*driver{newPrivate(t, spec, 2), newPrivate(t, spec, 3)}
	meet(author, peers[0])
	author.run(2, bowl)
	for _, p := range peers {
		meet(author, p)
	}
	for _, d := range append(peers, author) {
		d.pass(2 * time.Minute) // they lose sight of each other
	}
	copies := []*driver{copyOf(author), copyOf(author)}
	for i, c := range copies {
		meet(c, peers[i])
		c.run(i+1, bowl) // one releases once more, the other twice
		meet(c, peers[i])
		if s := c.spent(); s.Refused != "" || s.Released != 2+i {
			t.Fatalf("copy %d: %+v", i, s)
		}
	}
	meet(peers[0], peers[1])
	bystander := newPrivate(t, spec, 4)
	meet(bystander, peers[1])
	for i, c := range copies {
		meet(c, peers[i])
		if s := c.spent(); s.Released != 4 || !strings.Contains(s.Refused, "two copies of its data directory") {
			t.Errorf("copy %d: %+v", i, s)
		}
		warned := 0
		for _, text := range c.warned() {
			if strings.Contains(text, "this node shares nothing more: ") {
				warned++
			}
		}
		if warned != 1 {
			t.Errorf("copy %d: %d refusals in %q", i, warned, c.warned())
		}
		c.run(2, bowl)
		if c.released() != 4 {
			t.Errorf("copy %d has released after its refusal: %+v", i, c.spent())
		}
		received := c.agent.PeerShares(c.now)
		c.start()
		c.recall(received)
		if s := c.spent(); s.Released != 4 || s.Refused == "" || len(c.agent.EquivocationProofs()) == 0 {
			t.Errorf("copy %d after a restart: %+v", i, s)
		}
	}
	proofs := func(d *driver) string {
		var all []string
		for _, key := range d.agent.evidence.keys() {
			if key.conflict == protocol.ForkedReceipts { // of two shares with one stamp there are always newer ones
				all = append(all, fmt.Sprintf("%v %x", key.author, d.agent.evidence.proofs[key].Digest()))
			}
		}
		return strings.Join(all, "\n")
	}
	all := slices.Concat(peers, copies, []*driver{bystander})
	for range 2 {
		for _, a := range all {
			for _, b := range all {
				if a.self() != b.self() {
					meet(a, b)
				}
			}
		}
	}
	for i, d := range all {
		if got, want := proofs(d), proofs(all[0]); got != want || got == "" {
			t.Errorf("%d holds\n%s\nthe first\n%s", i, got, want)
		}
	}
	for _, item := range peers[0].agent.Since(bystander.now, bystander.agent.Digest()) {
		if c, err := protocol.OpenEquivocationProof(item.Envelope, item.ConflictingEnvelope); err == nil && c.Conflict == protocol.ForkedReceipts {
			t.Error("evidence is told to whoever holds it")
		}
	}
}

// Two shares with one stamp, of which nobody has got both, are noticed by comparing.
func TestDigestsTellSharesOfOneStampApart(t *testing.T) {
	spec := newTask(t, "bowl", concurrent)
	a, b := newDriver(t, configOf(t, spec, 1)), newDriver(t, configOf(t, spec, 2))
	key, stamp := fbotest.Key(t, 50), protocol.Stamp{Epoch: 1, Sequence: 1}
	a.receive(say(t, a, key, "weights", 0, stamp, time.Hour, weights(t, 3, 1)))
	b.receive(say(t, b, key, "weights", 0, stamp, time.Hour, weights(t, 3, 2)))
	fetch(b, a)
	if len(b.agent.evidence.proofs) != 1 || len(b.agent.view(b.now).Shares) != 1 {
		t.Errorf("the asking one knows of %d contradictions and believes %v", len(b.agent.evidence.proofs), b.agent.view(b.now).Shares)
	}
	fetch(a, b)
	if len(a.agent.evidence.proofs) != 1 {
		t.Error("the asked one is not told")
	}
}

// Receipts are bounded: a newcomer displaces an author that has been silent, one that was
// never met first, and never one that was for one that was not.
func TestReceiptsAreBounded(t *testing.T) {
	now := epochStart
	s := newEvidence("self", 5, map[peer.ID]bool{"author 0000": true})
	judge := func(author peer.ID, now time.Time) ShareResult {
		result, err := s.judge(now, protocol.Share{Key: protocol.Key{Author: author}}, protocol.Receipt{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	for i := range maxAuthors {
		judge(peer.ID(fmt.Sprintf("author %04d", i)), now.Add(time.Duration(i)*time.Second))
	}
	if result := judge("newcomer", now.Add(time.Second)); result != Stale {
		t.Errorf("a newcomer while all are there: %v", result)
	}
	later := now.Add(largetopic.ProtectedTime + maxAuthors*time.Second)
	if result := judge("newcomer", later); result != Accepted || len(s.receipts) != maxAuthors {
		t.Errorf("a newcomer when others have fallen silent: %v, %d authors", result, len(s.receipts))
	}
	if _, held := s.receipts["author 0000"]; !held {
		t.Error("an author that was met is forgotten for one that was not")
	}
	if _, held := s.receipts["author 0001"]; held {
		t.Error("the author that has been silent the longest is still there")
	}
	if result := judge("self", later); result != Accepted {
		t.Errorf("the own receipt: %v", result)
	}
}

func TestReceiptsThatAreMalformed(t *testing.T) {
	d := newPrivate(t, privateTask(t), 1)
	key, stamp := fbotest.Key(t, 50), protocol.Stamp{Epoch: 1, Sequence: 1}
	long, err := protocol.Receipt{Releases: make([]protocol.ReleaseName, 10)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, share := range map[string]protocol.Share{
		"more than planned": say(t, d, key, protocol.ReceiptKind, 0, stamp, time.Hour, long),
		"noise":             say(t, d, key, protocol.ReceiptKind, 0, stamp, time.Hour, []byte("noise")),
		"another slot":      say(t, d, key, protocol.ReceiptKind, 1, stamp, time.Hour, nil),
	} {
		if result := d.receive(share); result != Malformed {
			t.Errorf("%s: %v", name, result)
		}
	}
	open := newBowl(t)
	if result := open.receive(say(t, open, key, protocol.ReceiptKind, 0, stamp, time.Hour, nil)); result != Stale {
		t.Errorf("where nothing is promised: %v", result)
	}
}
