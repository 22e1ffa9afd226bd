package agent

import (
	"cmp"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// Limits on peers' shares that an agent stores on disk. Without them peers could fill the disk.
const (
	// minCachedTTL is the minimum TTL of a stored share. Shares with a shorter one, such as
	// presence, are useless after a restart.
	minCachedTTL = time.Hour

	// maxUnmet limits the stored authors that this agent has never met. Identities cost nothing, so
	// one peer could introduce any number of authors.
	maxUnmet = 64

	maxPeerShareBytes = 45 << 20 // bytes of envelopes; the file's text encoding is a third larger
)

// PeerShares holds the information about peers that an agent stores for the next start. It is a
// cache and not a journal: it can be lost without losing anything that was acknowledged.
type PeerShares struct {
	Shares     []PeerShare        // sorted by author, kind and slot; receipts and equivocation proofs follow at the end
	Distrusted map[peer.ID]uint64 // the epoch up to which an author's shares are ignored
}

// PeerShare is a stored share of a peer.
type PeerShare struct {
	Envelope  []byte
	Sent      time.Time // time at which its author sent it, as far as known
	Connected bool      // the author has been connected to this node on the task at some time

	// ConflictingShare is set in an equivocation proof: it is the second of the two envelopes. Sent
	// and Connected are then ignored.
	ConflictingShare []byte
}

// PeerShares returns the information to store. It contains the valid shares of authors that are not
// ignored, except short-lived shares. It always contains the receipts of DP releases and the
// equivocation proofs. Above the limits it first omits authors that this agent has never met, then
// the oldest shares.
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

// RestorePeerShare restores a share that PeerShares returned in an earlier run. The argument age is
// the time since its author sent it, and met is PeerShare.Connected. It verifies everything, as
// Receive does.
func (a *Agent) RestorePeerShare(now time.Time, share protocol.Share, age time.Duration, met bool) (ShareResult, error) {
	if met && a.peers.note(share.Author) {
		a.shares.noteContact(share.Author, "met "+string(share.Author)) // placeholder: the author's group becomes known when it connects
	}
	result, err := a.accept(now, share, age, Source{})
	a.pump(now)
	return result, err
}

// Distrust makes the agent ignore the shares of an author up to the given epoch. It restores
// PeerShares.Distrusted of an earlier run.
func (a *Agent) Distrust(author peer.ID, epoch uint64) {
	if epoch > a.shares.void[author] {
		a.shares.distrust(author, epoch)
	}
}

// contacts distinguishes authors that this agent has met from authors that it knows only through
// other peers. An author is met once it has been connected to this node on the task.
type contacts struct {
	met   map[peer.ID]bool
	unmet []peer.ID // unmet authors whose shares are stored, in the order in which the agent learned of them
}

func newContacts() contacts { return contacts{met: map[peer.ID]bool{}} }

// note marks a peer as met, and reports whether this is new.
func (p *contacts) note(id peer.ID) bool {
	if p.met[id] {
		return false
	}
	p.met[id] = true
	p.unmet = slices.DeleteFunc(p.unmet, func(other peer.ID) bool { return other == id })
	return true
}

// forget removes met authors without stored shares or receipts if there are too many.
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

// bound omits shares above the limits. Among authors that were never met, those known longest keep
// their places as long as they have valid shares.
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
	rank := func(h *held) int { // position among the authors that were never met; 0 for all others
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
