package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// Bounds of the contradictions of others: names cost nothing.
const (
	mostContradicted      = maxAuthors / 2
	mostContradictedBytes = 4 << 20
)

// testimony is what an agent keeps of authors for good, to tell it to all and to the
// authors themselves: how far their accounts of private releases have come, and what
// they have signed that contradicts itself.
type testimony struct {
	self     peer.ID
	releases int // that the task plans; 0: it promises nothing, and has no receipts
	met      map[peer.ID]bool
	receipts map[peer.ID]receipt // the longest; the own one once the agent has told it in this run
	against  map[charge]protocol.Contradiction
}

type receipt struct {
	share protocol.Share
	said  protocol.Receipt
	heard time.Time // when the author said it
}

// charge names a contradiction; of each author there is one of each conflict.
type charge struct {
	author   peer.ID
	conflict protocol.Conflict
}

func newTestimony(self peer.ID, releases int, met map[peer.ID]bool) testimony {
	return testimony{self: self, releases: releases, met: met, receipts: map[peer.ID]receipt{}, against: map[charge]protocol.Contradiction{}}
}

// decode checks a receipt against the task.
func (t *testimony) decode(share protocol.Share) (protocol.Receipt, error) {
	said, err := protocol.DecodeReceipt(share.Payload, t.releases)
	if err == nil && share.Slot != 0 {
		err = fmt.Errorf("%w: receipt in slot %d, accepted is 0", protocol.ErrMalformed, share.Slot)
	}
	return said, err
}

// judge takes a receipt that was decoded. Age does not matter: a receipt never runs out.
func (t *testimony) judge(now time.Time, share protocol.Share, said protocol.Receipt, age time.Duration) (Verdict, error) {
	known, ok := t.receipts[share.Author]
	switch {
	case ok && known.said.Forked(said):
		return Offence, fmt.Errorf("agent: %s signed two accounts of its releases that differ after release %d", share.Author, known.said.Common(said))
	case ok && len(said.Releases) == len(known.said.Releases):
		return Known, nil
	case ok && len(said.Releases) < len(known.said.Releases):
		return Stale, nil
	case !ok && !t.makeRoom(now, share.Author):
		return Stale, nil
	}
	t.receipts[share.Author] = receipt{share, said, now.Add(-age)}
	return Accepted, nil
}

// makeRoom tells whether there is a place for an author, and forgets another one for it:
// one that was never met first, then the one that has been
// silent the longest, but nobody that was heard of late, nor one that was met for one
// that was not.
func (t *testimony) makeRoom(now time.Time, author peer.ID) bool {
	if len(t.receipts) < maxAuthors || author == t.self {
		return true
	}
	var silent peer.ID
	for other, r := range t.receipts {
		if other != t.self && (silent == "" || t.forgottenBefore(other, silent, r.heard.Compare(t.receipts[silent].heard))) {
			silent = other
		}
	}
	if now.Sub(t.receipts[silent].heard) <= keepsPlace || t.met[silent] && !t.met[author] {
		return false
	}
	delete(t.receipts, silent)
	return true
}

func (t *testimony) forgottenBefore(author, other peer.ID, heard int) bool {
	if t.met[author] != t.met[other] {
		return t.met[other]
	}
	return heard < 0 || heard == 0 && author < other
}

// charge keeps a contradiction if it says more than the one that is known. When there is
// no room, those of authors that were never met go for one of an author that was.
func (t *testimony) charge(c protocol.Contradiction) bool {
	author := c.First.Author
	if c.Conflict == protocol.TwoAccounts && t.releases == 0 {
		return false // the task has no receipts
	}
	key := charge{author, c.Conflict}
	if known, ok := t.against[key]; ok && c.Compare(known) <= 0 {
		return false
	}
	before := t.against[key]
	delete(t.against, key)
	if author != t.self && !t.fits(c) {
		if t.met[author] {
			maps.DeleteFunc(t.against, func(k charge, _ protocol.Contradiction) bool { return k.author != t.self && !t.met[k.author] })
		}
		if !t.fits(c) {
			if before.Bytes() > 0 {
				t.against[key] = before
			}
			return false
		}
	}
	t.against[key] = c
	return true
}

func (t *testimony) fits(c protocol.Contradiction) bool {
	bytes := c.Bytes()
	for _, other := range t.against {
		bytes += other.Bytes()
	}
	return bytes <= mostContradictedBytes && len(t.against) < mostContradicted
}

func (t *testimony) authors() []peer.ID { return slices.Sorted(maps.Keys(t.receipts)) }

func (t *testimony) charges() []charge {
	return slices.SortedFunc(maps.Keys(t.against), func(a, b charge) int {
		return cmp.Or(cmp.Compare(a.author, b.author), cmp.Compare(a.conflict, b.conflict))
	})
}

// digest lists what is held, but for the own receipt: that one the agent wants to be
// told, since whoever tells it knows how far its account has come.
func (t *testimony) digest() (digest []protocol.Held) {
	for _, author := range t.authors() {
		if author != t.self {
			digest = append(digest, protocol.HeldOf(t.receipts[author].share))
		}
	}
	for _, key := range t.charges() {
		digest = append(digest, protocol.HeldContradiction(t.against[key]))
	}
	return digest
}

// since lists what somebody who holds known lacks. A receipt that differs is told even if
// it is the shorter one: the other may be of another journal.
func (t *testimony) since(known []protocol.Held, now time.Time) (items []protocol.SyncItem) {
	held := make(map[protocol.Key][protocol.DigestBytes]byte, len(known))
	for _, h := range known {
		held[h.Key] = h.Digest
	}
	lacks := func(h protocol.Held) bool { return held[h.Key] != h.Digest }
	for _, author := range t.authors() {
		if r := t.receipts[author]; lacks(protocol.HeldOf(r.share)) {
			items = append(items, protocol.SyncItem{Envelope: r.share.Envelope, Age: max(0, now.Sub(r.heard))})
		}
	}
	for _, key := range t.charges() {
		if c := t.against[key]; lacks(protocol.HeldContradiction(c)) {
			items = append(items, protocol.ContradictionItem(c))
		}
	}
	return items
}

// kept lists what the next start needs of others, and what is known against the agent.
func (t *testimony) kept() (list []HeardShare) {
	for _, author := range t.authors() {
		if r := t.receipts[author]; author != t.self {
			list = append(list, HeardShare{Envelope: r.share.Envelope, Sent: r.heard, Met: t.met[author]})
		}
	}
	for _, key := range t.charges() {
		c := t.against[key]
		list = append(list, HeardShare{Envelope: c.First.Envelope, Contradicts: c.Second.Envelope, Met: t.met[key.author]})
	}
	return list
}

// acceptReceipt is accept for a receipt of another author.
func (a *Agent) acceptReceipt(now time.Time, share protocol.Share, age time.Duration) (Verdict, error) {
	said, err := a.testimony.decode(share)
	if err != nil {
		return Malformed, err
	}
	if other, ok := a.shares.atStamp(share); ok {
		a.contradict(now, other, share)
	}
	known := a.testimony.receipts[share.Author]
	verdict, err := a.testimony.judge(now, share, said, age)
	switch verdict {
	case Accepted:
		a.ready.Heard = true
	case Offence:
		a.contradict(now, known.share, share)
	}
	return verdict, err
}

// recogniseReceipt handles what a peer holds of the agent's own account. The exchange
// that keeps the account compares; where it has told its own receipt, and the two
// contradict each other, everybody is to know.
func (a *Agent) recogniseReceipt(now time.Time, share protocol.Share) {
	said, err := a.testimony.decode(share)
	if err != nil {
		return
	}
	if a.keeping { // then nobody keeps the account, and it is one like others
		_, _ = a.acceptReceipt(now, share, 0)
		return
	}
	for _, name := range a.exchanges.order {
		a.step(now, name, strategy.Echo{Share: strategy.Share{Share: share, Value: said}})
	}
	if own, ok := a.testimony.receipts[a.self]; ok && own.said.Forked(said) {
		a.contradict(now, own.share, share)
	}
}

func (a *Agent) contradict(now time.Time, one, other protocol.Share) {
	if c, ok := protocol.Contradict(one, other); ok {
		a.charge(now, c)
	}
}

// Contradicted takes a contradiction that protocol.OpenContradiction has verified, and
// tells whether it is news.
func (a *Agent) Contradicted(now time.Time, c protocol.Contradiction) bool {
	news := c.First.Task == a.id && a.charge(now, c)
	a.pump(now)
	return news
}

func (a *Agent) charge(now time.Time, c protocol.Contradiction) bool {
	if !a.testimony.charge(c) {
		return false
	}
	a.ready.Heard = true
	author, epoch := c.First.Author, c.First.Epoch
	if author != a.self {
		if c.Conflict == protocol.OneStamp {
			a.Distrust(author, epoch)
		}
		return true
	}
	for _, name := range a.exchanges.order {
		a.step(now, name, strategy.Contradicted{Contradiction: c})
	}
	if c.Conflict == protocol.OneStamp && epoch >= a.epoch {
		if a.testimony.releases == 0 { // where releases are counted, the exchange has told it
			a.warn("this node has signed two different shares with stamp %v: was its data directory copied, or restored from a backup? Two nodes with one key harm each other", c.First.Stamp)
		}
		if !a.doubled {
			a.moveOn(now, epoch+1)
		}
	}
	return true
}

// Contradictions lists what is known against the agent itself.
func (a *Agent) Contradictions() (list []protocol.Contradiction) {
	for _, key := range a.testimony.charges() {
		if key.author == a.self {
			list = append(list, a.testimony.against[key])
		}
	}
	return list
}

// attest tells all how far the agent's own account has come. The journal does not keep
// it: the exchange tells it anew in the next run, once it may.
func (a *Agent) attest(now time.Time, payload []byte) {
	a.sequence++
	share, err := protocol.Seal(protocol.Share{
		Task:    a.id,
		Key:     protocol.Key{Kind: protocol.ReceiptKind},
		Stamp:   protocol.Stamp{Epoch: a.epoch, Sequence: a.sequence},
		TTL:     protocol.MaxTTL,
		Payload: payload,
	}, a.cfg.Key)
	var said protocol.Receipt
	if err == nil {
		said, err = a.testimony.decode(share)
	}
	if err != nil {
		a.warn("%s: %v", protocol.ReceiptKind, err)
		return
	}
	a.testimony.receipts[a.self] = receipt{share, said, now}
	a.ready.Publish = append(a.ready.Publish, share)
}

// withholds tells whether an own share may not be told yet. Peers that tell one before
// the agent does have it of an earlier run.
func (a *Agent) withholds(share protocol.Share) bool {
	_, attested := a.testimony.receipts[a.self]
	return share.Author == a.self && a.testimony.releases > 0 && !attested && !a.keeping && isKept(share)
}
