package node

import (
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/peers"
)

// recallAnchors makes the peers of an earlier run the first to be dialled.
func (t *topic) recallAnchors() {
	n := t.session.node
	anchors, err := n.store.ReadAnchors(t.session.id, peers.MaxAnchors)
	if err != nil {
		n.warn(fmt.Sprintf("task %q: the peers of the last run are forgotten: %v", t.session.task.Name, err))
		return
	}
	for _, anchor := range anchors {
		t.policy.Recall(anchor)
	}
}

// storeAnchors stores the anchors for the next start. Without any, those of the last run stay.
func (t *topic) storeAnchors(anchors []peer.AddrInfo) {
	if len(anchors) == 0 {
		return
	}
	if err := t.session.node.store.WriteAnchors(t.session.id, anchors); err != nil {
		t.session.logger.Warn("peers are not kept for the next start", "error", err)
	}
}
