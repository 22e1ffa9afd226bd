package peers

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

type clock struct{ at time.Time }

func bookAt(named ...peer.AddrInfo) (*attempts, *clock) {
	c := &clock{time.Unix(1_700_000_000, 0)}
	b := newAttempts(rand.New(rand.NewPCG(1, 2)))
	for _, info := range named {
		b.name(info)
	}
	return b, c
}

func at(format string, values ...any) multiaddr.Multiaddr {
	return multiaddr.StringCast(fmt.Sprintf(format, values...))
}

// allowed returns how many of count peers may be dialled at addresses of one format.
func allowed(b *attempts, c *clock, count int, format string) (yes int) {
	for i := range count {
		if b.allow(c.at, peer.ID(fmt.Sprint(i)), at(format, i+1)) {
			yes++
		}
	}
	return yes
}

func TestAttemptsAtOneAddress(t *testing.T) {
	for format, want := range map[string]int{
		"/ip4/203.0.113.5/tcp/%d":                            MaxAtAddress,
		"/ip6/2001:db8::%x/tcp/1":                            MaxAtAddress, // one link
		"/ip4/203.0.113.%d/tcp/1":                            MaxInRange,
		"/ip6/2001:db8:0:%x::1/tcp/1":                        MaxInRange,
		"/ip4/203.0.%d.1/udp/1/quic-v1":                      100,
		"/ip4/127.0.0.1/udp/%d/quic-v1":                      MaxAtAddress,
		"/ip6/::ffff:203.0.113.5/tcp/%d":                     MaxAtAddress,
		"/dns4/hub.example.org/tcp/%d":                       100, // resolved before it is dialled
		"/ip4/203.0.113.5/tcp/%d/p2p/" + id + "/p2p-circuit": MaxAtAddress,
	} {
		b, c := bookAt()
		if got := allowed(b, c, 100, format); got != want {
			t.Errorf("%s: %d of 100 are allowed at once, want %d", format, got, want)
		}
		c.at = c.at.Add(2 * AddressPause)
		if want != MaxAtAddress {
			continue
		}
		if got := allowed(b, c, 100, format); got != 2 {
			t.Errorf("%s: %d more after two pauses", format, got)
		}
	}
}

const id = "12D3KooWCtgLB35RpjwhC4Hwgj2ZbSsN7WRMiDdBQg9mExHX659m"

// TestAnswersReturnAttempts checks that many nodes behind one address are dialled as fast as they answer.
func TestAnswersReturnAttempts(t *testing.T) {
	b, c := bookAt()
	for i := range 200 {
		id, a := peer.ID(fmt.Sprint(i)), at("/ip4/203.0.113.5/tcp/%d", i+1)
		if !b.allow(c.at, id, a) {
			t.Fatalf("peer %d is not allowed", i)
		}
		c.at = c.at.Add(time.Millisecond)
		b.answered(c.at, id, a)
	}
	if got := allowed(b, c, 100, "/ip4/203.0.113.5/udp/%d/quic-v1"); got != MaxAtAddress {
		t.Errorf("%d of others", got)
	}
	if !b.allow(c.at, "7", at("/ip4/203.0.113.5/tcp/8")) || b.allow(c.at, "7", at("/ip4/203.0.113.5/tcp/9")) {
		t.Error("an address that has answered is not free, or another is")
	}
	if last := b.lastAnswer("7"); last == nil || !last.Equal(at("/ip4/203.0.113.5/tcp/8")) || b.lastAnswer("none") != nil {
		t.Errorf("last answer at %v", last)
	}
	if !b.hasAnsweredAny("7", at("/ip4/203.0.113.6/tcp/8"), at("/ip4/203.0.113.5/tcp/8")) || b.hasAnsweredAny("7", at("/ip4/203.0.113.5/tcp/1")) {
		t.Error("HasAnswered")
	}
}

// TestAnswersElsewhereReturnNothing checks that an answer at a peer's own address returns no attempt at
// another's.
func TestAnswersElsewhereReturnNothing(t *testing.T) {
	b, c := bookAt()
	spent := 0
	for i := range 100 {
		id := peer.ID(fmt.Sprint(i))
		if b.allow(c.at, id, at("/ip4/203.0.113.5/tcp/%d", i+1)) {
			spent++
		}
		own := at("/ip4/198.51.%d.1/tcp/1", i)
		b.allow(c.at, id, own)
		b.answered(c.at, id, own)
	}
	if spent != MaxAtAddress {
		t.Errorf("%d attempts", spent)
	}
}

func TestNamedAddressesCostNothing(t *testing.T) {
	named, hub := peer.AddrInfo{ID: "named", Addrs: []multiaddr.Multiaddr{at("/ip4/203.0.113.5/tcp/1")}}, peer.AddrInfo{ID: "hub", Addrs: []multiaddr.Multiaddr{at("/dns4/hub.example.org/tcp/4001")}}
	b, c := bookAt(named, hub)
	for range 100 {
		for id, a := range map[peer.ID]multiaddr.Multiaddr{"named": named.Addrs[0], "hub": at("/ip4/203.0.113.5/tcp/7"), "any": at("/ip4/203.0.113.5/tcp/1/p2p/%s/p2p-circuit", id)} {
			if !b.allow(c.at, id, a) {
				t.Fatalf("%s at %v is not allowed", id, a)
			}
		}
	}
	if got := allowed(b, c, 100, "/ip4/203.0.113.5/udp/%d/quic-v1"); got != MaxAtAddress {
		t.Errorf("%d others are allowed", got)
	}
}

func TestBudgetLimitsEachReferrer(t *testing.T) {
	b, c := bookAt(peer.AddrInfo{ID: "named"})
	tries := func(referrer peer.ID) (count int) {
		for b.mayTry(c.at, referrer) {
			b.try(c.at, referrer)
			count++
		}
		return count
	}
	if got := tries("a"); got != MaxByReferrer {
		t.Errorf("%d tries", got)
	}
	b.reached(c.at, "a")
	c.at = c.at.Add(ReferrerPause)
	if got := tries("a"); got != 2 {
		t.Errorf("%d more after an answer and a pause", got)
	}
	if got := tries("b"); got != MaxByReferrer {
		t.Errorf("%d of another", got)
	}
	if got := tries("named"); got != MaxByNamed {
		t.Errorf("%d of one that the user has named", got)
	}
	c.at = c.at.Add(NamedPause)
	if got := tries("named"); got != 1 {
		t.Errorf("%d more of it after a pause", got)
	}
}

// TestBudgetsAreBounded checks that attempts without an answer are bounded, and that old ones make room.
func TestBudgetsAreBounded(t *testing.T) {
	b, c := bookAt()
	fill := func() (count int) {
		for i := range 2 * maxKept {
			if b.allow(c.at, peer.ID(fmt.Sprint(i)), at("/ip4/%d.%d.%d.1/tcp/1", 20+i/65536, i/256%256, i%256)) {
				count++
			}
		}
		return count
	}
	if got := fill(); got != maxKept {
		t.Errorf("%d attempts at addresses in different ranges, want %d", got, maxKept)
	}
	c.at = c.at.Add(2 * time.Minute)
	if got := fill(); got != maxKept {
		t.Errorf("%d after two minutes", got)
	}
	if len(b.made) > 2*maxKept {
		t.Errorf("%d peers are remembered", len(b.made))
	}
}

func TestScopeOfAddresses(t *testing.T) {
	for text, want := range map[string]Scope{
		"/ip4/127.0.0.1/tcp/1":                           Machine,
		"/ip4/0.0.0.0/tcp/1":                             Machine,
		"/ip6/::1/udp/1/quic-v1":                         Machine,
		"/ip4/10.1.2.3/tcp/1":                            Local,
		"/ip4/172.16.0.1/tcp/1":                          Local,
		"/ip4/192.168.1.1/tcp/1":                         Local,
		"/ip4/169.254.169.254/tcp/80":                    Local,
		"/ip6/fe80::1/tcp/1":                             Local,
		"/ip6/fd00::1/tcp/1":                             Local,
		"/ip6/::ffff:192.168.1.1/tcp/1":                  Local,
		"/ip4/203.0.113.5/tcp/1":                         Global,
		"/ip6/2001:db8::1/tcp/1":                         Global,
		"/dns4/hub.example.org/tcp/1":                    Global,
		"/ip4/10.0.0.1/tcp/1/p2p/" + id + "/p2p-circuit": Local,
	} {
		if got := ScopeOf(multiaddr.StringCast(text)); got != want {
			t.Errorf("%s has scope %d, want %d", text, got, want)
		}
	}
	if got := ScopeOf(nil); got != Global {
		t.Errorf("an empty address has scope %d", got)
	}
}
