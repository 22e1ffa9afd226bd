package ledger

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/protocol"
)

// account holds the node's releases by name: those of its journal, and those that peers report.
// Peers store receipts of releases and send them back (package comment).
type account struct {
	journal protocol.Receipt              // the releases that the journal counts
	seen    map[protocol.ReleaseName]bool // releases of the node in any journal

	opened    bool // the journal records that a peer stores a receipt, or that there was a release
	earlier   bool // the journal has records of an earlier run
	stored    int  // 1 plus the number of releases in the longest receipt that a peer stored when it had all releases of the journal; 0 if the journal records none
	confirmed bool // in this run a peer has sent a receipt with enough of the journal's releases (vouch)
	announced int  // 1 plus the number of releases in the receipt that was last announced in this run; 0 if there was none
	forked    bool // in this run another journal of this node with different releases has become known; the node that uses it must receive this receipt
	warned    bool // the user was warned that releases wait until a peer confirms the account
}

// note records that the releases of a receipt were made.
func (a *account) note(r protocol.Receipt) {
	if a.seen == nil {
		a.seen = map[protocol.ReleaseName]bool{}
	}
	for _, name := range r.Releases {
		a.seen[name] = true
	}
}

// count adds the next release to those of the journal.
func (a *account) count(name protocol.ReleaseName) {
	a.journal.Releases = append(a.journal.Releases, name)
	a.opened = true
	a.note(a.journal)
}

// whole reports whether the journal's account can be trusted: it began in this run, or a peer has
// confirmed it. A release and its receipt are published after they are on disk. So after a crash
// possibly no peer has the last release, and a receipt up to the one before is sufficient.
func (a *account) whole() bool { return !a.earlier || a.confirmed }

// vouch records that a peer stores a receipt with this number of the journal's releases. It suffices
// if that is at most one less than the journal's, or if the receipts of the releases after it may have
// reached no peer: a network can fail for several releases before a crash.
func (a *account) vouch(releases int) {
	enough := len(a.journal.Releases) - 1
	if a.stored > 0 {
		enough = min(enough, a.stored-1)
	}
	a.confirmed = a.confirmed || releases >= enough
}

func newName(entropy io.Reader) (name protocol.ReleaseName, err error) {
	if _, err = io.ReadFull(entropy, name[:]); err != nil {
		err = fmt.Errorf("the name of a release: %w", err)
	}
	return name, err
}

// decodeName is the inverse of hex.EncodeToString.
func decodeName(text string) (name protocol.ReleaseName, err error) {
	if len(text) != hex.EncodedLen(len(name)) {
		return name, hex.ErrLength
	}
	_, err = hex.Decode(name[:], []byte(text))
	return name, err
}

// Announce returns the payload of the receipt that all peers must store, once after each change. It
// returns nil if nothing has changed. It does not announce an account that no peer has confirmed,
// since receivers could confirm it in the next run. There is one exception: if another journal of
// this node has made releases, the node that uses it must receive the receipt.
func (l *Ledger) Announce() (payload []byte) {
	n := len(l.journal.Releases) + 1
	if n == l.announced || !(l.forked || l.whole() && l.state.Refused == "") {
		return nil
	}
	l.announced = n
	payload, err := l.journal.Encode()
	if err != nil {
		panic(fmt.Sprintf("ledger: %v", err)) // cannot happen: tasks plan fewer releases than a receipt may contain
	}
	if payload == nil {
		payload = []byte{}
	}
	return payload
}

// Reconcile compares a receipt of this node that a peer stores with the journal, and returns a
// record if there is news. If the journal lacks releases of the receipt, the ledger makes no more
// releases. The first such record is returned with the reason.
func (l *Ledger) Reconcile(r protocol.Receipt) (record []byte, reason string) {
	switch common := l.journal.Common(r); {
	case common == len(r.Releases):
		l.vouch(common)
		whole := common == len(l.journal.Releases) && common+1 > l.stored
		if l.opened && !whole {
			return nil, ""
		}
		if l.opened = true; whole {
			l.stored = common + 1
		}
		return mustMarshal(entry{Opened: true, Stored: l.stored}), ""
	case common < len(l.journal.Releases):
		l.forked = true
		l.note(r)
		return l.refuse(0, twoJournals)
	}
	l.note(r)
	return l.refuse(0, l.lost(len(r.Releases)))
}

const twoJournals = "two copies of its data directory have been at work, or one that was restored from a backup, and each has counted its releases for itself"

func (l *Ledger) lost(held int) string {
	return fmt.Sprintf("peers hold release %d of this node, and its journal knows of %d: the data directory was lost or restored from a backup, so that it is not known what has been spent",
		held, len(l.journal.Releases))
}

// Contradicted handles a proof that this node's key has equivocated. It returns the same as
// Reconcile.
func (l *Ledger) Contradicted(c protocol.EquivocationProof) (record []byte, reason string) {
	if first, second, ok := c.Accounts(); ok {
		l.forked = l.forked || l.journal.Forked(first) || l.journal.Forked(second)
		l.note(first)
		l.note(second)
	}
	return l.refuse(0, twoJournals)
}

// Echo handles the number of an own release that a peer has sent back. It returns the same as
// Reconcile.
func (l *Ledger) Echo(release int) (record []byte, reason string) {
	if release > len(l.journal.Releases) {
		return l.refuse(release, l.lost(release))
	}
	return nil, ""
}

// refuse ends all releases. At least `known` releases were made. It returns a record if the refusal
// is new or if more releases have become known. It returns the reason if the refusal is new.
func (l *Ledger) refuse(known int, why string) (record []byte, reason string) {
	known = max(known, len(l.seen), l.state.Released)
	if l.state.Refused != "" && known == l.state.Released {
		return nil, ""
	}
	l.state.Released = known
	if l.state.Refused == "" {
		l.state.Refused = why
		reason = why + l.price()
	}
	return mustMarshal(entry{Refused: l.state.Refused, Known: known}), reason
}

// price returns the part of the spent budget that is known, as text.
func (l *Ledger) price() string {
	spent, err := l.Spent(l.state.Released)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("; %s known to be made, ε = %.3g of %g", sanitize.Count(l.state.Released, "release"), spent, l.Epsilon)
}

// Waits returns a warning about the condition for which the next release waits, at most once in a
// run. The case is that enough of the present peers have sent their shares, but none of them has
// confirmed the account. In other cases it returns an empty string.
func (l *Ledger) Waits(present []peer.ID) string {
	if l.whole() || l.warned || !l.Open() || !l.enoughReported(present) {
		return ""
	}
	l.warned = true
	last := "that this node has been on the task"
	if n := len(l.journal.Releases); n > 0 {
		last = fmt.Sprintf("of this node's release %d", n)
	}
	return fmt.Sprintf("this node shares nothing before a peer is present that knows %s: other peers cannot detect whether its journal was restored from a backup", last)
}
