package peers

import (
	"cmp"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

const (
	newcomerTime = 5 * time.Second // for this time after it joins, a peer counts as active even if it has delivered nothing
	ActiveTime   = 2 * time.Minute // for this time after it delivers a new share, a peer counts as active

	MaxAnchors   = 8
	anchorAge    = 3 * time.Minute // minimum time on the task of a peer that becomes an anchor
	anchorsPause = 5 * time.Minute // between updates of the stored anchors
)

// Task makes the decisions on the peers of one task: which of them are active, which members are
// known and dialled, and which connections the node keeps. Silent peers do not count as active;
// otherwise an attacker with many identities could eclipse the node by connecting first.
//
// A Task stores members with their addresses even when they are not connected. libp2p forgets the
// addresses of disconnected peers, and then nothing could reconnect the parts of a partitioned
// network. All data about a member comes from records that the member has signed. The node knows
// that a member takes part in the task if it has been on the task's topic; otherwise only its
// referrers claim so.
type Task struct {
	policy *Policy // its lock guards the fields below
	roster map[peer.ID]bool

	onTopic map[peer.ID]bool         // peers on the gossip topic, admitted to the task or not
	peers   map[peer.ID]peerActivity // peers on the task
	fetched map[peer.ID]bool         // peers that have sent their shares or failed to
	kept    map[peer.ID]time.Time    // outbound peers that are never evicted, with the time of their protection

	suggesting map[peer.ID]bool // peers on the task that have suggested authors

	known   map[peer.ID]*member
	learned uint64 // number of members ever learned
	search  search
}

type peerActivity struct {
	since    time.Time
	received time.Time // time of the last new share that it delivered
}

// NewTask returns a Task. If roster is not empty, only its peers take part.
func (p *Policy) NewTask(roster map[peer.ID]bool) *Task {
	return &Task{
		policy: p, roster: roster,
		onTopic: map[peer.ID]bool{}, peers: map[peer.ID]peerActivity{}, fetched: map[peer.ID]bool{}, kept: map[peer.ID]time.Time{},
		known: map[peer.ID]*member{}, suggesting: map[peer.ID]bool{},
	}
}

// Arrived records that a peer is on the gossip topic. It joins the task only after its admission.
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

// Alone reports whether the node knows no member of the task and no peer is on its topic. All plans
// are empty until that changes.
func (t *Task) Alone() bool {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	return len(t.onTopic)+len(t.peers)+len(t.known)+len(t.kept) == 0
}

// HasPeers reports whether a peer is on the gossip topic.
func (t *Task) HasPeers() bool {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	return len(t.onTopic) > 0
}

// Joined records that a peer has joined the task, and returns false if it was on the task before.
// Until the next plan, the caller gives the peer ValueOnTask at the connection manager.
func (t *Task) Joined(now time.Time, id peer.ID) bool {
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	if _, already := t.peers[id]; already {
		return false
	}
	t.peers[id] = peerActivity{since: now}
	return true
}

// Identified records the signed record that a peer on the task has sent; nil means none. It returns
// the dial-back that is due, if any.
func (t *Task) Identified(now time.Time, id peer.ID, record []byte) []DialBack {
	if at := t.policy.addressOf(id); at != nil && record != nil {
		_ = t.Learn(record, id, at) // libp2p has verified the record
	}
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	t.raise(id, seen)
	return t.dialBack(now, id)
}

// Fetched records that a peer has sent its shares or failed to.
func (t *Task) Fetched(id peer.ID) {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	t.fetched[id] = true
}

// AllFetched reports whether each of these peers has sent its shares or failed to.
func (t *Task) AllFetched(ids []peer.ID) bool {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	return !slices.ContainsFunc(ids, func(id peer.ID) bool { return !t.fetched[id] })
}

// Left records that a peer has left the topic and the task.
func (t *Task) Left(id peer.ID) {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	delete(t.onTopic, id)
	delete(t.peers, id)
	delete(t.fetched, id)
	delete(t.suggesting, id)
}

// Delivered records that a new share was delivered by the peer that relayed it and by its author.
// It has no effect for peers that are not on the task.
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

// Active returns the number of active peers. Peers that joined within newcomerTime count too.
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

// pickActive returns a random peer of preferred, or of others if preferred is empty. It chooses
// among the active ones if there are any.
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

// Anchors returns peers to store for the next start: active peers that joined at least anchorAge
// ago, each with the address at which it last answered. Peers protected from eviction come first,
// then those that joined first.
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

// longestActive returns the active peers that have been on the task for at least the given time, in
// the order of Anchors.
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
