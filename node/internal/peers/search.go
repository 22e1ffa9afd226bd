package peers

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Constants for the search for active peers.
const (
	EnoughPeers   = 10               // active peers on the task; with fewer the node dials known members
	EnoughDialled = 16               // outbound connections; with fewer the node often dials unknown members, whatever the number of inbound ones
	ConnectPause  = time.Second      // between plans, with jitter
	DialPause     = ConnectPause / 4 // the same when a node with too few active peers has dialled members; also how long it waits for them
	VisitPause    = 3 * time.Second  // between dials of unknown members when there are enough active peers, and room for more
	LongPause     = 30 * time.Second // between requests for members, once responses contain no new ones
	directPause   = 5 * time.Second  // between attempts to do without a hub, twice as long with each
	LostPause     = 15 * time.Second // between dials of lost members when there are enough active peers
)

// search is when a node does what on its search for active peers.
type search struct {
	asking                                    time.Duration // between requests for members
	visited, nextAsk, nextChange, nextAnchors time.Time
	direct                                    backoff
}

// Plan is what a node does next to stay well connected on a task.
type Plan struct {
	Values             map[peer.ID]int // of peers, for the connection manager
	Protect, Unprotect []peer.ID       // from eviction
	DialBacks          []DialBack
	Anchors            []peer.AddrInfo // to store for the next start; none: those of the last start remain
	Direct             peer.ID         // a relayed peer to reach without the hub; empty: none
	Dial               []Candidate     // for whose answers the node waits for DialPause
	Fetch              peer.ID         // to ask for shares and members; empty: none
	Pause              time.Duration
}

// Start begins the search, and returns the pause until the first plan.
func (t *Task) Start(now time.Time) time.Duration {
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	t.search = search{
		asking: ConnectPause, visited: now, nextAsk: now,
		nextChange: now.Add(jittered(t.policy.random, changePause)), nextAnchors: now.Add(anchorsPause),
		direct: backoff{next: now.Add(directPause), pause: directPause},
	}
	return jittered(t.policy.random, ConnectPause)
}

// Plan returns what the node does next, with these peers on the task. Nodes that were all given one
// address would otherwise form a star, on which gossip loses a third of the messages once there are
// forty.
func (t *Task) Plan(now time.Time, onTask []peer.ID) Plan {
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	s, random := &t.search, t.policy.random
	change := now.After(s.nextChange)
	if change {
		s.nextChange = now.Add(jittered(random, changePause))
	}
	all := t.neighbours(onTask)
	plan := Plan{Values: connectionValues(now, all)}
	plan.Protect, plan.Unprotect = t.protect(now, all, change)
	for _, id := range onTask {
		plan.DialBacks = append(plan.DialBacks, t.dialBack(now, id)...)
	}
	if now.After(s.nextAnchors) {
		s.nextAnchors = now.Add(anchorsPause)
		plan.Anchors = t.anchors(now)
	}
	if relayed := t.relayed(onTask); s.direct.isDue(now, random) && len(relayed) > 0 {
		plan.Direct = relayed[random.IntN(len(relayed))]
	}
	plan.Pause = jittered(random, t.seek(now, &plan, all, change))
	return plan
}

// seek adds to a plan which members to dial or which peer to ask, and returns the pause after it.
func (t *Task) seek(now time.Time, plan *Plan, all []neighbour, change bool) time.Duration {
	s := &t.search
	var dialled, onTask []peer.ID
	for _, n := range all {
		onTask = append(onTask, n.id)
		if n.outbound {
			dialled = append(dialled, n.id)
		}
	}
	missing := EnoughPeers - t.active(now)
	if missing > 0 {
		if plan.Dial = t.dial(now, missing, all); len(plan.Dial) > 0 {
			s.asking = ConnectPause
			return DialPause
		}
	} else if change || now.Sub(s.visited) > t.visitInterval(len(dialled)) {
		// The other half of a network that was cut in two has enough active peers as well, and so
		// have nodes that attackers keep from each other; some node must look for them.
		s.visited = now
		plan.Dial = t.dial(now, 1, all)
		return ConnectPause
	}
	if now.After(s.nextAsk) && len(onTask) > 0 && (missing > 0 || len(dialled) < EnoughDialled) {
		plan.Fetch = t.pickActive(now, dialled, onTask)
		s.nextAsk = now.Add(s.asking)
		s.asking = min(2*s.asking, LongPause)
	}
	return ConnectPause
}

// visitInterval returns the pause between dials of a node with enough active peers and this many
// outbound connections.
func (t *Task) visitInterval(dialled int) time.Duration {
	if dialled < EnoughDialled && t.unvisited() {
		return VisitPause
	}
	return LostPause
}

// relayed returns those of the peers that are reached through a hub only.
func (t *Task) relayed(onTask []peer.ID) (relayed []peer.ID) {
	for _, id := range onTask {
		open := t.policy.connections[id]
		if len(open) > 0 && !slices.ContainsFunc(open, func(c connection) bool { return !IsCircuit(c.address) }) {
			relayed = append(relayed, id)
		}
	}
	return relayed
}

// dial returns members to dial that are not connected.
func (t *Task) dial(now time.Time, count int, all []neighbour) []Candidate {
	return t.pick(count, now, func(id peer.ID) bool {
		return len(t.policy.connections[id]) > 0 || t.policy.banned(now, id)
	}, crowding(all))
}
