package node

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/dialbudget"
	"github.com/fbo-node/fbo/task"
)

// Constants for the choice of connections that a node keeps when it has too many.
const (
	maxOutbound  = 8                // outbound connections of a task that are never evicted
	newcomerTime = 5 * time.Second  // a peer that has delivered nothing counts as active this long after it joins
	activeTime   = 2 * time.Minute  // a peer counts as active this long after it delivers a new share
	changePause  = 10 * time.Minute // between replacements of a protected connection

	valueOnTask         = 50 // of a connection manager's tag; above those of others
	valueActive         = 50 // added for an active peer
	peersPerRange       = 2  // peers from one range of addresses without a penalty
	crowdedPenalty      = 5  // for each further peer of the range
	maxCrowdedPenalties = 8  // penalties at most

	valueListed = 1000 // of peers on the allow list or in the task's roster
)

// activity records which peers on a session's task are active. Silent peers do not count as
// active; otherwise an attacker with many identities could eclipse the node by connecting first.
type activity struct {
	mu    sync.Mutex
	peers map[peer.ID]peerActivity
	kept  map[peer.ID]time.Time // outbound peers that are never evicted, and since when
}

type peerActivity struct {
	since    time.Time
	received time.Time // when it last delivered a new share
}

func newActivity() *activity {
	return &activity{peers: map[peer.ID]peerActivity{}, kept: map[peer.ID]time.Time{}}
}

func (s *activity) noteJoin(id peer.ID, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers[id] = peerActivity{since: now}
}

func (s *activity) noteLeave(id peer.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, id)
}

// noteDelivery records that a peer delivered a new share; false if the peer is not on the task.
func (s *activity) noteDelivery(id peer.ID, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.peers[id]
	if ok {
		known.received = now
		s.peers[id] = known
	}
	return ok
}

func (s peerActivity) isActive(now time.Time) bool { return now.Sub(s.received) < activeTime }

// activeCount returns the number of active peers, newcomers included.
func (s *activity) activeCount(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, known := range s.peers {
		if known.isActive(now) || now.Sub(known.since) < newcomerTime {
			count++
		}
	}
	return count
}

// pick returns a random peer of preferred or, if that is empty, of others; an active one if there
// is any.
func (s *activity) pick(now time.Time, preferred, others []peer.ID) peer.ID {
	if len(preferred) == 0 {
		preferred = others
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(preferred), func(id peer.ID) bool { return !s.peers[id].isActive(now) })
	if len(rest) == 0 {
		rest = preferred
	}
	return rest[rand.IntN(len(rest))]
}

// neighbour is a peer as the choice of connections sees it.
type neighbour struct {
	peerActivity
	id       peer.ID
	from     netip.Prefix // its range of addresses
	outbound bool
	listed   bool
}

// connectionValues returns the value of each neighbour; the node keeps those with larger values.
// Of peers in one range the active peers that joined first have the largest values.
func connectionValues(now time.Time, all []neighbour) map[peer.ID]int {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b neighbour) int {
		if a.isActive(now) != b.isActive(now) {
			if a.isActive(now) {
				return -1
			}
			return 1
		}
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.id, b.id))
	})
	worth, ofRange := map[peer.ID]int{}, map[netip.Prefix]int{}
	for _, n := range all {
		value := valueOnTask
		if n.isActive(now) {
			value += valueActive
		}
		value -= crowdedPenalty * min(max(ofRange[n.from]+1-peersPerRange, 0), maxCrowdedPenalties)
		ofRange[n.from]++
		if n.listed {
			value = valueListed
		}
		worth[n.id] = value
	}
	return worth
}

// protect renews the set of outbound neighbours that nothing displaces: those of it that
// are there and say something, and others from ranges of which there are the fewest
// in it, those that have been there longest first. With change one of them makes
// room for another, chosen at random, when there is one. It returns who has come and who is no longer in
// it.
func (s *activity) protect(now time.Time, all []neighbour, change bool) (ready, gone []peer.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := maps.Clone(s.kept)
	ofRange := map[netip.Prefix]int{}
	there := map[peer.ID]bool{}
	var others []neighbour
	for _, n := range all {
		if !n.outbound || !n.isActive(now) {
			continue
		}
		there[n.id] = true
		if _, kept := s.kept[n.id]; kept {
			ofRange[n.from]++
		} else {
			others = append(others, n)
		}
	}
	maps.DeleteFunc(s.kept, func(id peer.ID, _ time.Time) bool { return !there[id] })
	if change && len(s.kept) == maxOutbound && len(others) > 0 {
		ids := slices.Collect(maps.Keys(s.kept))
		delete(s.kept, ids[rand.IntN(len(ids))])
	}
	for len(s.kept) < maxOutbound && len(others) > 0 {
		best := slices.MinFunc(others, func(a, b neighbour) int {
			return cmp.Or(cmp.Compare(ofRange[a.from], ofRange[b.from]), a.since.Compare(b.since))
		})
		others = slices.DeleteFunc(others, func(n neighbour) bool { return n.id == best.id })
		ofRange[best.from]++
		s.kept[best.id] = now
	}
	for id := range s.kept {
		if _, already := before[id]; !already {
			ready = append(ready, id)
		}
		delete(before, id)
	}
	return ready, slices.Collect(maps.Keys(before))
}

// longestActive lists the peers that have said something for at least so long, the kept ones
// first, those that have been there longest first.
func (s *activity) longestActive(now time.Time, least time.Duration) []peer.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []peer.ID
	for id, known := range s.peers {
		if known.isActive(now) && now.Sub(known.since) >= least {
			ids = append(ids, id)
		}
	}
	inbound := func(id peer.ID) int {
		if _, kept := s.kept[id]; kept {
			return 0
		}
		return 1
	}
	slices.SortFunc(ids, func(a, b peer.ID) int {
		return cmp.Or(cmp.Compare(inbound(a), inbound(b)), s.peers[a].since.Compare(s.peers[b].since), cmp.Compare(a, b))
	})
	return ids
}

// noteDelivery records a new share as a delivery of the peer that relayed it and of its author.
func (t *topic) noteDelivery(now time.Time, from, author peer.ID) {
	for _, id := range []peer.ID{from, author} {
		if t.activity.noteDelivery(id, now) {
			t.members.noteDelivery(id)
			t.session.node.policy.noteDelivery(id)
		}
	}
}

func (t *topic) protectionTag() string { return "outbound " + t.name() }

// protectPeers tells the connection manager which peers of the task to keep when it has to
// close connections. It returns those to which the node has made a connection itself.
func (t *topic) protectPeers(now time.Time, peers []peer.ID, change bool) (dialled []peer.ID) {
	manager := t.session.node.host.ConnManager()
	all := t.neighbours(peers)
	for id, worth := range connectionValues(now, all) {
		manager.TagPeer(id, t.name(), worth)
	}
	ready, gone := t.activity.protect(now, all, change)
	for _, id := range ready {
		manager.Protect(id, t.protectionTag())
	}
	for _, id := range gone {
		manager.Unprotect(id, t.protectionTag())
	}
	for _, n := range all {
		if n.outbound {
			dialled = append(dialled, n.id)
		}
	}
	return dialled
}

// rosterOf is whom a task names as the only ones to take part; empty when it names nobody.
func rosterOf(t *task.Task) map[peer.ID]bool {
	roster := map[peer.ID]bool{}
	if t.Privacy != nil && t.Privacy.Aggregate != nil {
		for _, id := range t.Privacy.Aggregate.Roster {
			roster[id] = true
		}
	}
	var names []string
	if t.Strategy.Settings != nil {
		names, _ = t.Strategy.Settings.Keys()["roster"].([]string)
	}
	for _, name := range names {
		if id, err := peer.Decode(name); err == nil {
			roster[id] = true
		}
	}
	return roster
}

// unprotectPeers ends the protection of peers when the session ends.
func (t *topic) unprotectPeers() {
	_, gone := t.activity.protect(time.Now(), nil, false)
	for _, id := range gone {
		t.session.node.host.ConnManager().Unprotect(id, t.protectionTag())
	}
}

func (t *topic) neighbours(peers []peer.ID) []neighbour {
	t.activity.mu.Lock()
	defer t.activity.mu.Unlock()
	var all []neighbour
	for _, id := range peers {
		n := neighbour{peerActivity: t.activity.peers[id], id: id, listed: t.session.node.gate.listed[id] || t.roster[id]}
		for _, c := range t.session.node.host.Network().ConnsToPeer(id) {
			n.outbound = n.outbound || c.Stat().Direction == network.DirOutbound
			if ip, ok := dialbudget.IP(c.RemoteMultiaddr()); ok {
				n.from = dialbudget.Range(ip)
			}
		}
		all = append(all, n)
	}
	return all
}

// rangeCrowding tells of how many connected peers a peer would share the most crowded of its
// ranges.
func (t *topic) rangeCrowding() func(peer.AddrInfo) int {
	ofRange := map[netip.Prefix]int{}
	for _, n := range t.neighbours(t.onTask()) {
		ofRange[n.from]++
	}
	return func(info peer.AddrInfo) int { return maxInRanges(info, wideRangeOf, ofRange) }
}
