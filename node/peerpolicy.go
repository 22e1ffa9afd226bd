package node

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/access"
)

// reportViolation records a violation of a peer, unless it is the node itself.
func (n *Node) reportViolation(id peer.ID, weight int, why error) {
	if id == n.host.ID() {
		return
	}
	n.log.Info("a peer misbehaves", "peer", id, "error", why)
	access.Report(n.policy, n.host.Network(), n.log, id, weight, why)
}

// isBanned reports whether a peer is banned now.
func (n *Node) isBanned(id peer.ID) bool { return n.policy.Banned(time.Now(), id) }

// refuses reports whether the node takes nothing that a peer has written: the peer is banned, or may not
// take part.
func (n *Node) refuses(id peer.ID) bool { return n.isBanned(id) || !n.policy.MayTakePart(id) }
