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

// Memory is bounded; the peer that is longest out of use is forgotten, a banned one
// last.
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
