package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/largetopic"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// Limits on stored proofs against other authors. They are needed because identities cost nothing.
const (
	maxContradicted      = maxAuthors / 2
	maxContradictedBytes = 4 << 20
)

// evidence holds the items that an agent stores permanently and sends to all peers, including the
// items' authors. These are the receipts of DP releases, and proofs that an author signed two
// contradictory shares.
type evidence struct {
	self     peer.ID
	releases int // number of DP releases that the task plans; 0: the task has no privacy budget and no receipts
	met      map[peer.ID]bool
	receipts map[peer.ID]receipt // the longest receipt of each author; the agent's own only after its publication in this run
	proofs   map[equivocation]protocol.EquivocationProof
}

type receipt struct {
	share      protocol.Share
	statements protocol.Receipt
	received   time.Time // time at which the author sent the receipt
}

// equivocation identifies a proof; there is at most one per author and kind of conflict.
type equivocation struct {
	author   peer.ID
	conflict protocol.Conflict
}

func newEvidence(self peer.ID, releases int, met map[peer.ID]bool) evidence {
	return evidence{self: self, releases: releases, met: met, receipts: map[peer.ID]receipt{}, proofs: map[equivocation]protocol.EquivocationProof{}}
}

// decode checks a receipt against the task.
func (t *evidence) decode(share protocol.Share) (protocol.Receipt, error) {
	statements, err := protocol.DecodeReceipt(share.Payload, t.releases)
	if err == nil && share.Slot != 0 {
		err = fmt.Errorf("%w: receipt in slot %d, expected 0", protocol.ErrMalformed, share.Slot)
	}
	return statements, err
}

// judge stores a decoded receipt if it is new. The age of a receipt does not matter, since receipts
// do not expire.
func (t *evidence) judge(now time.Time, share protocol.Share, statements protocol.Receipt, age time.Duration) (ShareResult, error) {
	known, ok := t.receipts[share.Author]
	switch {
	case ok && known.statements.Forked(statements):
		return Equivocation, fmt.Errorf("%s signed two accounts of its releases that differ after release %d", share.Author, known.statements.Common(statements))
	case ok && len(statements.Releases) == len(known.statements.Releases):
		return Duplicate, nil
	case ok && len(statements.Releases) < len(known.statements.Releases):
		return Stale, nil
	case !ok && !t.makeRoom(now, share.Author):
		return Stale, nil
	}
	t.receipts[share.Author] = receipt{share, statements, now.Add(-age)}
	return Accepted, nil
}

// makeRoom reports whether a receipt of the author can be stored, and may evict another author for
// it. It evicts authors that were never met (see contacts) first, then the author with the oldest
// receipt. It evicts no author whose receipt is younger than largetopic.ProtectedTime, and no met author for an
// unmet one.
func (t *evidence) makeRoom(now time.Time, author peer.ID) bool {
	if len(t.receipts) < maxAuthors || author == t.self {
		return true
	}
	var silent peer.ID
	for other, r := range t.receipts {
		if other != t.self && (silent == "" || t.evictedBefore(other, silent, r.received.Compare(t.receipts[silent].received))) {
			silent = other
		}
	}
	if now.Sub(t.receipts[silent].received) <= largetopic.ProtectedTime || t.met[silent] && !t.met[author] {
		return false
	}
	delete(t.receipts, silent)
	return true
}

func (t *evidence) evictedBefore(author, other peer.ID, received int) bool {
	if t.met[author] != t.met[other] {
		return t.met[other]
	}
	return received < 0 || received == 0 && author < other
}

// add stores a proof if it takes precedence over the stored one of the same author and conflict. If
// there is no room, a proof against an author that was met replaces all proofs against authors that
// were never met.
func (t *evidence) add(c protocol.EquivocationProof) bool {
	author := c.First.Author
	if c.Conflict == protocol.ForkedReceipts && t.releases == 0 {
		return false // a task without receipts cannot have such a proof
	}
	key := equivocation{author, c.Conflict}
	if known, ok := t.proofs[key]; ok && c.Compare(known) <= 0 {
		return false
	}
	before := t.proofs[key]
	delete(t.proofs, key)
	if author != t.self && !t.fits(c) {
		if t.met[author] {
			maps.DeleteFunc(t.proofs, func(k equivocation, _ protocol.EquivocationProof) bool { return k.author != t.self && !t.met[k.author] })
		}
		if !t.fits(c) {
			if before.Bytes() > 0 {
				t.proofs[key] = before
			}
			return false
		}
	}
	t.proofs[key] = c
	return true
}

func (t *evidence) fits(c protocol.EquivocationProof) bool {
	bytes := c.Bytes()
	for _, other := range t.proofs {
		bytes += other.Bytes()
	}
	return bytes <= maxContradictedBytes && len(t.proofs) < maxContradicted
}

func (t *evidence) authors() []peer.ID { return slices.Sorted(maps.Keys(t.receipts)) }

func (t *evidence) keys() []equivocation {
	return slices.SortedFunc(maps.Keys(t.proofs), func(a, b equivocation) int {
		return cmp.Or(cmp.Compare(a.author, b.author), cmp.Compare(a.conflict, b.conflict))
	})
}

// digest returns the IDs of the stored receipts and proofs, without the agent's own receipt. Since
// its ID is missing, peers send that receipt, and the agent learns how much of its account they
// have.
func (t *evidence) digest() (digest []protocol.ShareID) {
	for _, author := range t.authors() {
		if author != t.self {
			digest = append(digest, protocol.ShareIDOf(t.receipts[author].share))
		}
	}
	for _, key := range t.keys() {
		digest = append(digest, protocol.ProofID(t.proofs[key]))
	}
	return digest
}

// since returns the items that a peer does not have, given the IDs of those that it has. It
// includes a receipt that differs from the peer's even if the peer's is longer, because that one
// may come from another journal of the same author.
func (t *evidence) since(known []protocol.ShareID, now time.Time) (items []protocol.SyncItem) {
	held := make(map[protocol.Key][protocol.DigestBytes]byte, len(known))
	for _, h := range known {
		held[h.Key] = h.Digest
	}
	lacks := func(h protocol.ShareID) bool { return held[h.Key] != h.Digest }
	for _, author := range t.authors() {
		if r := t.receipts[author]; lacks(protocol.ShareIDOf(r.share)) {
			items = append(items, protocol.SyncItem{Envelope: r.share.Envelope, Age: max(0, now.Sub(r.received))})
		}
	}
	for _, key := range t.keys() {
		if c := t.proofs[key]; lacks(protocol.ProofID(c)) {
			items = append(items, protocol.ProofItem(c))
		}
	}
	return items
}

// kept returns the items to store for the next start: those about other authors, and the proofs
// against the agent itself.
func (t *evidence) kept() (list []PeerShare) {
	for _, author := range t.authors() {
		if r := t.receipts[author]; author != t.self {
			list = append(list, PeerShare{Envelope: r.share.Envelope, Sent: r.received, Connected: t.met[author]})
		}
	}
	for _, key := range t.keys() {
		c := t.proofs[key]
		list = append(list, PeerShare{Envelope: c.First.Envelope, ConflictingShare: c.Second.Envelope, Connected: t.met[key.author]})
	}
	return list
}

// acceptReceipt is the method accept for a receipt of another author.
func (a *Agent) acceptReceipt(now time.Time, share protocol.Share, age time.Duration) (ShareResult, error) {
	statements, err := a.evidence.decode(share)
	if err != nil {
		return Malformed, err
	}
	if other, ok := a.shares.atStamp(share); ok {
		a.proveEquivocation(now, other, share)
	}
	known := a.evidence.receipts[share.Author]
	result, err := a.evidence.judge(now, share, statements, age)
	switch result {
	case Accepted:
		a.ready.PeerShares = true
	case Equivocation:
		a.proveEquivocation(now, known.share, share)
	}
	return result, err
}

// checkReceipt handles a receipt of the agent itself that a peer sent. The exchanges receive it as
// an Echo, so that the one that keeps the account can compare the two. If the agent has published a
// receipt in this run and it contradicts the peer's, the agent publishes a proof.
func (a *Agent) checkReceipt(now time.Time, share protocol.Share) {
	statements, err := a.evidence.decode(share)
	if err != nil {
		return
	}
	if a.keeping { // a keeper runs no exchanges, so it treats the receipt like that of any author
		_, _ = a.acceptReceipt(now, share, 0)
		return
	}
	for _, name := range a.exchanges.order {
		a.step(now, name, strategy.Echo{Share: strategy.Share{Share: share, Value: statements}})
	}
	if own, ok := a.evidence.receipts[a.self]; ok && own.statements.Forked(statements) {
		a.proveEquivocation(now, own.share, share)
	}
}

func (a *Agent) proveEquivocation(now time.Time, one, other protocol.Share) {
	if c, ok := protocol.ProveEquivocation(one, other); ok {
		a.addProof(now, c)
	}
}

// Equivocators adds a proof that protocol.OpenEquivocationProof has verified, and reports whether
// the proof is new.
func (a *Agent) Equivocators(now time.Time, c protocol.EquivocationProof) bool {
	news := c.First.Task == a.id && a.addProof(now, c)
	a.pump(now)
	return news
}

func (a *Agent) addProof(now time.Time, c protocol.EquivocationProof) bool {
	if !a.evidence.add(c) {
		return false
	}
	a.ready.PeerShares = true
	author, epoch := c.First.Author, c.First.Epoch
	if author != a.self {
		if c.Conflict == protocol.SameStamp && epoch > a.shares.void[author] {
			a.shares.distrust(author, epoch)
			a.shares.proven[author] = true
		}
		return true
	}
	for _, name := range a.exchanges.order {
		a.step(now, name, strategy.EquivocationFound{Proof: c})
	}
	if c.Conflict == protocol.SameStamp && epoch >= a.epoch {
		if a.evidence.releases == 0 { // on a task with receipts, the exchange has warned already
			a.warn("this node has signed two different shares with stamp %v: was its data directory copied, or restored from a backup? Two nodes with one key harm each other", c.First.Stamp)
		}
		if !a.doubled {
			a.moveOn(now, epoch+1)
		}
	}
	return true
}

// EquivocationProofs returns the proofs against the agent itself.
func (a *Agent) EquivocationProofs() (list []protocol.EquivocationProof) {
	for _, key := range a.evidence.keys() {
		if key.author == a.self {
			list = append(list, a.evidence.proofs[key])
		}
	}
	return list
}

// publishReceipt publishes the receipt of the agent's own releases. The journal does not store the
// receipt: in the next run the exchange publishes it again.
func (a *Agent) publishReceipt(now time.Time, payload []byte) {
	a.sequence++
	share, err := protocol.Seal(protocol.Share{
		Task:    a.id,
		Key:     protocol.Key{Kind: protocol.ReceiptKind},
		Stamp:   protocol.Stamp{Epoch: a.epoch, Sequence: a.sequence},
		TTL:     protocol.MaxTTL,
		Payload: payload,
	}, a.cfg.Key)
	var statements protocol.Receipt
	if err == nil {
		statements, err = a.evidence.decode(share)
	}
	if err != nil {
		a.warn("%s: %v", protocol.ReceiptKind, err)
		return
	}
	a.evidence.receipts[a.self] = receipt{share, statements, now}
	a.ready.Publish = append(a.ready.Publish, share)
}

// withholdsRelease reports whether one of the agent's own shares must not be published yet, because
// the agent has not published its receipt in this run. If a peer sends the share earlier, the peer
// has it from an earlier run.
func (a *Agent) withholdsRelease(share protocol.Share) bool {
	_, attested := a.evidence.receipts[a.self]
	return share.Author == a.self && a.evidence.releases > 0 && !attested && !a.keeping && isCached(share)
}
