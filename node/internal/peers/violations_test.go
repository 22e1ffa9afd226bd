package peers

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

// timedPolicy is a policy at a time.
type timedPolicy struct {
	*Policy
	now *time.Time
}

func policyAt(now *time.Time) timedPolicy { return timedPolicy{New(config()), now} }

func (c timedPolicy) violation(id peer.ID, weight int, from ...netip.Prefix) (banned bool, ranges []netip.Prefix) {
	v := c.Policy.violation(*c.now, id, weight, from...)
	return v.Banned, v.Ranges
}

func (c timedPolicy) isBanned(id peer.ID) bool { return c.Banned(*c.now, id) }

func (c timedPolicy) isBlocked(id peer.ID, address multiaddr.Multiaddr) bool {
	return c.Blocked(*c.now, id, address)
}

func (c timedPolicy) may(op Op, times int) func(peer.ID) bool {
	return func(id peer.ID) bool { return c.Allow(*c.now, id, op, times) }
}

func TestThreeViolationsBan(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := policyAt(&now)
	for i, want := range []bool{false, false, true} {
		if got, _ := c.violation("peer", 1); got != want || c.isBanned("peer") != want {
			t.Fatalf("violation %d: banned %v, want %v", i+1, got, want)
		}
	}
	if c.isBanned("another") {
		t.Error("another peer is banned")
	}
	now = now.Add(BanTime)
	if c.isBanned("peer") {
		t.Error("banned for ever")
	}
	if banned, _ := c.violation("liar", MaxViolations); !banned {
		t.Error("two shares with one stamp do not ban their author")
	}
}

func TestViolationsExpire(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := policyAt(&now)
	for range 10 {
		if banned, _ := c.violation("peer", 1); banned {
			t.Fatal("banned for a violation in each ten minutes")
		}
		now = now.Add(violationLifetime + time.Second)
	}
}

// Peers with many common tasks may do more. What a peer has used before the node joined them is not refilled.
func TestRatesGrowWithTasks(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := policyAt(&now)
	for range SyncBurst {
		c.may(Sync, 1)("peer")
	}
	const tasks = 200
	for i := range tasks {
		c.JoinTopic(TopicName(strconv.Itoa(i)))
	}
	for name, limit := range map[string]struct {
		may   func(peer.ID) bool
		burst int
	}{
		"written": {c.may(Publish, 1), AuthorBurst * tasks},
		"synced":  {c.may(Sync, 1), SyncBurst*tasks - SyncBurst},
		"moved":   {c.may(TopicChurn, 1), TaskChurnBurst * tasks},
		"relayed": {c.may(Relay, 1), RelayBurst},
	} {
		count := 0
		for limit.may("peer") {
			count++
		}
		if count != limit.burst {
			t.Errorf("%s: %d at once, want %d", name, count, limit.burst)
		}
	}
}

func TestPeerPolicyRates(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := policyAt(&now)
	for name, limit := range map[string]struct {
		may         func(peer.ID) bool
		rate, burst int
	}{
		"relayed":   {c.may(Relay, 1), RelayRate, RelayBurst},
		"written":   {c.may(Publish, 1), AuthorRate, AuthorBurst},
		"synced":    {c.may(Sync, 1), SyncRate, SyncBurst},
		"strayed":   {c.may(ExcessStream, 1), ExcessStreamRate, ExcessStreamBurst},
		"moved":     {c.may(TopicChurn, 1), TopicChurnRate, TopicChurnBurst},
		"sent":      {c.may(Direct, 1), DirectRate, DirectBurst},
		"knocked":   {c.may(DirectRefusal, 1), DirectRefusalRate, DirectRefusalBurst},
		"announced": {c.may(Announce, 4), AnnounceRate / 4, AnnounceBurst / 4},
		"bytes":     {c.may(DirectByte, 1<<18), DirectByteRate >> 18, DirectByteBurst >> 18},
	} {
		count := func() (n int) {
			for limit.may("peer") {
				n++
			}
			return n
		}
		if n := count(); n != limit.burst {
			t.Errorf("%s: %d at once, want %d", name, n, limit.burst)
		}
		now = now.Add(time.Second)
		if n := count(); n != limit.rate {
			t.Errorf("%s: %d in the next second, want %d", name, n, limit.rate)
		}
		if !limit.may("another") {
			t.Errorf("%s: one peer's limit is another's", name)
		}
	}
}

// TestRecordsAreBounded checks that the least recently used record is dropped, and that new identities
// lift no ban.
func TestRecordsAreBounded(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := policyAt(&now)
	c.violation("banned", MaxViolations)
	c.violation("old", 1)
	for i := range MaxRecords + 100 {
		now = now.Add(time.Millisecond)
		c.may(Relay, 1)(peer.ID(fmt.Sprint(i)))
	}
	if c.peers.records.len() != MaxRecords {
		t.Errorf("%d records", c.peers.records.len())
	}
	remembered := func(id peer.ID) bool { _, ok := c.peers.records.get(id); return ok }
	if remembered("old") || !remembered(peer.ID(fmt.Sprint(MaxRecords+99))) {
		t.Error("the newest record was dropped, or the oldest was not")
	}
	if !c.isBanned("banned") {
		t.Error("new identities have lifted a ban")
	}
}

// banMany bans so many new peers, one each millisecond.
func banMany(c timedPolicy, now *time.Time, count int) {
	for i := range count {
		*now = now.Add(time.Millisecond)
		c.violation(peer.ID(fmt.Sprint("banned ", i)), MaxViolations)
	}
}

// TestBansLeaveRoomForRecords checks that violations and rates of other peers are counted while the
// table of bans is full.
func TestBansLeaveRoomForRecords(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := policyAt(&now)
	banMany(c, &now, MaxRecords)
	passed := 0
	for range 2 * RelayBurst {
		for _, id := range []peer.ID{"a", "b"} {
			if c.may(Relay, 1)(id) {
				passed++
			}
		}
	}
	if passed != 2*RelayBurst {
		t.Errorf("%d messages of two peers at once, want %d", passed, 2*RelayBurst)
	}
	for range MaxViolations {
		c.violation("a", 1)
		c.violation("b", 1)
	}
	if !c.isBanned("a") || !c.isBanned("b") {
		t.Error("two peers that take turns are never banned")
	}
}

// TestRefusedPeers checks that a node exchanges messages with peers that may take part and are not
// banned.
func TestRefusedPeers(t *testing.T) {
	c := config()
	c.Listed = []peer.ID{"listed", "banned"}
	c.Hubs = []peer.ID{"hub"}
	p := New(c)
	p.Violated(noon, "banned", MaxViolations)
	for id, want := range map[peer.ID]struct{ refused, mayConnect bool }{
		"listed": {false, true}, "self": {false, true}, "banned": {true, true}, "hub": {true, true}, "other": {true, false},
	} {
		if refused, mayConnect := p.Refused(noon, id), p.MayConnect(id); refused != want.refused || mayConnect != want.mayConnect {
			t.Errorf("%s: refused %t, may connect %t; expected %t, %t", id, refused, mayConnect, want.refused, want.mayConnect)
		}
	}
}

// TestBansAreBounded checks that the ban that began first is lifted, and no other.
func TestBansAreBounded(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := policyAt(&now)
	c.violation("first", MaxViolations)
	banMany(c, &now, maxBans-1)
	c.violation("banned 7", MaxViolations) // once more; it takes no further place
	if !c.isBanned("first") {
		t.Error("a ban is lifted although there is room")
	}
	c.violation("one more", MaxViolations)
	if c.peers.bans.len() != maxBans {
		t.Errorf("%d bans", c.peers.bans.len())
	}
	if c.isBanned("first") || !c.isBanned("banned 0") || !c.isBanned("one more") {
		t.Error("the ban that began first is still there, or another one is not")
	}
}

// TestMadeUpAuthorsLiftNoBan checks that thousands of made-up authors displace no record or ban of a
// peer.
func TestMadeUpAuthorsLiftNoBan(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := policyAt(&now)
	from := netip.MustParsePrefix("203.0.113.7/32")
	for _, id := range []peer.ID{"a", "b", "c"} {
		c.violation(id, MaxViolations, from)
	}
	c.violation("careless", MaxViolations-1)
	for i := range maxBans + 400 {
		now = now.Add(time.Millisecond)
		id := peer.ID(fmt.Sprint("made up ", i))
		c.may(Publish, 1)(id)
		c.Violated(now, id, MaxViolations) // without a connection
	}
	if !c.isBanned("a") || !c.isBlocked("d", multiaddr.StringCast("/ip4/203.0.113.7/tcp/1")) {
		t.Error("made-up authors have lifted a ban")
	}
	if banned, _ := c.violation("careless", 1); !banned {
		t.Error("made-up authors have displaced a peer's violations")
	}
	if !c.isBanned("made up 4400") || c.authors.bans.len() != maxBans || c.authors.records.len() > MaxRecords {
		t.Errorf("%d banned authors, %d records", c.authors.bans.len(), c.authors.records.len())
	}
}

// TestRangeBansExemptActivePeers checks that the ban of a range exempts active peers without
// violations, and only while they are active.
func TestRangeBansExemptActivePeers(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := policyAt(&now)
	at := multiaddr.StringCast("/ip4/203.0.113.7/tcp/1")
	for _, id := range []peer.ID{"active", "clumsy", "turned"} {
		c.delivered(now, id)
	}
	for _, id := range []peer.ID{"a", "b", "c", "turned"} {
		c.violation(id, MaxViolations, rangeOf(at))
	}
	c.violation("clumsy", 1)
	for id, want := range map[peer.ID]bool{"active": false, "clumsy": true, "turned": true, "stranger": true} {
		if got := c.isBlocked(id, at); got != want {
			t.Errorf("%s: blocked is %v", id, got)
		}
	}
	now = now.Add(ActiveTime)
	if !c.isBlocked("active", at) {
		t.Error("an inactive peer is exempt from the ban of its range")
	}
}

// TestBansOfRanges checks that the third banned peer bans its range, except for named peers, and never
// the range of a hub or of the own machine.
func TestBansOfRanges(t *testing.T) {
	circuit := "/ip4/203.0.113.7/udp/4001/quic-v1/p2p/12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp/p2p-circuit"
	for _, c := range []struct {
		from, banned string
		others       []string // that are not banned
	}{
		{"/ip4/203.0.113.7/tcp/1", "/ip4/203.0.113.7/udp/9/quic-v1", []string{"/ip4/203.0.113.8/tcp/1", circuit}},
		{"/ip6/2001:db8:1:200::1/tcp/1", "/ip6/2001:db8:1:2ff::9/tcp/7", []string{"/ip6/2001:db8:1:300::1/tcp/1"}},
		{"/ip6/::ffff:203.0.113.7/tcp/1", "/ip4/203.0.113.7/tcp/1", nil},
		{"/ip4/127.0.0.1/tcp/1", "", []string{"/ip4/127.0.0.1/tcp/1"}},
		{"/ip6/::1/tcp/1", "", []string{"/ip6/::1/tcp/1"}},
		{circuit, "", []string{circuit, "/ip4/203.0.113.7/udp/4001/quic-v1"}},
	} {
		now := time.Unix(1e9, 0)
		k := policyAt(&now)
		k.Name("named")
		from := rangeOf(multiaddr.StringCast(c.from))
		shut := func(id peer.ID, address string) bool { return k.isBlocked(id, multiaddr.StringCast(address)) }
		if banned, ranges := k.violation("named", MaxViolations, from); !banned || ranges != nil {
			t.Errorf("%s: a named peer counts for its range", c.from)
		}
		k.violation("one", MaxViolations, from)
		k.violation("one", MaxViolations, from)
		k.violation("two", MaxViolations, from)
		if shut("another", c.from) {
			t.Errorf("%s: two peers ban their range", c.from)
		}
		_, ranges := k.violation("three", MaxViolations, from)
		if got := slices.Equal(ranges, []netip.Prefix{from}); got != (c.banned != "") || got != shut("another", c.from) {
			t.Errorf("%s: bans %v", c.from, ranges)
		}
		for _, other := range c.others {
			if shut("another", other) {
				t.Errorf("%s: bans %s", c.from, other)
			}
		}
		now = now.Add(BanTime / 2)
		if c.banned != "" && !shut("another", c.banned) {
			t.Errorf("%s: %s is not banned", c.from, c.banned)
		}
		k.peers.bans = newTable[peer.ID, time.Time](maxBans)
		if shut("named", c.from) {
			t.Errorf("%s: a named peer is banned with its range", c.from)
		}
		now = now.Add(BanTime)
		if shut("another", c.from) || shut("one", c.from) {
			t.Errorf("%s: banned for ever", c.from)
		}
		k.violation("four", MaxViolations, from)
		k.violation("five", MaxViolations, from)
		if shut("another", c.from) {
			t.Errorf("%s: bans that have ended count", c.from)
		}
	}
}

func TestRangesAreBounded(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := policyAt(&now)
	for i := range MaxRanges + 10 {
		now = now.Add(time.Millisecond)
		c.violation(peer.ID(fmt.Sprint(i)), MaxViolations, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 32))
	}
	if c.ranges.len() != MaxRanges {
		t.Errorf("%d ranges are remembered", c.ranges.len())
	}
}
