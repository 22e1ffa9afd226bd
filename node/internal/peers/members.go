package peers

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/protocol"
)

// Bounds of what is remembered of other nodes.
const (
	MaxMembers       = 512
	maxReferrers     = 4 // of one member
	maxFailures      = 6 // dials of a peer that was never on the task before it is removed
	minRetry         = time.Second
	MaxRetry         = 20 * time.Second // a healed network is used again within a minute
	MaxAnsweredRetry = 2 * time.Minute  // the same of one that answers and never was on the task
	maxRedialTries   = 30               // 2³⁰ s is more than any pause

	dialBackTries = 3 // addresses
	dialBackPause = 10 * time.Second
	dialTimeout   = 10 * time.Second // in which a member that is being dialled is not dialled again
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

// Dialled records whether a member that Dial has returned could be reached. Until it joins the task a
// member that answers counts as not reached: it may be no member, and is dialled ever more seldom.
// It is not removed, since it would be new again.
func (t *Task) Dialled(now time.Time, c Candidate, answered bool) {
	t.policy.mu.Lock()
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
	referrer  peer.ID // whose budget the dial uses; empty: none
	turn      int     // among those of its referrer
	exhausted int     // members at its address that have delivered nothing
	crowding  int     // those of its range, and connected peers
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
		c.member.retry = now.Add(dialTimeout) // it is under way
		picked = append(picked, c)
	}
	return picked
}

// exhausted counts the members that have been visited and have delivered nothing, by the part of
// addresses that the function returns, of those at which they have answered: a record may contain
// anybody's.
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

// maxInRanges is the largest count of a part of the addresses of a peer.
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

// isAnchor reports whether only an earlier run of the node has introduced a member.
func (m *member) isAnchor() bool { return len(m.referrers) == 0 }

// mayTry returns a referrer of a member that has not introduced too many that do not answer.
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

// DialBack is a connected peer, and where the node finds out whether the peer answers there: only
// such a peer is introduced to others.
type DialBack struct {
	ID    peer.ID
	Addrs []multiaddr.Multiaddr
}

// dialBack returns the dial-back that is due for a peer which has not answered at any of its
// addresses, if there is one. Addresses of its connections come first.
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

// DialBackSoon makes the dial-back of a peer due again, as one that was never made.
func (t *Task) DialBackSoon(id peer.ID) {
	t.policy.mu.Lock()
	defer t.policy.mu.Unlock()
	if known := t.known[id]; known != nil {
		known.dialBacks = backoff{pause: dialBackPause}
	}
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
