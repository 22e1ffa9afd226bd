package peers

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Constants of the search for active peers.
const (
	EnoughPeers   = 10               // active peers on the task; with fewer, the node dials known members
	EnoughDialled = 16               // outbound connections; with fewer, the node often dials members that it has never met, even if it has many inbound connections
	ConnectPause  = time.Second      // between plans, with jitter
	DialPause     = ConnectPause / 4 // between plans while a node with too few active peers dials members; also the time for which it waits for their answers
	VisitPause    = 3 * time.Second  // between dials of members never met, if there are enough active peers and fewer than EnoughDialled outbound connections
	LongPause     = 30 * time.Second // between requests for members' records, if responses contain no new members
	directPause   = 5 * time.Second  // between attempts to reach a relayed peer directly; doubled after each
	LostPause     = 15 * time.Second // between dials of members that are not connected, if there are enough active peers
)

// search holds the times of the next actions in a node's search for active peers.
type search struct {
	asking                                    time.Duration // pause between requests for members' records
	visited, nextAsk, nextChange, nextAnchors time.Time
	direct                                    backoff
}

// Plan holds the next actions of a node to stay well connected on a task.
type Plan struct {
	Values             map[peer.ID]int // value of each peer for the connection manager
	Protect, Unprotect []peer.ID       // peers whose protection from eviction begins or ends
	DialBacks          []DialBack
	Anchors            []peer.AddrInfo // anchors to store for the next start; none: the stored ones remain
	Direct             peer.ID         // a relayed peer to connect to directly; empty: none
	Dial               []Candidate     // members to dial; the node waits at most DialPause for their answers
	Fetch              peer.ID         // a peer to request shares and members' records from; empty: none
	Pause              time.Duration
}

// Start begins the search and returns the pause before the first plan.
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

// Plan returns the node's next actions; onTask holds the connected peers on the task. Without this
// search, nodes that all begin with one peer's address would form a star, in which gossip loses a
// third of the messages with forty nodes.
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

// seek adds members to dial, or a peer to request records from, to a plan. It returns the pause
// before the next plan.
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
		// Dial even with enough active peers. If a network was partitioned, both parts have enough
		// of them. The same holds for nodes that attackers keep apart. Only a dial across the
		// partition joins the parts.
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

// visitInterval returns the pause between dials for a node with enough active peers and the given
// number of outbound connections.
func (t *Task) visitInterval(dialled int) time.Duration {
	if dialled < EnoughDialled && t.unvisited() {
		return VisitPause
	}
	return LostPause
}

// relayed returns the peers whose only connections are relayed.
func (t *Task) relayed(onTask []peer.ID) (relayed []peer.ID) {
	for _, id := range onTask {
		open := t.policy.connections[id]
		if len(open) > 0 && !slices.ContainsFunc(open, func(c connection) bool { return !IsCircuit(c.address) }) {
			relayed = append(relayed, id)
		}
	}
	return relayed
}

// dial returns up to count members to dial that are neither connected nor banned.
func (t *Task) dial(now time.Time, count int, all []neighbour) []Candidate {
	return t.pick(count, now, func(id peer.ID) bool {
		return len(t.policy.connections[id]) > 0 || t.policy.banned(now, id)
	}, crowding(all))
}
