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

// Bounds of stored data about other nodes.
const (
	MaxMembers   = 512
	maxReferrers = 4 // of one member
	maxFailures  = 6 // dials of a peer that was never on the task before it is removed
)

type member struct {
	number    uint64 // in the order in which the node has learned of them
	sealed    []byte // its signed record; nil when only an address is known
	signed    []multiaddr.Multiaddr
	info      peer.AddrInfo // the addresses of these to dial
	sequence  uint64
	referrers []peer.ID // peers that introduced it; none if an earlier run of this node stored it
	scope     Scope     // the narrowest of theirs
	activity  int
	visited   bool // met, or dialled
	failures  int  // dials in a row
	retry     time.Time
	dialBacks backoff
}

// Activity of a member in this session; higher is better.
const (
	unmet      = iota
	seen       // it has been on the task
	delivering // it has delivered a new share, or did so in an earlier run
)

// Learn takes in a signed record from a peer that is connected at an address. The newest of a member
// counts, and that of a peer that may not take part does not. An error means that the record is
// malformed.
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
		known.failures, known.retry = 0, time.Time{} // it may have moved
	} else if scope >= known.scope {
		return nil
	}
	known.scope = min(known.scope, scope)
	known.info = peer.AddrInfo{ID: record.PeerID, Addrs: t.policy.worthTrying(known.signed, known.scope)}
	return nil
}

// addReferrer records another peer that introduces a member, so that no peer can prevent dials of
// a member by introducing it first.
func (t *Task) addReferrer(m *member, referrer peer.ID) {
	switch {
	case slices.Contains(m.referrers, referrer):
	case len(m.referrers) < maxReferrers:
		m.referrers = append(m.referrers, referrer)
	default:
		m.referrers[t.policy.random.IntN(maxReferrers)] = referrer
	}
}

// Recall adds an anchor: an address at which a peer delivered shares in an earlier run.
func (t *Task) Recall(info peer.AddrInfo) {
	if info.ID == t.policy.self || !t.policy.MayTakePart(info.ID) {
		return
	}
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	t.known[info.ID] = &member{info: info, scope: Global, activity: delivering, dialBacks: backoff{pause: dialBackPause}}
}

// bound drops one member when there are too many: unmet members before met ones, among them one
// of the referrer with the most members, and the least reachable.
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
	fewest := func(m *member) int { // of the referrers' members
		least := MaxMembers
		for _, referrer := range m.referrers {
			least = min(least, sentTo[referrer])
		}
		return least
	}
	worst := map[peer.ID]*member{} // that are equally bad
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

// raise records what a member has done on the task.
func (t *Task) raise(id peer.ID, activity int) {
	if known := t.known[id]; known != nil {
		known.activity = max(known.activity, activity)
		known.visited, known.failures, known.retry = true, 0, time.Time{}
	}
}

// isAnchor reports whether only an earlier run of the node has introduced a member.
func (m *member) isAnchor() bool { return len(m.referrers) == 0 }

// Members returns how many members are known.
func (t *Task) Members() int {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	return len(t.known)
}

// unvisited reports whether there are members that were never visited.
func (t *Task) unvisited() bool {
	for _, known := range t.known {
		if !known.visited {
			return true
		}
	}
	return false
}

// Address returns how a peer can be reached, as far as is known.
func (t *Task) Address(id peer.ID) peer.AddrInfo {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	if known := t.known[id]; known != nil {
		return known.info
	}
	return peer.AddrInfo{ID: id}
}

// Records returns up to count signed records at random, those of active peers first. It returns none
// of a peer that has not answered at an address in it.
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
