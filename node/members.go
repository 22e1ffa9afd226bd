package node

import (
	"cmp"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/dialbudget"
	"github.com/fbo-node/fbo/protocol"
)

// Bounds of what is remembered of other nodes.
const (
	maxMembers       = 512
	maxReferrers     = 4 // of one member
	maxFailures      = 6 // dials of a stranger before it is forgotten
	minRetry         = time.Second
	maxRetry         = 20 * time.Second // a healed network is used again within a minute
	maxAnsweredRetry = 2 * time.Minute  // the same of one that answers and never was on the task
	maxRedialTries   = 30               // 2³⁰ s is more than any pause
)

// members remembers how the nodes of one task can be reached, whether they are
// connected or not: libp2p forgets the addresses of peers that are gone, and
// nobody else brings back the halves of a network that was cut in two.
//
// What it knows is what the nodes have signed about themselves. That somebody
// takes part in the task is known of those met there; of others it is hearsay.
type members struct {
	self     peer.ID
	allowed  func(peer.ID) bool // who may take part
	attempts *dialbudget.Budget
	trying   func([]multiaddr.Multiaddr, dialbudget.Scope) []multiaddr.Multiaddr // which addresses are tried

	mu      sync.Mutex
	known   map[peer.ID]*member
	learned uint64 // how many ever
}

type member struct {
	number    uint64 // in the order in which the node has learned of them
	sealed    []byte // its signed record; nil when only an address is known
	signed    []multiaddr.Multiaddr
	info      peer.AddrInfo // the addresses of these to dial
	sequence  uint64
	referrers []peer.ID        // peers that introduced it; none if an earlier run of this node stored it
	scope     dialbudget.Scope // the narrowest of theirs
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

func newMembers(n *Node) *members {
	return &members{self: n.host.ID(), allowed: n.gate.mayTakePart, attempts: n.attempts, trying: n.worthTrying, known: map[peer.ID]*member{}}
}

// learn takes in a signed record from a peer that is reached at an address of this
// scope; the newest of a peer counts, and that of a peer that may not take part does
// not. An error means that the record is malformed.
func (m *members) learn(sealed []byte, referrer peer.ID, scope dialbudget.Scope) error {
	record, err := protocol.OpenRecord(sealed)
	if err != nil || record.PeerID == m.self || !m.allowed(record.PeerID) {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.known[record.PeerID]
	if known == nil {
		m.learned++
		known = &member{number: m.learned, scope: scope, referrers: []peer.ID{referrer}, dialBacks: minDialBackPause}
		m.known[record.PeerID] = known
		m.bound(record.PeerID)
	} else {
		known.addReferrer(referrer)
	}
	if record.Seq > known.sequence {
		known.sealed, known.sequence, known.signed = slices.Clone(sealed), record.Seq, record.Addrs
		known.failures, known.retry = 0, time.Time{} // it may have moved
	} else if scope >= known.scope {
		return nil
	}
	known.scope = min(known.scope, scope)
	known.info = peer.AddrInfo{ID: record.PeerID, Addrs: m.trying(known.signed, known.scope)}
	return nil
}

// addReferrer records another peer that introduces a member, so that no peer can prevent dials of
// a member by introducing it first.
func (m *member) addReferrer(referrer peer.ID) {
	switch {
	case slices.Contains(m.referrers, referrer):
	case len(m.referrers) < maxReferrers:
		m.referrers = append(m.referrers, referrer)
	default:
		m.referrers[rand.IntN(maxReferrers)] = referrer
	}
}

// recall adds an address at which a peer delivered shares in an earlier run.
func (m *members) recall(info peer.AddrInfo) {
	if info.ID == m.self || !m.allowed(info.ID) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[info.ID] = &member{info: info, scope: dialbudget.Global, activity: delivering, dialBacks: minDialBackPause}
}

// bound drops one member when there are too many: unmet members before met ones, among them one
// of the referrer with the most members, and the least reachable.
func (m *members) bound(newest peer.ID) {
	if len(m.known) <= maxMembers {
		return
	}
	sentTo := map[peer.ID]int{}
	for _, known := range m.known {
		for _, referrer := range known.referrers {
			sentTo[referrer]++
		}
	}
	fewest := func(m *member) int { // of the tellers' members
		least := maxMembers
		for _, referrer := range m.referrers {
			least = min(least, sentTo[referrer])
		}
		return least
	}
	var worst peer.ID
	for id, candidate := range m.known {
		if id == newest {
			continue
		}
		if worst == "" {
			worst = id
			continue
		}
		other := m.known[worst]
		if cmp.Or(cmp.Compare(candidate.activity, other.activity), -cmp.Compare(fewest(candidate), fewest(other)), -cmp.Compare(candidate.failures, other.failures)) < 0 {
			worst = id
		}
	}
	delete(m.known, worst)
}

// noteMember notes that a peer takes part in the task.
func (m *members) noteMember(id peer.ID) { m.raiseStanding(id, seen) }

// noteDelivery notes that a peer has brought something new.
func (m *members) noteDelivery(id peer.ID) { m.raiseStanding(id, delivering) }

func (m *members) raiseStanding(id peer.ID, activity int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.known[id]; known != nil {
		known.activity = max(known.activity, activity)
		known.visited, known.failures, known.retry = true, 0, time.Time{}
	}
}

// dialled notes that a peer could not be reached, or has answered and may not turn up on
// the task, and when to try again. Who has answered is not forgotten for that, and is tried
// ever more seldom: it would be a stranger again.
func (m *members) dialled(id peer.ID, answered bool, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.known[id]
	if known == nil {
		return
	}
	known.failures = min(known.failures+1, maxRedialTries)
	if !answered && known.activity == unmet && known.failures >= maxFailures {
		delete(m.known, id)
		return
	}
	longest := maxRetry
	if answered && known.activity == unmet {
		longest = maxAnsweredRetry
	}
	known.retry = now.Add(jittered(min(minRetry<<(known.failures-1), longest)))
}

// candidate is a member that may be dialled now.
type candidate struct {
	info      peer.AddrInfo
	member    *member
	referrer  peer.ID // whose budget the dial uses; empty: none
	turn      int     // among those of its referrer
	exhausted int     // members at its address that have brought nothing
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
func (m *members) pick(count int, now time.Time, connected func(peer.ID) bool, crowding func(peer.AddrInfo) int) []candidate {
	m.mu.Lock()
	defer m.mu.Unlock()
	atAddress, inRange := m.isExhausted(rangeOf), m.isExhausted(wideRangeOf)
	var all []candidate
	for id, known := range m.known {
		if known.retry.After(now) || len(known.info.Addrs) == 0 || connected(id) {
			continue
		}
		if referrer, ok := m.mayTry(known); ok {
			all = append(all, candidate{
				info: known.info, member: known, referrer: referrer,
				exhausted: maxInRanges(known.info, rangeOf, atAddress), crowding: maxInRanges(known.info, wideRangeOf, inRange) + crowding(known.info),
			})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.member.number, b.member.number) })
	turns := map[peer.ID]int{}
	for i, c := range all {
		all[i].turn = turns[c.referrer]
		turns[c.referrer]++
	}
	class := goodFirst
	if rand.IntN(2) == 0 {
		class = freshFirst
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(class(a.member), class(b.member)), cmp.Compare(a.exhausted, b.exhausted), cmp.Compare(a.crowding, b.crowding), cmp.Compare(a.turn, b.turn))
	})
	var picked []candidate
	for _, c := range all {
		if len(picked) == count {
			break
		}
		if c.referrer != "" {
			if !m.attempts.MayTry(c.referrer) {
				continue
			}
			m.attempts.Try(c.referrer)
		}
		c.member.visited = true
		c.member.retry = now.Add(dialTimeout) // it is under way
		picked = append(picked, c)
	}
	return picked
}

// isExhausted counts the members that have been visited and have brought nothing, by the part
// of addresses that the function returns, of those at which they have answered: others may
// claim anybody's.
func (m *members) isExhausted(part func(multiaddr.Multiaddr) netip.Prefix) map[netip.Prefix]int {
	counts := map[netip.Prefix]int{}
	for id, known := range m.known {
		if !known.visited || known.activity == delivering {
			continue
		}
		if at := part(m.attempts.LastAnswer(id)); at.IsValid() {
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

// isAnchor: nobody but an earlier run has told of it.
func (m *member) isAnchor() bool { return len(m.referrers) == 0 }

// mayTry returns one of those who told of a member and have not told of too many that
// do not answer.
func (m *members) mayTry(known *member) (referrer peer.ID, ok bool) {
	if known.isAnchor() {
		return "", true
	}
	for _, i := range rand.Perm(len(known.referrers)) {
		if m.attempts.MayTry(known.referrers[i]) {
			return known.referrers[i], true
		}
	}
	return "", false
}

// count is how many members are known, and how many of them were never visited.
func (m *members) count() (known, fresh int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range m.known {
		if !other.visited {
			fresh++
		}
	}
	return len(m.known), fresh
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

// dialBackAddresses returns the addresses of a peer at which it has not answered yet, when it is
// time to find out whether it does.
func (m *members) dialBackAddresses(id peer.ID, now time.Time) []multiaddr.Multiaddr {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.known[id]
	if known == nil || m.attempts.HasAnswered(id, known.info.Addrs...) || !known.dialBacks.isDue(now) {
		return nil
	}
	return known.info.Addrs
}

// dialBackSoon undoes that dialBackAddresses has found it time.
func (m *members) dialBackSoon(id peer.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.known[id]; known != nil {
		known.dialBacks = minDialBackPause
	}
}

// records returns up to count signed records at random, those of good peers first. It
// returns none of a peer that has not answered at an address in it.
func (m *members) records(count int) [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]*member, 0, len(m.known))
	for id, known := range m.known {
		if known.sealed != nil && known.failures < maxFailures && m.attempts.HasAnswered(id, known.info.Addrs...) {
			all = append(all, known)
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortStableFunc(all, func(a, b *member) int {
		return cmp.Or(-cmp.Compare(a.activity, b.activity), cmp.Compare(a.failures, b.failures))
	})
	var records [][]byte
	for _, known := range all[:min(count, len(all))] {
		records = append(records, known.sealed)
	}
	return records
}
