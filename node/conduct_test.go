package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

func conductAt(now *time.Time) *conduct {
	c := newConduct()
	c.now = func() time.Time { return *now }
	return c
}

func TestThreeFaultsAreTooMany(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	for i, want := range []bool{false, false, true} {
		if got := c.fault("peer", 1); got != want || c.isBanned("peer") != want {
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
	if !c.fault("liar", mostFaults) {
		t.Error("two statements with one stamp are not too many")
	}
}

func TestFaultsAreForgiven(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	for range 10 {
		if c.fault("peer", 1) {
			t.Fatal("banned for a fault now and then")
		}
		now = now.Add(forgivenAfter + time.Second)
	}
}

func TestRates(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	for name, limit := range map[string]struct {
		may         func(peer.ID) bool
		rate, burst int
	}{
		"relayed":   {c.mayRelay, relayRate, relayBurst},
		"written":   {c.mayWrite, authorRate, authorBurst},
		"synced":    {c.maySync, syncRate, syncBurst},
		"sent":      {c.maySend, directRate, directBurst},
		"knocked":   {c.mayKnock, knockRate, knockBurst},
		"announced": {func(id peer.ID) bool { return c.mayAnnounce(id, 4) }, announceRate / 4, announceBurst / 4},
		"bytes":     {func(id peer.ID) bool { return c.maySendBytes(id, 1<<18) }, directByteRate >> 18, directByteBurst >> 18},
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
	c.fault("banned", mostFaults)
	c.fault("old", 1)
	for i := range mostAccounts + 100 {
		now = now.Add(time.Millisecond)
		c.mayRelay(peer.ID(fmt.Sprint(i)))
	}
	if len(c.accounts) != mostAccounts {
		t.Errorf("%d accounts", len(c.accounts))
	}
	if c.accounts["old"] != nil || c.accounts[peer.ID(fmt.Sprint(mostAccounts+99))] == nil {
		t.Error("the newest was forgotten, or the oldest was not")
	}
	if !c.isBanned("banned") {
		t.Error("new names have lifted a ban")
	}
}

// banMany bans so many new peers, one each millisecond.
func banMany(c *conduct, now *time.Time, count int) {
	for i := range count {
		*now = now.Add(time.Millisecond)
		c.fault(peer.ID(fmt.Sprint("banned ", i)), mostFaults)
	}
}

// However many are banned, the faults and rates of others are still counted, though
// they take turns.
func TestBansLeaveRoomForAccounts(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	banMany(c, &now, mostAccounts)
	passed := 0
	for range 2 * relayBurst {
		for _, id := range []peer.ID{"a", "b"} {
			if c.mayRelay(id) {
				passed++
			}
		}
	}
	if passed != 2*relayBurst {
		t.Errorf("%d messages of two peers at once, want %d", passed, 2*relayBurst)
	}
	for range mostFaults {
		c.fault("a", 1)
		c.fault("b", 1)
	}
	if !c.isBanned("a") || !c.isBanned("b") {
		t.Error("two peers that take turns are never banned")
	}
}

// Bans are bounded; that which began first is lifted, and no other.
func TestBansAreBounded(t *testing.T) {
	now := time.Unix(1e9, 0)
	c := conductAt(&now)
	c.fault("first", mostFaults)
	banMany(c, &now, mostBans-1)
	c.fault("banned 7", mostFaults) // once more; it takes no further place
	if !c.isBanned("first") {
		t.Error("a ban is lifted although there is room")
	}
	c.fault("one more", mostFaults)
	if len(c.bans) != mostBans {
		t.Errorf("%d bans", len(c.bans))
	}
	if c.isBanned("first") || !c.isBanned("banned 0") || !c.isBanned("one more") {
		t.Error("the ban that began first is still there, or another one is not")
	}
}
