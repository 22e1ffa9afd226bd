package node_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	libp2pprotocol "github.com/libp2p/go-libp2p/core/protocol"
	"github.com/marcopolo/simnet"

	"github.com/fbo-node/fbo/protocol"
)

// cutOff makes one node of a fleet unreachable while it is set.
func (f *fleet) cutOff(index int, cut *atomic.Bool) {
	address := simnet.IntToPublicIPv4(index).String()
	f.latency = func(p *simnet.Packet) time.Duration {
		if cut.Load() && (strings.HasPrefix(p.From.String(), address+":") || strings.HasPrefix(p.To.String(), address+":")) {
			return 1000 * time.Hour
		}
		return oneWay
	}
}

// Messages to a node that is out of reach for less than a minute arrive, but for
// those that there was no room for; to one that is for longer they are given up.
func TestDirectMessagesToANodeOutOfReach(t *testing.T) { testDirectOutOfReach(t, false) }

func TestDirectMessagesToAGuestOutOfReach(t *testing.T) { testDirectOutOfReach(t, true) }

func testDirectOutOfReach(t *testing.T, invited bool) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.invite(invited)
		var cut atomic.Bool
		f.direct = true
		f.cutOff(1, &cut)
		f.star(3)
		time.Sleep(5 * time.Second)
		a, b, c := f.nodes[0], f.nodes[1], f.nodes[2]
		// Whoever is not connected is dialled at once, at the address that it has
		// signed; by itself a node takes a second to look for lost members.
		if err := b.host.Network().ClosePeer(c.host.ID()); err != nil {
			t.Fatal(err)
		}
		b.mail.send(t, b.session, c.node.ID(), "straight")
		time.Sleep(300 * time.Millisecond)
		if got := c.mail.of(b.node.ID()); !slices.Equal(got, []string{"straight"}) {
			t.Errorf("a node without a connection got %q", got)
		}

		cut.Store(true)
		all := lines(50, 1000)
		a.mail.send(t, a.session, b.node.ID(), all...)
		a.mail.send(t, a.session, c.node.ID(), "meanwhile")
		time.Sleep(time.Second)
		if got := c.mail.of(a.node.ID()); !slices.Equal(got, []string{"meanwhile"}) {
			t.Errorf("a node within reach got %q within a second", got)
		}
		time.Sleep(34 * time.Second)
		cut.Store(false)
		time.Sleep(30 * time.Second)
		// The first may be on its way while others are dropped, and is the oldest when
		// it comes back.
		if got := sorted(b.mail.of(a.node.ID())); !slices.Equal(got, all[len(all)-32:]) {
			t.Fatalf("%d messages after a cut of 35 s, want the newest 32", len(got))
		}

		cut.Store(true)
		a.mail.send(t, a.session, b.node.ID(), "too early")
		time.Sleep(100 * time.Second)
		cut.Store(false)
		time.Sleep(time.Minute)
		a.mail.send(t, a.session, b.node.ID(), "in time")
		time.Sleep(10 * time.Second)
		if got := b.mail.of(a.node.ID()); slices.Contains(got, "too early") || !slices.Contains(got, "in time") {
			t.Errorf("after a cut of 100 s: %q", got[32:])
		}
	})
}

func (a *attacker) directProtocol() libp2pprotocol.ID {
	return libp2pprotocol.ID("/fbo/direct/1/" + a.fleet.task.ID().String())
}

// direct opens a stream to each node, says something and, when it is to be whole,
// ends it.
func (a *attacker) direct(data []byte, whole bool) {
	for _, id := range a.host.Network().Peers() {
		ctx, cancel := context.WithTimeout(network.WithNoDial(context.Background(), "attack"), time.Second)
		if s, err := a.host.NewStream(ctx, id, a.directProtocol()); err == nil {
			_ = s.SetDeadline(time.Now().Add(30 * time.Second))
			_, _ = s.Write(data)
			if whole {
				_ = s.CloseWrite()
			}
			go func() { // a receipt, or the end
				_ = protocol.ReadReceipt(s)
				_ = s.Reset()
			}()
		}
		cancel()
	}
}

func directOf(exchange string, size int) []byte {
	var wire bytes.Buffer
	if err := protocol.WriteDirect(&wire, protocol.Direct{Exchange: exchange, Data: random(size)}); err != nil {
		panic(err)
	}
	return wire.Bytes()
}

func directAttacks() []attack {
	return []attack{
		{name: "garbage", polite: true, turn: func(a *attacker, n uint64) { a.direct(random(300), true) }},
		{name: "oversized", polite: true, turn: func(a *attacker, n uint64) {
			a.direct(append(binary.AppendUvarint([]byte("\x04mail"), protocol.MaxDirectBytes+1), random(1000)...), true)
		}},
		{name: "unknown exchange", polite: true, turn: func(a *attacker, n uint64) { a.direct(directOf("male", 10), true) }},
		{name: "flood", polite: true, accepted: true, turn: func(a *attacker, n uint64) {
			for range 50 {
				a.direct(directOf(mailName, 10), true)
			}
		}},
		{name: "streams that never end", polite: true, turn: func(a *attacker, n uint64) {
			for range 30 {
				a.direct(binary.AppendUvarint([]byte("\x04mail"), protocol.MaxDirectBytes), false)
			}
		}},
	}
}

// Nobody who sends garbage gets anything taken; they and those that flood are
// disconnected, and honest messages arrive as without them.
func TestHostileDirectMessages(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.direct = true
		f.star(4)
		time.Sleep(10 * time.Second)
		before := heap()
		var hostile []*attacker
		for i, what := range directAttacks() {
			hostile = append(hostile, f.attackBy(i, what))
		}
		defer func() {
			for _, a := range hostile {
				a.close()
			}
		}()
		var most uint64
		for round := range 4 {
			for i, from := range f.nodes {
				to := f.nodes[(i+1)%len(f.nodes)]
				from.mail.send(t, from.session, to.node.ID(), fmt.Sprint(round))
			}
			time.Sleep(5 * time.Second)
			most = max(most, heap())
			for i, from := range f.nodes {
				if got := f.nodes[(i+1)%len(f.nodes)].mail.of(from.node.ID()); len(got) != round+1 {
					t.Errorf("round %d: %d messages of an honest node have come", round, len(got))
				}
			}
		}
		t.Logf("heap, the attackers included: %d KiB before, at most %d KiB after", before/1024, most/1024)
		if most > before+32<<20 {
			t.Error("that is too much")
		}
		for _, a := range hostile {
			taken := 0
			for _, n := range f.nodes {
				taken += len(n.mail.of(a.host.ID()))
			}
			t.Logf("%s: %d messages taken by %d nodes", a.name, taken, len(f.nodes))
			if taken > 0 && !a.accepted {
				t.Errorf("%s: accepted", a.name)
			}
			if limit := len(f.nodes) * (100 + 20*10); taken > limit {
				t.Errorf("%s: %d messages taken, the limit of 20 s is %d", a.name, taken, limit)
			}
			if connected := len(a.host.Network().Peers()); connected > 0 && !a.ignored {
				t.Errorf("%s: still connected to %d nodes", a.name, connected)
			}
		}
	})
}

// Of a stream on which a byte comes every second the end comes after ten, although not
// even the length has come.
func TestADribblingStreamIsCutOff(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		f.direct = true
		f.star(1)
		a := f.attackBy(0, attack{polite: true, turn: func(*attacker, uint64) {}})
		defer a.close()
		time.Sleep(time.Second)
		s, err := a.host.NewStream(t.Context(), f.nodes[0].host.ID(), a.directProtocol())
		if err != nil {
			t.Fatal(err)
		}
		message, began := directOf(mailName, 1000), time.Now()
		for i := range message {
			if _, err = s.Write(message[i : i+1]); err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		if took := time.Since(began); err == nil || took < 9*time.Second || took > 12*time.Second {
			t.Errorf("%v, after %v", err, took)
		}
	})
}
