package node

import (
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/store"
)

const (
	anchorAge    = 3 * time.Minute // so long a peer must have been connected
	anchorsPause = 5 * time.Minute // between writes
)

// recallAnchors makes the peers of an earlier run the first to be dialled.
func (t *topic) recallAnchors() {
	n := t.session.node
	anchors, err := n.store.ReadAnchors(t.session.id)
	if err != nil {
		n.warn(fmt.Sprintf("task %q: the peers of the last run are forgotten: %v", t.session.task.Name, err))
		return
	}
	for _, anchor := range anchors {
		t.members.recall(anchor)
	}
}

// keepAnchors leaves those to the next start that have been good company for long. Where
// there are none, those of the last run stay.
func (t *topic) keepAnchors(now time.Time) {
	n := t.session.node
	var anchors []peer.AddrInfo
	for _, id := range t.activity.longestActive(now, anchorAge) {
		if address := n.attempts.LastAnswer(id); address != nil && len(anchors) < store.MaxAnchors {
			anchors = append(anchors, peer.AddrInfo{ID: id, Addrs: []multiaddr.Multiaddr{address}})
		}
	}
	if len(anchors) == 0 {
		return
	}
	if err := n.store.WriteAnchors(t.session.id, anchors); err != nil {
		t.session.logger.Warn("peers are not kept for the next start", "error", err)
	}
}
