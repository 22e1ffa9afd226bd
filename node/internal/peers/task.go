package peers

import (
	"cmp"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

const (
	newcomerTime = 5 * time.Second // a peer that has delivered nothing counts as active this long after it joins
	ActiveTime   = 2 * time.Minute // a peer counts as active this long after it delivers a new share

	MaxAnchors   = 8
	anchorAge    = 3 * time.Minute // for so long an anchor has been on the task
	anchorsPause = 5 * time.Minute // between updates of the stored anchors
)

// Task decides on the peers of one task: which are active, which are known and dialled, and which
// the node keeps connected. Silent peers do not count as active; otherwise an attacker with many
// identities could eclipse the node by connecting first.
//
// Members are remembered with their addresses, whether they are connected or not: libp2p forgets
// the addresses of peers that are gone, and nothing else joins the halves of a network that was cut
// in two. Data about a member is only what the member has signed about itself. That it takes part
// in the task is known of peers that were on its topic; of others their referrers claim it.
type Task struct {
	policy *Policy // whose lock guards all below
	roster map[peer.ID]bool

	onTopic map[peer.ID]bool         // on the gossip topic, on the task or not
	peers   map[peer.ID]peerActivity // on the task
	fetched map[peer.ID]bool         // have sent their shares, or could not
	kept    map[peer.ID]time.Time    // outbound peers that are never evicted, and since when

	known   map[peer.ID]*member
	learned uint64 // how many ever
	search  search
}

type peerActivity struct {
	since    time.Time
	received time.Time // when it last delivered a new share
}

// NewTask returns the decisions on a task's peers. A roster names the only peers that take part;
// without one it is empty.
func (p *Policy) NewTask(roster map[peer.ID]bool) *Task {
	return &Task{
		policy: p, roster: roster,
		onTopic: map[peer.ID]bool{}, peers: map[peer.ID]peerActivity{}, fetched: map[peer.ID]bool{}, kept: map[peer.ID]time.Time{},
		known: map[peer.ID]*member{},
	}
}

// Arrived records that a peer is on the gossip topic. It joins the task once it is admitted.
func (t *Task) Arrived(id peer.ID) {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	t.onTopic[id] = true
}

// OnTopic reports whether a peer is on the gossip topic.
func (t *Task) OnTopic(id peer.ID) bool {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	return t.onTopic[id]
}

// Joined records that a peer has joined the task; false when it is on the task already. The
// connection manager gives the peer the value ValueOnTask until the next plan.
func (t *Task) Joined(now time.Time, id peer.ID) bool {
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	if _, already := t.peers[id]; already {
		return false
	}
	t.peers[id] = peerActivity{since: now}
	return true
}

// Identified records the signed record that a peer on the task has sent, nil for none. It returns the
// dial-back that is due, if there is one.
func (t *Task) Identified(now time.Time, id peer.ID, record []byte) []DialBack {
	if at := t.policy.addressOf(id); at != nil && record != nil {
		_ = t.Learn(record, id, at) // libp2p has verified it
	}
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	t.raise(id, seen)
	return t.dialBack(now, id)
}

// Fetched records that a peer has sent its shares, or could not.
func (t *Task) Fetched(id peer.ID) {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	t.fetched[id] = true
}

// AllFetched reports whether all these peers have sent their shares, or could not.
func (t *Task) AllFetched(ids []peer.ID) bool {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	return !slices.ContainsFunc(ids, func(id peer.ID) bool { return !t.fetched[id] })
}

// Left records that a peer has left the topic, and the task.
func (t *Task) Left(id peer.ID) {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	delete(t.onTopic, id)
	delete(t.peers, id)
	delete(t.fetched, id)
}

// Delivered records a new share as a delivery of the peer that relayed it and of its author. It has
// no effect for a peer that is not on the task.
func (t *Task) Delivered(now time.Time, from, author peer.ID) {
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	for _, id := range []peer.ID{from, author} {
		if known, ok := t.peers[id]; ok {
			known.received = now
			t.peers[id] = known
			t.raise(id, delivering)
			t.policy.delivered(now, id)
		}
	}
}

func (s peerActivity) isActive(now time.Time) bool { return now.Sub(s.received) < ActiveTime }

// Active returns the number of active peers, new ones included.
func (t *Task) Active(now time.Time) int {
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	return t.active(now)
}

func (t *Task) active(now time.Time) int {
	count := 0
	for _, known := range t.peers {
		if known.isActive(now) || now.Sub(known.since) < newcomerTime {
			count++
		}
	}
	return count
}

// pickActive returns a random peer of preferred or, if that is empty, of others; an active one if
// there is any.
func (t *Task) pickActive(now time.Time, preferred, others []peer.ID) peer.ID {
	if len(preferred) == 0 {
		preferred = others
	}
	rest := slices.DeleteFunc(slices.Clone(preferred), func(id peer.ID) bool { return !t.peers[id].isActive(now) })
	if len(rest) == 0 {
		rest = preferred
	}
	return rest[t.policy.random.IntN(len(rest))]
}

// Anchors returns peers for the next start that have long been active, each at the address at which
// it has answered last: those that are never evicted first, those that joined first before others.
func (t *Task) Anchors(now time.Time) (anchors []peer.AddrInfo) {
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	return t.anchors(now)
}

func (t *Task) anchors(now time.Time) (anchors []peer.AddrInfo) {
	for _, id := range t.longestActive(now, anchorAge) {
		if address := t.policy.attempts.lastAnswer(id); address != nil && len(anchors) < MaxAnchors {
			anchors = append(anchors, peer.AddrInfo{ID: id, Addrs: []multiaddr.Multiaddr{address}})
		}
	}
	return anchors
}

// longestActive returns the active peers that have been on the task for at least so long.
func (t *Task) longestActive(now time.Time, least time.Duration) []peer.ID {
	var ids []peer.ID
	for id, known := range t.peers {
		if known.isActive(now) && now.Sub(known.since) >= least {
			ids = append(ids, id)
		}
	}
	inbound := func(id peer.ID) int {
		if _, kept := t.kept[id]; kept {
			return 0
		}
		return 1
	}
	slices.SortFunc(ids, func(a, b peer.ID) int {
		return cmp.Or(cmp.Compare(inbound(a), inbound(b)), t.peers[a].since.Compare(t.peers[b].since), cmp.Compare(a, b))
	})
	return ids
}
