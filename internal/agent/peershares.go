package agent

import (
	"cmp"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// Bounds of what an agent wants kept of its peers' shares: peers do not control
// the disk.
const (
	// Shares that live shorter, such as presence, are worth nothing after a restart.
	minCachedTTL = time.Hour

	// Authors whom this agent never met, and of whom others told. Names cost
	// nothing, so that one peer could tell of any number.
	maxUnmet = 64

	maxPeerShareBytes = 45 << 20 // of envelopes; as text, a third more
)

// PeerShares is what an agent knows from its peers, for the next start. It is no
// journal: to lose it loses nothing that was acknowledged.
type PeerShares struct {
	Shares     []PeerShare        // in order of author, kind and slot; receipts and contradictions last
	Distrusted map[peer.ID]uint64 // the epoch up to which an author is not believed
}

// PeerShare is a peer's share.
type PeerShare struct {
	Envelope  []byte
	Sent      time.Time // by its author, as far as is known
	Connected bool      // the author was connected to this node on the task at some time

	// With a Contradiction this is the second envelope, and nothing else counts.
	ConflictingShare []byte
}

// PeerShares returns what to keep: of authors that are believed the shares that have
// not run out, but for short-lived ones, and for good the receipts of private releases
// and the contradictions. Beyond the bounds the authors that this
// agent never met go first, then the oldest shares.
func (a *Agent) PeerShares(now time.Time) PeerShares {
	received := PeerShares{Distrusted: make(map[peer.ID]uint64, len(a.shares.void))}
	for author, epoch := range a.shares.void {
		received.Distrusted[author] = epoch
	}
	var kept []*held
	for _, h := range a.shares.order {
		if h.Author != a.self && isCached(h.Share.Share) && h.expires.After(now) && h.Epoch > a.shares.void[h.Author] {
			kept = append(kept, h)
		}
	}
	evidence := a.evidence.kept()
	room := maxPeerShareBytes
	for _, h := range evidence {
		room -= len(h.Envelope) + len(h.ConflictingShare)
	}
	for _, h := range a.peers.bound(kept, room) {
		received.Shares = append(received.Shares, PeerShare{Envelope: h.Envelope, Sent: h.accepted, Connected: a.peers.met[h.Author]})
	}
	received.Shares = append(received.Shares, evidence...)
	return received
}

func isCached(s protocol.Share) bool { return s.TTL >= minCachedTTL }

// RestorePeerShare restores a share that PeerShares returned in an earlier run, age after its
// author sent it. Like Receive it verifies everything.
func (a *Agent) RestorePeerShare(now time.Time, share protocol.Share, age time.Duration, met bool) (ShareResult, error) {
	if met && a.peers.note(share.Author) {
		a.shares.noteContact(share.Author, "met "+string(share.Author)) // whence it comes, it shows when it does
	}
	result, err := a.accept(now, share, age, Source{})
	a.pump(now)
	return result, err
}

// Distrust ignores the shares of an author up to this epoch, which PeerShares returned in an
// earlier run.
func (a *Agent) Distrust(author peer.ID, epoch uint64) {
	if epoch > a.shares.void[author] {
		a.shares.distrust(author, epoch)
	}
}

// contacts separates the authors that this agent has met from those that it knows only through
// other peers.
type contacts struct {
	met   map[peer.ID]bool
	unmet []peer.ID // whose shares are stored, in the order in which the agent learned of them
}

func newContacts() contacts { return contacts{met: map[peer.ID]bool{}} }

// note returns whether the peer was not known.
func (p *contacts) note(id peer.ID) bool {
	if p.met[id] {
		return false
	}
	p.met[id] = true
	p.unmet = slices.DeleteFunc(p.unmet, func(other peer.ID) bool { return other == id })
	return true
}

// forget drops those of whom nothing is held when there are too many.
func (p *contacts) forget(s *shares, t *evidence) {
	if len(p.met) <= 2*maxAuthors {
		return
	}
	for id := range p.met {
		if _, known := t.receipts[id]; !known && len(s.of(id)) == 0 {
			delete(p.met, id)
			delete(s.origins, id)
		}
	}
}

// bound leaves out what is above the bounds. Of those never met the first that
// were heard of keep their places for as long as they have valid shares.
func (p *contacts) bound(shares []*held, maxBytes int) []*held {
	var present []peer.ID
	for _, h := range shares {
		if !p.met[h.Author] && !slices.Contains(present, h.Author) {
			present = append(present, h.Author)
		}
	}
	p.unmet = slices.DeleteFunc(p.unmet, func(id peer.ID) bool { return !slices.Contains(present, id) })
	for _, id := range present {
		if len(p.unmet) < maxUnmet && !slices.Contains(p.unmet, id) {
			p.unmet = append(p.unmet, id)
		}
	}
	rank := func(h *held) int { // the place among those never met; 0 for all others
		return slices.Index(p.unmet, h.Author) + 1
	}
	kept := slices.DeleteFunc(slices.Clone(shares), func(h *held) bool { return !p.met[h.Author] && rank(h) == 0 })
	slices.SortStableFunc(kept, func(a, b *held) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), b.accepted.Compare(a.accepted))
	})
	bytes := 0
	for i, h := range kept {
		if bytes += len(h.Envelope); bytes > maxBytes {
			kept = kept[:i]
			break
		}
	}
	slices.SortFunc(kept, func(a, b *held) int { return compareKeys(a.Key, b.Key) })
	return kept
}
