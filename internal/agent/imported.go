package agent

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
)

// ImportedShare is a share from a file of another node, which protocol.Open has verified.
type ImportedShare struct {
	Share protocol.Share
	Age   time.Duration // time since its author sent it
}

// ImportCounts holds the number of shares of a file by their result.
type ImportCounts struct {
	New      int `json:"new"`      // stored now
	Known    int `json:"known"`    // stored before
	Own      int `json:"own"`      // of this agent
	Older    int `json:"older"`    // a newer share of their author is stored
	Expired  int `json:"expired"`  // sent too long ago
	Unused   int `json:"unused"`   // of a kind that the agent does not know, or of an author that is not on the roster
	Ignored  int `json:"ignored"`  // of an author that has signed contradicting shares
	Excluded int `json:"excluded"` // of a banned author, or of one that is not on the allow list
	NoRoom   int `json:"no_room"`  // not stored for the next start: too many authors or bytes
}

// String returns the counts that are not zero.
func (c ImportCounts) String() string {
	var parts []string
	for _, one := range []struct {
		count int
		text  string
	}{
		{c.New, "new"},
		{c.Known, "already known"},
		{c.Own, "of this node"},
		{c.Older, "older than the stored share of the same node"},
		{c.Expired, "expired"},
		{c.Unused, "of no use to the task"},
		{c.Ignored, "of a node that has signed contradicting shares"},
		{c.Excluded, "of a banned node or one that is not on the allow list"},
		{c.NoRoom, "without room in the share cache"},
	} {
		if one.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", one.count, one.text))
		}
	}
	return sanitize.List(parts)
}

// ExportedShares returns the valid shares that outlast a restart: the agent's own and, if all is set,
// those of peers, of at most the given number of authors including the agent. Authors with the newest
// shares come first, after the agent. The result omitted is the number of authors left out.
func (a *Agent) ExportedShares(now time.Time, all bool, authors int) (exported []PeerShare, omitted int) {
	newest := map[peer.ID]time.Time{}
	var candidates []*held
	for _, h := range a.shares.order {
		if (all || h.Author == a.self) && isCached(h.Share.Share) && !h.ephemeral && h.expires.After(now) && h.Epoch > a.shares.void[h.Author] && !a.withholdsRelease(h.Share.Share) {
			candidates = append(candidates, h)
			if h.accepted.After(newest[h.Author]) {
				newest[h.Author] = h.accepted
			}
		}
	}
	var order []peer.ID
	for id := range newest {
		order = append(order, id)
	}
	slices.SortFunc(order, func(x, y peer.ID) int {
		if (x == a.self) != (y == a.self) {
			if x == a.self {
				return -1
			}
			return 1
		}
		return cmp.Or(newest[y].Compare(newest[x]), cmp.Compare(x, y))
	})
	kept := order[:min(len(order), authors)]
	for _, h := range candidates {
		if slices.Contains(kept, h.Author) {
			exported = append(exported, PeerShare{Envelope: h.Envelope, Sent: h.accepted})
		}
	}
	return exported, len(order) - len(kept)
}

// ImportShares accepts the shares of a file as Receive does, with the time at which their authors
// sent them. It accepts either all or none: if one is malformed, it returns an error and changes
// nothing. The order of the shares does not matter to the result of a share with another author.
func (a *Agent) ImportShares(now time.Time, shares []ImportedShare) (counts ImportCounts, err error) {
	for _, s := range shares {
		if err := a.examine(s.Share); err != nil {
			return ImportCounts{}, fmt.Errorf("share %v of %v: %w", s.Share.Stamp, s.Share.Author, err)
		}
	}
	for _, s := range shares {
		a.importShare(now, s, &counts)
	}
	a.pump(now)
	return counts, nil
}

// examine returns the error of a share that no honest node sends, whatever else the agent stores.
func (a *Agent) examine(share protocol.Share) error {
	if share.Task != a.id {
		return fmt.Errorf("%w: it is of task %v, expected %v", protocol.ErrMalformed, share.Task, a.id)
	}
	if exchange, ok := a.exchanges.byName[share.Kind]; ok {
		_, _, err := a.decode(exchange, share.Kind, share.Payload)
		return err
	}
	return nil
}

func (a *Agent) importShare(now time.Time, s ImportedShare, counts *ImportCounts) {
	known, holds := a.shares.held[s.Share.Key]
	switch {
	case s.Share.Author == a.self:
		counts.Own++
		a.checkKnown(now, s.Share, s.Age)
		return
	case s.Age >= s.Share.TTL:
		counts.Expired++
		return
	}
	result, _ := a.accept(now, s.Share, s.Age, Source{})
	switch {
	case result == Accepted:
		counts.New++
		if s.Share.Kind != protocol.ReceiptKind {
			a.counts.Received[s.Share.Kind]++
			a.event(Event{Type: ShareReceived, Peer: s.Share.Author, Kind: s.Share.Kind, Stamp: &s.Share.Stamp, Bytes: len(s.Share.Envelope)})
		}
	case result == Duplicate:
		counts.Known++
	case result == Equivocation, s.Share.Epoch <= a.shares.void[s.Share.Author]:
		counts.Ignored++
	case holds && s.Share.Stamp.Compare(known.Stamp) < 0, a.shares.superseded(s.Share):
		counts.Older++
	case a.shares.isFull(now, s.Share.Author, Source{}):
		counts.NoRoom++
	default:
		counts.Unused++
	}
}

// Holds reports whether the agent stores exactly this share and keeps it for the next start.
func (a *Agent) Holds(share protocol.Share) bool {
	h, ok := a.shares.held[share.Key]
	return ok && h.Digest == share.Digest && isCached(h.Share.Share)
}
