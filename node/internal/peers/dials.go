package peers

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

// Limits and pauses of dials to members.
const (
	minRetry         = time.Second
	MaxRetry         = 20 * time.Second // short enough that a network uses connections again within a minute after an interruption
	MaxAnsweredRetry = 2 * time.Minute  // for a member that answers and has never joined the task
	maxRedialTries   = 30               // exponent limit; 2³⁰ s is longer than any pause

	dialBackTries = 3 // addresses of a dial-back
	dialBackPause = 10 * time.Second
	DialTimeout   = 10 * time.Second // within this time after a dial begins, the member is not dialled again
)

// Dialled records whether a dial of a candidate succeeded. A member that answers still counts as a
// failure until it joins the task, since its referrer may have claimed wrongly that it is a member.
// So the pauses between its dials grow. It is kept, because otherwise it would be treated as new
// when another record of it arrives.
func (t *Task) Dialled(now time.Time, c Candidate, answered bool) {
	now = t.policy.lock(now)
	defer t.policy.mu.Unlock()
	if answered && c.referrer != "" {
		t.policy.attempts.reached(now, c.referrer)
	}
	t.dialled(now, c.Info.ID, answered)
}

func (t *Task) dialled(now time.Time, id peer.ID, answered bool) {
	known := t.known[id]
	if known == nil {
		return
	}
	known.failures = min(known.failures+1, maxRedialTries)
	if !answered && known.activity == unmet && known.failures >= maxFailures {
		delete(t.known, id)
		return
	}
	longest := MaxRetry
	if answered && known.activity == unmet {
		longest = MaxAnsweredRetry
	}
	known.retry = now.Add(jittered(t.policy.random, min(minRetry<<(known.failures-1), longest)))
}

// Candidate is a member that may be dialled now.
type Candidate struct {
	Info      peer.AddrInfo
	member    *member
	referrer  peer.ID // peer whose budget the dial is charged to; empty: none
	turn      int     // position among the members of its referrer
	exhausted int     // number of members at its address that were visited and have delivered nothing
	crowding  int     // the same for its range, plus connected peers there
}

// pick returns up to count members to dial, charges the budgets of their referrers, and marks
// them as visited. Calls alternate between members that have delivered shares and members that
// were never visited, so that neither kind excludes the other. Within a kind the order is:
//  1. addresses at which the fewest members have answered and delivered nothing,
//  2. ranges with the fewest such members or connected peers,
//  3. for each referrer, the members that it introduced first.
//
// Identities cost nothing, so the first member at an address predicts the next ones. A hub
// introduces one member of each address before another of the same address.
func (t *Task) pick(count int, now time.Time, connected func(peer.ID) bool, crowding func(peer.AddrInfo) int) []Candidate {
	atAddress, inRange := t.exhausted(rangeOf), t.exhausted(WideRangeOf)
	var all []Candidate
	for _, id := range slices.Sorted(maps.Keys(t.known)) {
		known := t.known[id]
		if known.retry.After(now) || len(known.info.Addrs) == 0 || connected(id) {
			continue
		}
		if referrer, ok := t.mayTry(now, known); ok {
			all = append(all, Candidate{
				Info: known.info, member: known, referrer: referrer,
				exhausted: maxInRanges(known.info, rangeOf, atAddress), crowding: maxInRanges(known.info, WideRangeOf, inRange) + crowding(known.info),
			})
		}
	}
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(a.member.number, b.member.number) })
	turns := map[peer.ID]int{}
	for i, c := range all {
		all[i].turn = turns[c.referrer]
		turns[c.referrer]++
	}
	class := goodFirst
	if t.policy.random.IntN(2) == 0 {
		class = freshFirst
	}
	slices.SortStableFunc(all, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(class(a.member), class(b.member)), cmp.Compare(a.exhausted, b.exhausted), cmp.Compare(a.crowding, b.crowding), cmp.Compare(a.turn, b.turn))
	})
	var picked []Candidate
	for _, c := range all {
		if len(picked) == count {
			break
		}
		if c.referrer != "" {
			if !t.policy.attempts.mayTry(now, c.referrer) {
				continue
			}
			t.policy.attempts.try(now, c.referrer)
		}
		c.member.visited = true
		c.member.retry = now.Add(DialTimeout) // no further dial while this one is in progress
		picked = append(picked, c)
	}
	return picked
}

// exhausted counts the members that were visited and have delivered nothing, by the range that part
// returns. A member counts at the address where it last answered, since its record may contain
// addresses of other hosts.
func (t *Task) exhausted(part func(multiaddr.Multiaddr) netip.Prefix) map[netip.Prefix]int {
	counts := map[netip.Prefix]int{}
	for id, known := range t.known {
		if !known.visited || known.activity == delivering {
			continue
		}
		if at := part(t.policy.attempts.lastAnswer(id)); at.IsValid() {
			counts[at]++
		}
	}
	return counts
}

// maxInRanges returns the largest count among the ranges of a peer's addresses.
func maxInRanges(info peer.AddrInfo, part func(multiaddr.Multiaddr) netip.Prefix, counts map[netip.Prefix]int) int {
	largest := 0
	for _, a := range info.Addrs {
		largest = max(largest, counts[part(a)])
	}
	return largest
}

func goodFirst(m *member) int {
	switch {
	case m.activity == delivering:
		return 0
	case !m.visited:
		return 1
	}
	return 2
}

func freshFirst(m *member) int {
	switch {
	case m.isAnchor() && m.failures == 0:
		return 0
	case !m.visited:
		return 1
	}
	return 2
}

// mayTry returns a random referrer of a member whose budget allows a dial; ok is false if there is
// none. For an anchor it returns an empty referrer and true.
func (t *Task) mayTry(now time.Time, known *member) (referrer peer.ID, ok bool) {
	if known.isAnchor() {
		return "", true
	}
	for _, i := range t.policy.random.Perm(len(known.referrers)) {
		if t.policy.attempts.mayTry(now, known.referrers[i]) {
			return known.referrers[i], true
		}
	}
	return "", false
}

// DialBack holds a connected peer and its addresses that the node dials to verify that the peer
// answers there. Only such peers are introduced to others.
type DialBack struct {
	ID    peer.ID
	Addrs []multiaddr.Multiaddr
}

// dialBack returns a list with the dial-back that is due for a peer, or an empty list. It is due if
// the peer has answered at none of its addresses. Addresses with the IP address of an open
// connection come first.
func (t *Task) dialBack(now time.Time, id peer.ID) []DialBack {
	known := t.known[id]
	if known == nil || t.policy.attempts.hasAnsweredAny(id, known.info.Addrs...) || !known.dialBacks.isDue(now, t.policy.random) {
		return nil
	}
	elsewhere := func(a multiaddr.Multiaddr) int {
		ip, ok := IP(a)
		for _, c := range t.policy.connections[id] {
			if from, known := IP(c.address); ok && known && from == ip {
				return 0
			}
		}
		return 1
	}
	addresses := slices.Clone(known.info.Addrs)
	slices.SortStableFunc(addresses, func(a, b multiaddr.Multiaddr) int { return cmp.Compare(elsewhere(a), elsewhere(b)) })
	addresses = slices.DeleteFunc(addresses[:min(len(addresses), dialBackTries)], func(a multiaddr.Multiaddr) bool {
		_, direct := IP(a)
		return !direct || IsCircuit(a)
	})
	if len(addresses) == 0 {
		return nil
	}
	return []DialBack{{id, addresses}}
}

// DialBackSoon resets the dial-back of a peer, so that it is due again as if none had been made.
func (t *Task) DialBackSoon(id peer.ID) {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	if known := t.known[id]; known != nil {
		known.dialBacks = backoff{pause: dialBackPause}
	}
}
