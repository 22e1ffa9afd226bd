package node

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

// entry lets somebody in and tells when its stream was reset.
func (s *streamLimiter) entry(id, group string, named bool) (reset *atomic.Bool, leave func(), ok bool) {
	reset = &atomic.Bool{}
	leave, ok = s.acquire(&streamSlot{id: peer.ID(id), group: group, named: named, reset: func() error { reset.Store(true); return nil }})
	return reset, leave, ok
}

func (s *streamLimiter) holds(group string) (count int) {
	for _, g := range s.slots {
		if g.group == group {
			count++
		}
	}
	return count
}

// Fifty identities of one address that hold streams open keep nobody else out, and a group
// no smaller than another takes nothing from it.
func TestLargestGroupLosesAStream(t *testing.T) {
	s := newSyncLimiter()
	first, leaveFirst, _ := s.entry("made up 0", "attacker", false)
	for i := range 50 * maxSyncStreamsOfPeer {
		s.entry(fmt.Sprint("made up ", 1+i/maxSyncStreamsOfPeer), "attacker", false)
	}
	if len(s.slots) != maxSyncStreams {
		t.Fatalf("%d streams are read", len(s.slots))
	}
	for i := range maxSyncStreams / 2 {
		if _, _, ok := s.entry(fmt.Sprint("honest ", i/2), "lab", false); !ok {
			t.Fatalf("stream %d of others finds no place", i)
		}
	}
	waitUntil(t, "the oldest stream of the largest group is reset", first.Load)
	leaveFirst() // its handler ends: nothing is given back twice
	if _, _, ok := s.entry("one more", "lab", false); ok || s.holds("attacker") != maxSyncStreams/2 || s.holds("lab") != maxSyncStreams/2 {
		t.Errorf("%d and %d streams are read", s.holds("attacker"), s.holds("lab"))
	}
	if _, _, ok := s.entry("elsewhere", "elsewhere", false); !ok {
		t.Error("a third group finds no place")
	}
}

// Whom the user has named goes before strangers, whatever their groups hold.
func TestNamedGoFirst(t *testing.T) {
	s := newSmallStreamLimiter("test", time.Second)
	for i := range s.most {
		s.entry(fmt.Sprint("stranger ", i), fmt.Sprint("group ", i), false)
	}
	var leaves []func()
	for i := range s.most {
		_, leave, ok := s.entry(fmt.Sprint("named ", i), "lab", true)
		if !ok {
			t.Fatalf("named node %d finds no place", i)
		}
		leaves = append(leaves, leave)
	}
	if _, _, ok := s.entry("stranger", "elsewhere", false); ok || s.holds("lab") != s.most {
		t.Error("a stranger takes the place of a named node")
	}
	if _, _, ok := s.entry("named, from elsewhere", "elsewhere", true); !ok {
		t.Error("the largest group of named nodes loses nothing to another")
	}
	for _, leave := range leaves {
		leave()
		leave()
	}
	if len(s.slots) != 1 {
		t.Errorf("%d places are taken after all but one have left", len(s.slots))
	}
}

func TestStreamsOfOnePeer(t *testing.T) {
	s := newSyncLimiter()
	for i := range maxSyncStreamsOfPeer + 1 {
		if _, _, ok := s.entry("peer", "group", false); ok != (i < maxSyncStreamsOfPeer) {
			t.Errorf("stream %d of one peer: %v", i+1, ok)
		}
	}
}

func waitUntil(t testing.TB, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// What is asked for while it is done is done once more, however often.
func TestCoalescerRunsOnceMore(t *testing.T) {
	var o coalescer
	done := 0
	o.run("peer", func() {
		if done++; done == 1 {
			for range 5 {
				o.run("peer", func() { t.Error("it is done twice at a time") })
			}
			o.run("another", func() { done += 10 })
		}
	})
	if done != 12 || len(o.again) != 0 {
		t.Errorf("done %d times, %d are left", done, len(o.again))
	}
}

// refusedStream is one for which the resource manager has no room.
type refusedStream struct {
	network.Stream
	why error
}

type refusedScope struct {
	*network.NullScope
	why error
}

type connectionOfPeer struct{ network.Conn }

func (s refusedStream) Conn() network.Conn         { return connectionOfPeer{} }
func (s refusedStream) Scope() network.StreamScope { return refusedScope{why: s.why} }
func (s refusedScope) SetService(string) error     { return s.why }
func (connectionOfPeer) RemotePeer() peer.ID       { return "peer" }
func (connectionOfPeer) RemoteMultiaddr() multiaddr.Multiaddr {
	return multiaddr.StringCast("/ip4/192.0.2.1/tcp/1")
}

// A stream that libp2p's own limits refuse takes no place.
func TestStreamsThatTheResourceManagerRefuses(t *testing.T) {
	s := newSyncLimiter()
	stream := refusedStream{why: errors.New("no room")}
	for range 2 * syncBurst {
		leave, err := s.admit(stream, newPeerPolicy(func(peer.ID) bool { return false }), false, func(peer.ID, int, error) {})
		if leave != nil || !errors.Is(err, stream.why) {
			t.Fatalf("a refused stream is let in: %v", err)
		}
	}
	if len(s.slots) > 0 {
		t.Errorf("%d refused streams have places", len(s.slots))
	}
}
