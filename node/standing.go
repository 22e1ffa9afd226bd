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

	"github.com/fbo-node/fbo/internal/dials"
	"github.com/fbo-node/fbo/task"
)

// Which connections a node keeps when there are more than it has room for.
const (
	mostOutbound = 8                // of a task, that nothing displaces and the node has made itself
	newcomer     = 5 * time.Second  // for so long a peer counts as company that has said nothing
	silence      = 2 * time.Minute  // after that it no longer does
	changePause  = 10 * time.Minute // between changes of one of the kept

	worthOnTask  = 50 // of a connection manager's tag; above those of others
	worthSaying  = 50 // and as much more when it says something
	freeOfRange  = 2  // peers from one range of addresses that are not worth less for that
	worthCrowded = 5  // less for each more
	mostCrowded  = 8  // times that

	worthListed = 1000 // of those on the list of who may take part, or in the task's roster
)

// standing is what a session makes of the peers that are on its task now. Whoever is
// there and says nothing is no company: a node that were content with it could be
// surrounded by whoever comes first with names enough.
type standing struct {
	mu    sync.Mutex
	peers map[peer.ID]stand
	kept  map[peer.ID]time.Time // outbound ones that nothing displaces, since when
}

type stand struct {
	since time.Time
	heard time.Time // when it last brought something new
}

func newStanding() *standing {
	return &standing{peers: map[peer.ID]stand{}, kept: map[peer.ID]time.Time{}}
}

func (s *standing) came(id peer.ID, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers[id] = stand{since: now}
}

func (s *standing) left(id peer.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, id)
}

// heard notes that a peer on the task has brought something new; false when it is not
// there.
func (s *standing) heard(id peer.ID, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.peers[id]
	if ok {
		known.heard = now
		s.peers[id] = known
	}
	return ok
}

func (s stand) says(now time.Time) bool { return now.Sub(s.heard) < silence }

// saying counts the peers that say something, and newcomers.
func (s *standing) saying(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, known := range s.peers {
		if known.says(now) || now.Sub(known.since) < newcomer {
			count++
		}
	}
	return count
}

// anyOf is one of the preferred peers or, when there are none, of the others, at random,
// if possible one that says something.
func (s *standing) anyOf(now time.Time, preferred, others []peer.ID) peer.ID {
	if len(preferred) == 0 {
		preferred = others
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(preferred), func(id peer.ID) bool { return !s.peers[id].says(now) })
	if len(rest) == 0 {
		rest = preferred
	}
	return rest[rand.IntN(len(rest))]
}

// neighbour is a peer as the choice of connections sees it.
type neighbour struct {
	stand
	id       peer.ID
	from     netip.Prefix // its range of addresses
	outbound bool
	listed   bool
}

// worths puts a number to each neighbour, larger for those to keep. Of peers in one
// range the first count most, those that say something and have been there longest.
func worths(now time.Time, all []neighbour) map[peer.ID]int {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b neighbour) int {
		if a.says(now) != b.says(now) {
			if a.says(now) {
				return -1
			}
			return 1
		}
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.id, b.id))
	})
	worth, ofRange := map[peer.ID]int{}, map[netip.Prefix]int{}
	for _, n := range all {
		value := worthOnTask
		if n.says(now) {
			value += worthSaying
		}
		value -= worthCrowded * min(max(ofRange[n.from]+1-freeOfRange, 0), mostCrowded)
		ofRange[n.from]++
		if n.listed {
			value = worthListed
		}
		worth[n.id] = value
	}
	return worth
}

// choose renews the set of outbound neighbours that nothing displaces: those of it that
// are there and say something, and others from ranges of which there are the fewest
// in it, those that have been there longest first. With change one of them makes
// room for another, chosen at random, when there is one. It returns who has come and who is no longer in
// it.
func (s *standing) choose(now time.Time, all []neighbour, change bool) (come, gone []peer.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := maps.Clone(s.kept)
	ofRange := map[netip.Prefix]int{}
	there := map[peer.ID]bool{}
	var others []neighbour
	for _, n := range all {
		if !n.outbound || !n.says(now) {
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
	if change && len(s.kept) == mostOutbound && len(others) > 0 {
		ids := slices.Collect(maps.Keys(s.kept))
		delete(s.kept, ids[rand.IntN(len(ids))])
	}
	for len(s.kept) < mostOutbound && len(others) > 0 {
		best := slices.MinFunc(others, func(a, b neighbour) int {
			return cmp.Or(cmp.Compare(ofRange[a.from], ofRange[b.from]), a.since.Compare(b.since))
		})
		others = slices.DeleteFunc(others, func(n neighbour) bool { return n.id == best.id })
		ofRange[best.from]++
		s.kept[best.id] = now
	}
	for id := range s.kept {
		if _, already := before[id]; !already {
			come = append(come, id)
		}
		delete(before, id)
	}
	return come, slices.Collect(maps.Keys(before))
}

// steadiest lists the peers that have said something for at least so long, the kept ones
// first, those that have been there longest first.
func (s *standing) steadiest(now time.Time, least time.Duration) []peer.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []peer.ID
	for id, known := range s.peers {
		if known.says(now) && now.Sub(known.since) >= least {
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

// heard notes who has brought something new: whoever has passed it on, and its author.
func (t *topic) heard(now time.Time, from, author peer.ID) {
	for _, id := range []peer.ID{from, author} {
		if t.standing.heard(id, now) {
			t.members.heard(id)
			t.session.node.conduct.brought(id)
		}
	}
}

func (t *topic) protection() string { return "outbound " + t.name() }

// arrange tells the connection manager which peers of the task to keep when it has to
// close connections. It returns those to which the node has made a connection itself.
func (t *topic) arrange(now time.Time, peers []peer.ID, change bool) (dialled []peer.ID) {
	manager := t.session.node.host.ConnManager()
	all := t.neighbours(peers)
	for id, worth := range worths(now, all) {
		manager.TagPeer(id, t.name(), worth)
	}
	come, gone := t.standing.choose(now, all, change)
	for _, id := range come {
		manager.Protect(id, t.protection())
	}
	for _, id := range gone {
		manager.Unprotect(id, t.protection())
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

// release ends the protection of peers when the session ends.
func (t *topic) release() {
	_, gone := t.standing.choose(time.Now(), nil, false)
	for _, id := range gone {
		t.session.node.host.ConnManager().Unprotect(id, t.protection())
	}
}

func (t *topic) neighbours(peers []peer.ID) []neighbour {
	t.standing.mu.Lock()
	defer t.standing.mu.Unlock()
	var all []neighbour
	for _, id := range peers {
		n := neighbour{stand: t.standing.peers[id], id: id, listed: t.session.node.gate.listed[id] || t.roster[id]}
		for _, c := range t.session.node.host.Network().ConnsToPeer(id) {
			n.outbound = n.outbound || c.Stat().Direction == network.DirOutbound
			if ip, ok := dials.IP(c.RemoteMultiaddr()); ok {
				n.from = dials.Range(ip)
			}
		}
		all = append(all, n)
	}
	return all
}

// crowds tells of how many connected peers a peer would share the most crowded of its
// ranges.
func (t *topic) crowds() func(peer.AddrInfo) int {
	ofRange := map[netip.Prefix]int{}
	for _, n := range t.neighbours(t.onTask()) {
		ofRange[n.from]++
	}
	return func(info peer.AddrInfo) int { return most(info, wideRangeOf, ofRange) }
}
