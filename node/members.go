package node

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

// Bounds of what is remembered of other nodes.
const (
	mostMembers     = 512
	mostFailures    = 6 // dials of a stranger before it is forgotten
	firstRetry      = time.Second
	longestRetry    = 20 * time.Second // a healed network is used again within a minute
	mostRedialTries = 30               // 2³⁰ s is more than any pause
)

// members remembers how the nodes of one task can be reached, whether they are
// connected or not: libp2p forgets the addresses of peers that are gone, and
// nobody else brings back the halves of a network that was cut in two.
//
// What it knows is what the nodes have signed about themselves. That somebody
// takes part in the task is known of those met there; of others it is hearsay.
type members struct {
	self    peer.ID
	allowed func(peer.ID) bool // who may take part

	mu    sync.Mutex
	known map[peer.ID]*member
}

type member struct {
	sealed   []byte // its signed record
	info     peer.AddrInfo
	sequence uint64
	met      bool // on this task, since the start of the session
	failures int  // dials in a row
	retry    time.Time
}

func newMembers(self peer.ID, allowed func(peer.ID) bool) *members {
	return &members{self: self, allowed: allowed, known: map[peer.ID]*member{}}
}

// learn takes in a signed record; the newest of a peer counts, and that of a peer
// that may not take part does not. An error means that the record is malformed.
func (m *members) learn(sealed []byte) error {
	record, err := protocol.OpenRecord(sealed)
	if err != nil || record.PeerID == m.self || !m.allowed(record.PeerID) {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.known[record.PeerID]
	if known == nil {
		known = &member{}
		m.known[record.PeerID] = known
	} else if record.Seq <= known.sequence {
		return nil
	}
	known.sealed, known.sequence = slices.Clone(sealed), record.Seq
	known.info = peer.AddrInfo{ID: record.PeerID, Addrs: record.Addrs}
	known.failures, known.retry = 0, time.Time{} // it may have moved
	m.bound(record.PeerID)
	return nil
}

// bound forgets one member when there are too many: strangers before those that
// were met, and among them the least reachable.
func (m *members) bound(newest peer.ID) {
	if len(m.known) <= mostMembers {
		return
	}
	var worst peer.ID
	for id, candidate := range m.known {
		if id == newest {
			continue
		}
		if worst == "" || candidate.worth(m.known[worst]) < 0 {
			worst = id
		}
	}
	delete(m.known, worst)
}

func (m *member) worth(other *member) int {
	met := func(m *member) int {
		if m.met {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(met(m), met(other)), -cmp.Compare(m.failures, other.failures))
}

// met notes that a peer takes part in the task.
func (m *members) meet(id peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.known[id]; known != nil {
		known.met, known.failures, known.retry = true, 0, time.Time{}
	}
}

// failed notes that a peer could not be reached, and when to try again.
func (m *members) failed(id peer.ID, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.known[id]
	if known == nil {
		return
	}
	known.failures = min(known.failures+1, mostRedialTries)
	if !known.met && known.failures >= mostFailures {
		delete(m.known, id)
		return
	}
	pause := min(firstRetry<<(known.failures-1), longestRetry)
	known.retry = now.Add(jittered(pause))
}

// pick returns up to count members to dial, at random, those that were met
// first.
func (m *members) pick(count int, now time.Time, connected func(peer.ID) bool) []peer.AddrInfo {
	m.mu.Lock()
	var candidates []*member
	for id, known := range m.known {
		if !known.retry.After(now) && !connected(id) {
			candidates = append(candidates, known)
		}
	}
	rand.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
	slices.SortStableFunc(candidates, func(a, b *member) int { return -a.worth(b) })
	var picked []peer.AddrInfo
	for _, known := range candidates[:min(count, len(candidates))] {
		picked = append(picked, known.info)
	}
	m.mu.Unlock()
	return picked
}

// address tells how a peer can be reached, as far as is known.
func (m *members) address(id peer.ID) peer.AddrInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.known[id]; known != nil {
		return known.info
	}
	return peer.AddrInfo{ID: id}
}

// records returns up to count signed records at random, those of peers that
// were met first.
func (m *members) records(count int) [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]*member, 0, len(m.known))
	for _, known := range m.known {
		all = append(all, known)
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortStableFunc(all, func(a, b *member) int { return -a.worth(b) })
	var records [][]byte
	for _, known := range all[:min(count, len(all))] {
		records = append(records, known.sealed)
	}
	return records
}
