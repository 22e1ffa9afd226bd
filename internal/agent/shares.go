package agent

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/largetopic"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
)

// Limits on the shares that peers can make an agent store.
const (
	maxAuthors = largetopic.MaxAuthors
	maxSlots   = 3 // slots per author and kind; the highest are kept. The number is part of the disk format (see Record.Key)
)

// ShareResult is the result of the validation of a share.
type ShareResult int

// Results of the validation of a share. No honest agent sends a Malformed share or an Equivocation.
const (
	Accepted     ShareResult = iota
	Duplicate                // already stored, for example from the sync stream; gossip still forwards it
	Stale                    // older than the stored one, expired, without room, or of a kind or slot that this agent does not know
	Malformed                // does not match the task
	Equivocation             // two different shares of its author with one stamp
	Excess                   // its author gossips more than agents of a large topic do
)

func (v ShareResult) String() string {
	return [...]string{"accepted", "duplicate", "stale", "malformed", "equivocation", "excess"}[v]
}

// ShareResults returns all values of ShareResult.
func ShareResults() []ShareResult {
	return []ShareResult{Accepted, Duplicate, Stale, Malformed, Equivocation, Excess}
}

type held struct {
	strategy.Share
	accepted  time.Time
	expires   time.Time
	ephemeral bool // an own share that the journal does not contain
}

// shares holds the latest share for each key, including the agent's own shares.
type shares struct {
	self   peer.ID
	held   map[protocol.Key]*held
	order  []*held            // the shares of held, sorted by author, kind and slot
	void   map[peer.ID]uint64 // the epoch up to which an author's shares are ignored
	proven map[peer.ID]bool   // authors in void by a proof alone, which have gossiped no share of the epoch since
	met    map[peer.ID]bool   // authors that have been connected
	room   byteBudget

	origins map[peer.ID]origin // origins of authors that have stored shares or were met

	soonest time.Time // no stored share expires before this time

	latest validList
}

// validList is the latest result of shares.valid, which views of the agent may still hold: it is never
// changed in place. Agents receive a share for nearly every view, so that a view must not cost time in
// proportion to the stored shares, beyond a copy of the list.
type validList struct {
	shares      []*strategy.Share
	from, until time.Time // the list is correct in this span; empty if shares changed in another way than by set
}

// holds reports whether the list is correct at a time.
func (l *validList) holds(now time.Time) bool { return !now.Before(l.from) && now.Before(l.until) }

// replace puts a share into the list in place of the one with its key, or drops the list if there is none.
func (l *validList) replace(share *held) {
	i, found := slices.BinarySearchFunc(l.shares, share.Key, func(s *strategy.Share, key protocol.Key) int { return compareKeys(s.Key, key) })
	if !found {
		*l = validList{}
		return
	}
	l.shares = slices.Clone(l.shares)
	l.shares[i] = &share.Share
	if share.expires.Before(l.until) {
		l.until = share.expires
	}
}

func compareKeys(a, b protocol.Key) int {
	return cmp.Or(cmp.Compare(a.Author, b.Author), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Slot, b.Slot))
}

func compareKey(h *held, key protocol.Key) int { return compareKeys(h.Key, key) }

func (s *shares) set(h *held) {
	s.add(h.Author, len(h.Envelope))
	if i, found := slices.BinarySearchFunc(s.order, h.Key, compareKey); found {
		s.add(h.Author, -len(s.order[i].Envelope))
		s.order[i] = h
	} else {
		s.order = slices.Insert(s.order, i, h)
	}
	s.held[h.Key] = h
	switch {
	case h.Author == s.self: // not in the list
	case h.Epoch > s.void[h.Author]:
		s.latest.replace(h)
	default:
		s.latest = validList{}
	}
	if h.expires.Before(s.soonest) || len(s.held) == 1 {
		s.soonest = h.expires
	}
}

func (s *shares) remove(keys ...protocol.Key) {
	for _, key := range keys {
		if i, found := slices.BinarySearchFunc(s.order, key, compareKey); found {
			s.add(key.Author, -len(s.order[i].Envelope))
			s.order = slices.Delete(s.order, i, i+1)
			s.latest = validList{}
			delete(s.held, key)
			if !s.met[key.Author] && len(s.of(key.Author)) == 0 {
				delete(s.origins, key.Author)
			}
		}
	}
}

// of returns the shares of one author, sorted by kind and slot. The slice is valid until the next
// change.
func (s *shares) of(author peer.ID) []*held {
	begin, _ := slices.BinarySearchFunc(s.order, protocol.Key{Author: author}, compareKey)
	end := begin
	for end < len(s.order) && s.order[end].Author == author {
		end++
	}
	return s.order[begin:end]
}

// newShares returns an empty table. It never drops shares of listed authors for lack of room.
func newShares(self peer.ID, listed ...peer.ID) shares {
	return shares{
		self: self, held: map[protocol.Key]*held{}, void: map[peer.ID]uint64{}, proven: map[peer.ID]bool{}, room: newByteBudget(listed), origins: map[peer.ID]origin{},
	}
}

// judge returns whether a share is new. After an equivocation, the author's shares are ignored
// until it opens a new epoch. Such an author is dishonest, or its journal was restored from a
// backup. In the second case its node opens a new epoch when it learns of the equivocation.
//
// The result is Equivocation once for each such epoch. If the agent knows the equivocation from a
// proof, this is when the author itself gossips a share of the epoch. A proof alone is no reason,
// since the author may have opened a new epoch long ago, and nor is a share that others repeat.
func (s *shares) judge(now time.Time, share protocol.Share, by Source) (ShareResult, error) {
	if share.Epoch <= s.void[share.Author] {
		if s.proven[share.Author] && by.Gossiped && by.Author {
			delete(s.proven, share.Author)
			return Equivocation, fmt.Errorf("%s goes on with epoch %d, in which it signed two different shares", share.Author, share.Epoch)
		}
		return Stale, nil
	}
	if _, ok := s.atStamp(share); ok {
		s.distrust(share.Author, share.Epoch)
		return Equivocation, fmt.Errorf("%s signed two different shares with stamp %v", share.Author, share.Stamp)
	}
	if s.isFull(now, share.Author, by) || s.superseded(share) {
		return Stale, nil
	}
	known, ok := s.held[share.Key]
	if !ok {
		if slots := s.slots(share.Key, share.Epoch); len(slots) >= maxSlots && share.Slot < slots[0] {
			return Stale, nil // it would be dropped at once
		}
	} else if order := share.Stamp.Compare(known.Stamp); order == 0 {
		return Duplicate, nil
	} else if order < 0 {
		return Stale, nil
	}
	if !s.fits(now, share, by) {
		return Stale, nil
	}
	return Accepted, nil
}

// atStamp returns another stored share that the author has signed with the same stamp.
func (s *shares) atStamp(share protocol.Share) (protocol.Share, bool) {
	for _, other := range s.of(share.Author) {
		if other.Stamp == share.Stamp && other.Digest != share.Digest {
			return other.Share.Share, true
		}
	}
	return protocol.Share{}, false
}

// repeats reports whether a share has the same payload as the valid share that it replaces, and no
// other share has expired recently. Then nothing changes for the exchange.
func (s *shares) repeats(now time.Time, share protocol.Share) bool {
	known, ok := s.held[share.Key]
	return !s.ranOut(now) && ok && known.expires.After(now) && known.Epoch > s.void[known.Author] && bytes.Equal(known.Payload, share.Payload)
}

// ranOut reports whether a held share may have expired since the last call.
func (s *shares) ranOut(now time.Time) bool {
	if now.Before(s.soonest) {
		return false
	}
	first := true
	for _, h := range s.order {
		if h.expires.After(now) && (first || h.expires.Before(s.soonest)) {
			s.soonest, first = h.expires, false
		}
	}
	if first {
		s.soonest = now
	}
	return true
}

// superseded reports whether a share of this author and kind with a later epoch is stored. After a
// start with a lost journal, slots begin again at their first number. Higher slots from before must
// then not displace the new ones.
func (s *shares) superseded(share protocol.Share) bool {
	for _, other := range s.of(share.Author) {
		if other.Kind == share.Kind && other.Epoch > share.Epoch {
			return true
		}
	}
	return false
}

// put stores an accepted share and drops shares above the limits. The argument age is the time
// since its author sent it.
func (s *shares) put(share strategy.Share, now time.Time, age time.Duration, by Source) {
	s.keep(&held{Share: share, accepted: now.Add(-age), expires: now.Add(share.TTL - age)}, now, by)
}

func (s *shares) keep(share *held, now time.Time, by Source) {
	before := slices.Clone(s.of(share.Author))
	if len(before) == 0 && share.Author != s.self && len(s.held) >= s.room.maxAuthors() {
		if over := s.authors() + 1 - s.room.maxAuthors(); over > 0 {
			gone, _ := s.evict(now, share.Author, by, inAuthors, 1, over, true)
			s.forget(gone)
		}
	}
	s.placeAuthor(share.Author, by)
	s.set(share)
	for _, other := range before {
		if other.Kind == share.Kind && other.Epoch < share.Epoch && other.Key != share.Key {
			s.remove(other.Key)
		}
	}
	s.boundSlots(share.Key, share.Epoch)
	s.boundBytes(share, now)
}

// slots returns the stored slots of the key's author and kind with at least this epoch, sorted.
func (s *shares) slots(key protocol.Key, epoch uint64) []uint64 {
	var slots []uint64
	for _, other := range s.of(key.Author) {
		if other.Kind == key.Kind && other.Epoch >= epoch {
			slots = append(slots, other.Slot)
		}
	}
	return slots
}

func (s *shares) boundSlots(key protocol.Key, epoch uint64) {
	slots := s.slots(key, epoch)
	for _, slot := range slots[:max(0, len(slots)-maxSlots)] {
		s.remove(protocol.Key{Author: key.Author, Kind: key.Kind, Slot: slot})
	}
}

func (s *shares) distrust(author peer.ID, epoch uint64) {
	if len(s.void) >= maxAuthors {
		for forgotten := range s.void {
			delete(s.void, forgotten)
			delete(s.proven, forgotten)
			break
		}
	}
	s.void[author] = epoch
	delete(s.proven, author)
	s.latest = validList{}
}

// isFull reports whether the author is unknown and there is no place for it.
func (s *shares) isFull(now time.Time, author peer.ID, by Source) bool {
	if len(s.held) < s.room.maxAuthors() || s.room.listed[author] || len(s.of(author)) > 0 {
		return false // fewer shares than maxAuthors also means fewer authors
	}
	over := s.authors() + 1 - s.room.maxAuthors()
	if over <= 0 {
		return false
	}
	_, ok := s.evict(now, author, by, inAuthors, 1, over, false)
	return !ok
}

// valid returns the peers' shares that have not expired and are not ignored, sorted by key. Its capacity is
// its length. The caller must not change its elements.
func (s *shares) valid(now time.Time) []*strategy.Share {
	if s.latest.holds(now) {
		return s.latest.shares
	}
	valid := make([]*strategy.Share, 0, len(s.order))
	until := time.Unix(1<<40, 0) // later than any share expires
	for _, share := range s.order {
		if share.Author != s.self && share.expires.After(now) && (len(s.void) == 0 || share.Epoch > s.void[share.Author]) {
			valid = append(valid, &share.Share)
			if share.expires.Before(until) {
				until = share.expires
			}
		}
	}
	valid = slices.Clip(valid)
	s.latest = validList{shares: valid, from: now, until: until}
	return valid
}

// own returns the agent's own shares that have not expired, without ephemeral ones, sorted by key.
func (s *shares) own(now time.Time) (own []protocol.Share) {
	for _, share := range s.of(s.self) {
		if !share.ephemeral && share.expires.After(now) {
			own = append(own, share.Share.Share)
		}
	}
	return own
}

// since returns the relayed shares that a peer does not have, given the IDs of those that it has.
// In general they are valid, with two additions. It includes an expired share if the peer has an
// older one with its key: an author that has lost its journal learns from it which stamps it has
// used. It also includes a share that differs from the peer's share with the same stamp, so that
// the peer detects the equivocation.
func (s *shares) since(known []protocol.ShareID, now time.Time, withholds func(protocol.Share) bool) []protocol.SyncItem {
	byKey := make(map[protocol.Key]protocol.ShareID, len(known))
	for _, h := range known {
		byKey[h.Key] = h
	}
	var items []protocol.SyncItem
	for _, share := range s.order {
		theirs, known := byKey[share.Key]
		mine := protocol.ShareIDOf(share.Share.Share)
		newer := share.Stamp.Compare(theirs.Stamp) > 0 && (known || share.expires.After(now))
		differs := known && share.Stamp == theirs.Stamp && theirs.Digest != mine.Digest
		if (newer || differs) && !withholds(share.Share.Share) && s.relays(share.Author) {
			items = append(items, protocol.SyncItem{Envelope: share.Envelope, Age: now.Sub(share.accepted)})
		}
	}
	return items
}

// digest returns the IDs of the stored shares.
func (s *shares) digest(withholds func(protocol.Share) bool) []protocol.ShareID {
	var digest []protocol.ShareID
	for _, share := range s.order {
		if !withholds(share.Share.Share) {
			digest = append(digest, protocol.ShareIDOf(share.Share.Share))
		}
	}
	return digest
}

func (s *shares) sorted() []*held { return slices.Clone(s.order) }
