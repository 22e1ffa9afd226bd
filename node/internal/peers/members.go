package peers

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/protocol"
)

// Limits of the stored data about other nodes.
const (
	MaxMembers   = 512
	maxReferrers = 4 // referrers stored for one member
	maxFailures  = 6 // failed dials after which a member that was never on the task is removed
)

type member struct {
	number    uint64 // position in the order in which the node learned of its members
	sealed    []byte // the member's signed record; nil if only an address is known
	signed    []multiaddr.Multiaddr
	info      peer.AddrInfo // the member's ID with the addresses in signed that may be dialled
	sequence  uint64
	referrers []peer.ID // peers that introduced it; empty if only an earlier run of this node stored it
	scope     Scope     // narrowest scope of a referrer's address
	activity  int
	visited   bool // the node has met or dialled it
	failures  int  // number of successive failed dials
	retry     time.Time
	dialBacks backoff
}

// Values of a member's activity; a larger value is better.
const (
	unmet      = iota
	seen       // it has been on the task
	delivering // it has delivered a new share, or did so in an earlier run
)

// Learn stores a member's signed record, which a peer connected at the address from has sent. It
// keeps the newest record of each member, and ignores records of peers that may not take part. An
// error means that the record is malformed.
func (t *Task) Learn(sealed []byte, referrer peer.ID, from multiaddr.Multiaddr) error {
	return t.learn(sealed, referrer, ScopeOf(from))
}

func (t *Task) learn(sealed []byte, referrer peer.ID, scope Scope) error {
	record, err := protocol.OpenRecord(sealed)
	if err != nil || record.PeerID == t.policy.self || !t.policy.MayTakePart(record.PeerID) {
		return err
	}
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	known := t.known[record.PeerID]
	if known == nil {
		t.learned++
		known = &member{number: t.learned, scope: scope, referrers: []peer.ID{referrer}, dialBacks: backoff{pause: dialBackPause}}
		t.known[record.PeerID] = known
		t.bound(record.PeerID)
	} else {
		t.addReferrer(known, referrer)
	}
	if record.Seq > known.sequence {
		known.sealed, known.sequence, known.signed = slices.Clone(sealed), record.Seq, record.Addrs
		known.failures, known.retry = 0, time.Time{} // the member may have moved
	} else if scope >= known.scope {
		return nil
	}
	known.scope = min(known.scope, scope)
	known.info = peer.AddrInfo{ID: record.PeerID, Addrs: t.policy.worthTrying(known.signed, known.scope)}
	return nil
}

// addReferrer adds another peer that introduced a member. Otherwise a peer could prevent dials of a
// member by being the first to introduce it, with its own budget spent.
func (t *Task) addReferrer(m *member, referrer peer.ID) {
	switch {
	case slices.Contains(m.referrers, referrer):
	case len(m.referrers) < maxReferrers:
		m.referrers = append(m.referrers, referrer)
	default:
		m.referrers[t.policy.random.IntN(maxReferrers)] = referrer
	}
}

// Recall adds an anchor, with the address at which the peer delivered shares in an earlier run.
func (t *Task) Recall(info peer.AddrInfo) {
	if info.ID == t.policy.self || !t.policy.MayTakePart(info.ID) {
		return
	}
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	t.known[info.ID] = &member{info: info, scope: Global, activity: delivering, dialBacks: backoff{pause: dialBackPause}}
}

// bound removes one member if there are more than MaxMembers, but never the newest. Members with
// the least activity are removed first. Among these it removes one from the referrer with the most
// members, then the one with the most failed dials; remaining ties are broken at random.
func (t *Task) bound(newest peer.ID) {
	if len(t.known) <= MaxMembers {
		return
	}
	sentTo := map[peer.ID]int{}
	for _, known := range t.known {
		for _, referrer := range known.referrers {
			sentTo[referrer]++
		}
	}
	fewest := func(m *member) int { // number of members of the referrer that has introduced the fewest
		least := MaxMembers
		for _, referrer := range m.referrers {
			least = min(least, sentTo[referrer])
		}
		return least
	}
	worst := map[peer.ID]*member{} // members that are equally suitable for removal
	for id, candidate := range t.known {
		if id == newest {
			continue
		}
		order := -1
		for _, other := range worst {
			order = cmp.Or(cmp.Compare(candidate.activity, other.activity), -cmp.Compare(fewest(candidate), fewest(other)), -cmp.Compare(candidate.failures, other.failures))
			break
		}
		if order < 0 {
			clear(worst)
		}
		if order <= 0 {
			worst[id] = candidate
		}
	}
	delete(t.known, randomKey(t.policy.random, worst))
}

// raise records that a member has reached this activity on the task, and resets its failed dials.
func (t *Task) raise(id peer.ID, activity int) {
	if known := t.known[id]; known != nil {
		known.activity = max(known.activity, activity)
		known.visited, known.failures, known.retry = true, 0, time.Time{}
	}
}

// isAnchor reports whether a member is known only from an earlier run of the node.
func (m *member) isAnchor() bool { return len(m.referrers) == 0 }

// Members returns the number of known members.
func (t *Task) Members() int {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	return len(t.known)
}

// unvisited reports whether there is a member that the node has neither met nor dialled.
func (t *Task) unvisited() bool {
	for _, known := range t.known {
		if !known.visited {
			return true
		}
	}
	return false
}

// Address returns the known addresses of a peer.
func (t *Task) Address(id peer.ID) peer.AddrInfo {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	if known := t.known[id]; known != nil {
		return known.info
	}
	return peer.AddrInfo{ID: id}
}

// Records returns up to count signed records of members, chosen at random, the most active members
// first. It omits members that have not answered at an address in their record.
func (t *Task) Records(count int) [][]byte {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	all := make([]*member, 0, len(t.known))
	for _, id := range slices.Sorted(maps.Keys(t.known)) {
		known := t.known[id]
		if known.sealed != nil && known.failures < maxFailures && t.policy.attempts.hasAnsweredAny(id, known.info.Addrs...) {
			all = append(all, known)
		}
	}
	t.policy.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortStableFunc(all, func(a, b *member) int {
		return cmp.Or(-cmp.Compare(a.activity, b.activity), cmp.Compare(a.failures, b.failures))
	})
	var records [][]byte
	for _, known := range all[:min(count, len(all))] {
		records = append(records, known.sealed)
	}
	return records
}
