package wire

import (
	"bytes"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/fbo-node/fbo/node/internal/hub"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

const (
	rendezvousPause   = 2 * time.Second // at most, for a node with too few active peers that learns of new nodes
	rendezvousRenewal = 2 * time.Minute // for a node with enough active peers
)

// registerAtHubs registers the node for the task at a hub and learns other nodes on the task: at once,
// then at growing intervals, and again when the connection was lost or the node's own addresses have
// changed. maintainConnections dials the nodes.
func (t *Topic) registerAtHubs(h *hub.Link) {
	n := t.net
	pause, next := peers.ConnectPause, time.Now()
	var handedIn []byte
	connection := uint64(0)
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-time.After(n.Policy.Jittered(peers.ConnectPause)):
		}
		if n.Host.Network().Connectedness(h.ID) != network.Connected {
			next = time.Now()
			continue
		}
		record, current := t.recordOf(n.Host.ID()), h.Connections()
		changed := current != connection || !bytes.Equal(record, handedIn)
		if record == nil || !changed && time.Now().Before(next) {
			continue
		}
		if changed {
			pause = peers.ConnectPause
		}
		before := t.policy.Members()
		request := protocol.RendezvousRequest{Task: t.meeting, PeerRecord: record}
		err := hub.Register(t.ctx, n.Host, h.ID, request, t.learn)
		if t.ctx.Err() != nil {
			return
		}
		if err != nil {
			t.log.Info("a hub does not introduce this node", "peer", h.ID, "error", err)
		}
		handedIn, connection = record, current
		next = time.Now().Add(n.Policy.Jittered(pause))
		pause = min(2*pause, peers.LongPause)
		if after := t.policy.Members(); after > before {
			pause = min(pause, rendezvousPause) // there may be more
		}
		if err == nil && t.policy.Active(time.Now()) >= peers.EnoughPeers {
			next = time.Now().Add(n.Policy.Jittered(rendezvousRenewal))
		}
	}
}
