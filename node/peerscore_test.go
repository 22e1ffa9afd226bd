package node

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/strategy/all"
)

func conductAt(now *time.Time) *peerPolicy {
	c := newPeerPolicy(func(peer.ID) bool { return false })
	c.now = func() time.Time { return *now }
	return c
}

func TestThreeFaultsAreTooMany(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	for i, want := range []bool{false, false, true} {
		if got, _ := c.violation("peer", 1); got != want || c.isBanned("peer") != want {
			t.Fatalf("fault %d: banned %v, want %v", i+1, got, want)
		}
	}
	if c.isBanned("another") {
		t.Error("another peer is banned")
	}
	now = now.Add(banTime)
	if c.isBanned("peer") {
		t.Error("banned for ever")
	}
	if banned, _ := c.violation("liar", maxViolations); !banned {
		t.Error("two statements with one stamp are not too many")
	}
}

func TestFaultsAreForgiven(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	for range 10 {
		if banned, _ := c.violation("peer", 1); banned {
			t.Fatal("banned for a fault now and then")
		}
		now = now.Add(violationLifetime + time.Second)
	}
}

func TestPeerPolicyRates(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	for name, limit := range map[string]struct {
		may         func(peer.ID) bool
		rate, burst int
	}{
		"relayed":   {c.allowRelay, relayRate, relayBurst},
		"written":   {c.allowAuthor, authorRate, authorBurst},
		"synced":    {c.allowSync, syncRate, syncBurst},
		"strayed":   {c.allowExcessStream, excessStreamRate, excessStreamBurst},
		"moved":     {func(id peer.ID) bool { return c.allowTopicChurn(id, 1) }, topicChurnRate, topicChurnBurst},
		"sent":      {c.allowDirect, directRate, directBurst},
		"knocked":   {c.allowDirectRefusal, directRefusalRate, directRefusalBurst},
		"announced": {func(id peer.ID) bool { return c.allowAnnouncement(id, 4) }, announceRate / 4, announceBurst / 4},
		"bytes":     {func(id peer.ID) bool { return c.allowDirectBytes(id, 1<<18) }, directByteRate >> 18, directByteBurst >> 18},
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

// Memory is bounded; the peer that is longest out of use is forgotten. New names do
// not lift a ban.
func TestAccountsAreBounded(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	c.violation("banned", maxViolations)
	c.violation("old", 1)
	for i := range maxPeerRecords + 100 {
		now = now.Add(time.Millisecond)
		c.allowRelay(peer.ID(fmt.Sprint(i)))
	}
	if len(c.peers.records) != maxPeerRecords {
		t.Errorf("%d accounts", len(c.peers.records))
	}
	if c.peers.records["old"] != nil || c.peers.records[peer.ID(fmt.Sprint(maxPeerRecords+99))] == nil {
		t.Error("the newest was forgotten, or the oldest was not")
	}
	if !c.isBanned("banned") {
		t.Error("new names have lifted a ban")
	}
}

// banMany bans so many new peers, one each millisecond.
func banMany(c *peerPolicy, now *time.Time, count int) {
	for i := range count {
		*now = now.Add(time.Millisecond)
		c.violation(peer.ID(fmt.Sprint("banned ", i)), maxViolations)
	}
}

// However many are banned, the faults and rates of others are still counted, though
// they take turns.
func TestBansLeaveRoomForAccounts(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	banMany(c, &now, maxPeerRecords)
	passed := 0
	for range 2 * relayBurst {
		for _, id := range []peer.ID{"a", "b"} {
			if c.allowRelay(id) {
				passed++
			}
		}
	}
	if passed != 2*relayBurst {
		t.Errorf("%d messages of two peers at once, want %d", passed, 2*relayBurst)
	}
	for range maxViolations {
		c.violation("a", 1)
		c.violation("b", 1)
	}
	if !c.isBanned("a") || !c.isBanned("b") {
		t.Error("two peers that take turns are never banned")
	}
}

// Bans are bounded; that which began first is lifted, and no other.
func TestBansAreBounded(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	c.violation("first", maxViolations)
	banMany(c, &now, maxBans-1)
	c.violation("banned 7", maxViolations) // once more; it takes no further place
	if !c.isBanned("first") {
		t.Error("a ban is lifted although there is room")
	}
	c.violation("one more", maxViolations)
	if len(c.peers.bans) != maxBans {
		t.Errorf("%d bans", len(c.peers.bans))
	}
	if c.isBanned("first") || !c.isBanned("banned 0") || !c.isBanned("one more") {
		t.Error("the ban that began first is still there, or another one is not")
	}
}

// Authors can be made up: thousands of them take no place of a peer's account or ban.
func TestMadeUpAuthorsLiftNoBan(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	from := netip.MustParsePrefix("203.0.113.7/32")
	for _, id := range []peer.ID{"a", "b", "c"} {
		c.violation(id, maxViolations, from)
	}
	c.violation("careless", maxViolations-1)
	for i := range maxBans + 400 {
		now = now.Add(time.Millisecond)
		id := peer.ID(fmt.Sprint("made up ", i))
		c.allowAuthor(id)
		c.authorViolation(id, maxViolations)
	}
	if !c.isBanned("a") || !c.isBlocked("d", multiaddr.StringCast("/ip4/203.0.113.7/tcp/1")) {
		t.Error("made-up authors have lifted a ban")
	}
	if banned, _ := c.violation("careless", 1); !banned {
		t.Error("made-up authors have made a peer's faults forgotten")
	}
	if !c.isBanned("made up 4400") || len(c.authors.bans) != maxBans || len(c.authors.records) > maxPeerRecords {
		t.Errorf("%d banned authors, %d accounts", len(c.authors.bans), len(c.authors.records))
	}
}

// TestRangeBansExemptActivePeers checks that the ban of a range exempts active peers without
// violations, and only while they are active.
func TestRangeBansExemptActivePeers(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	at := multiaddr.StringCast("/ip4/203.0.113.7/tcp/1")
	for _, id := range []peer.ID{"active", "clumsy", "turned"} {
		c.noteDelivery(id)
	}
	for _, id := range []peer.ID{"a", "b", "c", "turned"} {
		c.violation(id, maxViolations, rangeOf(at))
	}
	c.violation("clumsy", 1)
	for id, want := range map[peer.ID]bool{"active": false, "clumsy": true, "turned": true, "stranger": true} {
		if got := c.isBlocked(id, at); got != want {
			t.Errorf("%s: blocked is %v", id, got)
		}
	}
	now = now.Add(activeTime)
	if !c.isBlocked("active", at) {
		t.Error("an inactive peer is exempt from the ban of its range")
	}
}

// The third banned peer bans the range of its addresses, for all but those whom the user has
// named; never that of a hub, nor the own machine.
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
		k := conductAt(&now)
		k.exempt = func(id peer.ID) bool { return id == "named" }
		from := rangeOf(multiaddr.StringCast(c.from))
		shut := func(id peer.ID, address string) bool { return k.isBlocked(id, multiaddr.StringCast(address)) }
		if banned, ranges := k.violation("named", maxViolations, from); !banned || ranges != nil {
			t.Errorf("%s: one that was named counts for its range", c.from)
		}
		k.violation("one", maxViolations, from)
		k.violation("one", maxViolations, from)
		k.violation("two", maxViolations, from)
		if shut("another", c.from) {
			t.Errorf("%s: two peers ban their range", c.from)
		}
		_, ranges := k.violation("three", maxViolations, from)
		if got := slices.Equal(ranges, []netip.Prefix{from}); got != (c.banned != "") || got != shut("another", c.from) {
			t.Errorf("%s: bans %v", c.from, ranges)
		}
		for _, other := range c.others {
			if shut("another", other) {
				t.Errorf("%s: bans %s", c.from, other)
			}
		}
		now = now.Add(banTime / 2)
		if c.banned != "" && !shut("another", c.banned) {
			t.Errorf("%s: %s is not banned", c.from, c.banned)
		}
		k.peers.bans = map[peer.ID]time.Time{}
		if shut("named", c.from) {
			t.Errorf("%s: one that was named is shut out with its range", c.from)
		}
		now = now.Add(banTime)
		if shut("another", c.from) || shut("one", c.from) {
			t.Errorf("%s: banned for ever", c.from)
		}
		k.violation("four", maxViolations, from)
		k.violation("five", maxViolations, from)
		if shut("another", c.from) {
			t.Errorf("%s: bans that have ended count", c.from)
		}
	}
}

// However many ranges there are, so many are remembered.
func TestRangesAreBounded(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	for i := range maxRanges + 10 {
		now = now.Add(time.Millisecond)
		c.violation(peer.ID(fmt.Sprint(i)), maxViolations, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 32))
	}
	if len(c.ranges) != maxRanges {
		t.Errorf("%d ranges are remembered", len(c.ranges))
	}
}

// ends are the addresses of a connection.
type ends struct{ remote string }

func (ends) LocalMultiaddr() multiaddr.Multiaddr    { return multiaddr.StringCast("/ip4/192.0.2.1/tcp/1") }
func (e ends) RemoteMultiaddr() multiaddr.Multiaddr { return multiaddr.StringCast(e.remote) }

// Who is banned, or comes from a banned range, gets no further than the handshake.
func TestBannedPeersAreRefusedAtTheHandshake(t *testing.T) {
	n := &Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	n.named.add("named")
	for _, id := range []peer.ID{"a", "b", "c"} {
		n.policy.violation(id, maxViolations, netip.MustParsePrefix("203.0.113.7/32"))
	}
	for _, c := range []struct {
		id   peer.ID
		from string
		want bool
	}{
		{"a", "/ip4/198.51.100.9/tcp/1", false},
		{"stranger", "/ip4/198.51.100.9/tcp/1", true},
		{"stranger", "/ip4/203.0.113.7/tcp/1", false},
		{"named", "/ip4/203.0.113.7/tcp/1", true},
	} {
		if got := n.gate.InterceptSecured(network.DirInbound, c.id, ends{c.from}); got != c.want {
			t.Errorf("%s from %s may connect: %v", c.id, c.from, got)
		}
	}
}
