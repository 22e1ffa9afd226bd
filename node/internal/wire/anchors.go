package wire

import (
	"fmt"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/node/internal/peers"
)

// recallAnchors makes the stored anchors of an earlier run the first members to dial.
func (t *Topic) recallAnchors() {
	n := t.net
	anchors, err := t.store.ReadAnchors(t.id, peers.MaxAnchors)
	if err != nil {
		n.Warn(fmt.Sprintf("task %q: the peers of the last run are forgotten: %v", t.task.Name, err))
		return
	}
	for _, anchor := range anchors {
		t.policy.Recall(anchor)
	}
}

// storeAnchors stores the anchors for the next start. If there are none, it keeps the stored ones.
func (t *Topic) storeAnchors(anchors []peer.AddrInfo) {
	if len(anchors) == 0 {
		return
	}
	if err := t.store.WriteAnchors(t.id, anchors); err != nil {
		t.log.Warn("peers are not kept for the next start", "error", err)
	}
}
