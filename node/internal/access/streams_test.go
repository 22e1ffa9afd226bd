package access

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/node/internal/peers"
)

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
	const count = 4
	s := NewLimiter("test", count, 2, 1<<10, time.Second)
	stream := refusedStream{why: errors.New("no room")}
	for range 2 * peers.SyncBurst {
		leave, err := s.Admit(stream, NewPolicy(peers.Config{}), func(peer.ID, int, error) {})
		if leave != nil || !errors.Is(err, stream.why) {
			t.Fatalf("a refused stream is let in: %v", err)
		}
	}
	for i := range count {
		if loser, ok := s.slots.Acquire(&peers.Slot{ID: peer.ID(fmt.Sprint(i))}); !ok || loser != nil {
			t.Fatal("refused streams have places")
		}
	}
}
