package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/fbo-node/fbo/protocol"
)

// network decides which members receive a share, and when.
type network struct {
	Network
	members    []Member
	rng        *rand.Rand
	directs    *rand.Rand // random stream for direct messages
	receivedBy [][]int    // for each member, the members that receive its shares
	receives   [][]int    // for each member, the members whose shares it receives
	latest     []map[protocol.Key]*sent
}

// sent is a share in transit.
type sent struct {
	share protocol.Share
	at    time.Duration

	// Decoded payload, set when the first member decodes it.
	decoded bool
	value   any
	err     error
}

func newNetwork(s Scenario) *network {
	count := len(s.Members)
	n := &network{
		Network:    s.Network,
		members:    s.Members,
		rng:        s.Seed.Stream("network", 0),
		directs:    s.Seed.Stream("direct", 0),
		receivedBy: make([][]int, count),
		receives:   make([][]int, count),
		latest:     make([]map[protocol.Key]*sent, count),
	}
	for i := range n.latest {
		n.latest[i] = map[protocol.Key]*sent{}
	}
	graph := s.Seed.Stream("graph", 0)
	for hearer := range count {
		for _, author := range n.choose(hearer, graph) {
			if s.Receives == nil || s.Receives(hearer, author) {
				n.receivedBy[author] = append(n.receivedBy[author], hearer)
				n.receives[hearer] = append(n.receives[hearer], author)
			}
		}
	}
	return n
}

// choose returns the members whose shares a member receives according to Degree.
func (n *network) choose(hearer int, graph *rand.Rand) []int {
	count := len(n.members)
	var chosen []int
	if n.Degree == 0 || n.Degree >= count-1 {
		for other := range count {
			if other != hearer {
				chosen = append(chosen, other)
			}
		}
		return chosen
	}
	for len(chosen) < n.Degree {
		if other := graph.IntN(count); other != hearer && !slices.Contains(chosen, other) {
			chosen = append(chosen, other)
		}
	}
	return chosen
}

// passes reports whether two members can exchange messages at a time.
func (n *network) passes(from, to int, at time.Duration) bool {
	if n.away(from, at) || n.away(to, at) {
		return false
	}
	for _, p := range n.Partitions {
		if p.holds(at) && from%p.Parts != to%p.Parts {
			return false
		}
	}
	return true
}

func (n *network) away(member int, at time.Duration) bool {
	return at < n.members[member].Start || n.back(member, at) > at
}

// back returns the time at which an offline member is online again, or at if the member is online.
func (n *network) back(member int, at time.Duration) time.Duration {
	spans := n.members[member].Offline
	next, _ := slices.BinarySearchFunc(spans, at, func(s Span, at time.Duration) int { return cmp.Compare(s.Until, at+1) })
	if next < len(spans) && spans[next].holds(at) {
		return spans[next].Until
	}
	return at
}

func (n *network) delay() time.Duration { return n.Delay + upTo(n.rng, n.Jitter) }

// retry returns the time until a failed delivery is repeated. If a member is offline, that is when
// both are online again, as nodes do that reconnect.
func (n *network) retry(from, to int, at time.Duration) time.Duration {
	if back := max(n.back(from, at), n.back(to, at)); back > at {
		return back - at + n.delay()
	}
	return 1 + upTo(n.rng, n.Resync)
}

func upTo(rng *rand.Rand, most time.Duration) time.Duration {
	if most == 0 {
		return 0
	}
	return time.Duration(rng.Int64N(int64(most) + 1))
}

func (n *network) lost() bool { return n.Loss > 0 && n.rng.Float64() < n.Loss }

// remember stores a share as the newest one with its key.
func (n *network) remember(from int, s *sent) { n.latest[from][s.share.Key] = s }

// current reports whether no newer share has replaced this one.
func (n *network) current(from int, share protocol.Share) bool {
	return n.latest[from][share.Key].share.Stamp == share.Stamp
}
