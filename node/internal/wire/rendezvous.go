package wire

import (
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/fbo-node/fbo/node/internal/hub"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

// registerAtHub registers the node for the task at a hub, and passes the records that the hub
// returns to the policy. maintainConnections later dials these members.
func (t *Topic) registerAtHub(h *hub.Link) {
	n, meeting := t.net, t.policy.NewMeeting(time.Now())
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-n.clock.after(n.Policy.Jittered(peers.ConnectPause)):
		}
		record, connected := t.recordOf(n.Host.ID()), n.Host.Network().Connectedness(h.ID) == network.Connected
		if !meeting.IsDue(time.Now(), connected, h.Connections(), record) {
			continue
		}
		err := hub.Register(t.ctx, n.Host, h.ID, protocol.RendezvousRequest{Task: t.meeting, PeerRecord: record}, t.learn)
		if t.ctx.Err() != nil {
			return
		}
		if err != nil {
			t.log.Info("a hub does not introduce this node", "peer", h.ID, "error", err)
		}
		meeting.Ended(time.Now(), err == nil)
	}
}
