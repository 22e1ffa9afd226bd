package node

import (
	"math/rand/v2"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"

	"github.com/fbo-node/fbo/protocol"
)

// How a node looks for company.
const (
	enoughPeers   = 10               // on the task; fewer, and it dials members that it knows of
	parallelDials = 4                // at a time
	linkPause     = time.Second      // between looks, with jitter
	longPause     = 30 * time.Second // between asking others whom they know, once that brings nothing new
	lostPause     = 15 * time.Second // between dials of members that were lost although there is enough company
)

// link keeps the node well connected among the members of its task. Nodes that
// were all given one address would otherwise form a star, on which gossip loses
// a third of the messages once there are forty.
func (t *topic) link() {
	asking, nextAsk, nextLost := linkPause, time.Now(), time.Now().Add(lostPause)
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-time.After(jittered(linkPause)):
		}
		now := time.Now()
		peers := t.topic.ListPeers()
		if len(peers) >= enoughPeers {
			// The other half of a network that was cut in two has enough company
			// as well; somebody must look for it.
			if now.After(nextLost) {
				nextLost = now.Add(lostPause)
				t.dialMembers(1)
			}
			continue
		}
		if t.dialMembers(min(parallelDials, enoughPeers-len(peers))) {
			asking = linkPause
			continue
		}
		if len(peers) > 0 && now.After(nextAsk) {
			t.fetch(peers[rand.IntN(len(peers))])
			nextAsk = now.Add(asking)
			asking = min(2*asking, longPause)
		}
	}
}

// dialMembers dials some members that are not connected and waits for the
// outcome; false when there is none to dial.
func (t *topic) dialMembers(count int) bool {
	h := t.session.node.host
	picked := t.members.pick(count, time.Now(), func(id peer.ID) bool {
		return h.Network().Connectedness(id) == network.Connected || t.session.node.conduct.isBanned(id)
	})
	done := make(chan struct{}, len(picked))
	for _, info := range picked {
		t.running.Go(func() {
			defer func() { done <- struct{}{} }()
			t.dialMember(info)
		})
	}
	for range picked {
		<-done
	}
	return len(picked) > 0
}

func (t *topic) dialMember(info peer.AddrInfo) {
	n := t.session.node
	if s, ok := n.host.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(info.ID) // the pauses between attempts are those of members
	}
	err := n.dial(t.ctx, info)
	switch {
	case t.ctx.Err() != nil:
	case err != nil:
		t.session.logger.Debug("member not reached", "peer", info.ID, "error", err)
		t.members.failed(info.ID, time.Now())
	default:
		// Until it turns up on the topic it counts as not reached: whoever is no
		// member must not be dialled for ever.
		t.members.failed(info.ID, time.Now())
	}
}

// introduce returns signed records for a peer: the node's own, and others.
func (t *topic) introduce() [][]byte {
	records := make([][]byte, 0, protocol.MaxRecords)
	if own := t.recordOf(t.session.node.host.ID()); own != nil {
		records = append(records, own)
	}
	return append(records, t.members.records(protocol.MaxRecords-len(records))...)
}

// met remembers a peer that is on the topic. Its record has come with libp2p's
// identification.
func (t *topic) met(id peer.ID) {
	if sealed := t.recordOf(id); sealed != nil {
		_ = t.members.learn(sealed) // libp2p has verified it
	}
	t.members.meet(id)
	t.session.node.host.ConnManager().TagPeer(id, t.name(), taskPeerWorth)
}

// taskPeerWorth puts peers of a task before all others when connections are
// trimmed.
const taskPeerWorth = 100

// recordOf returns the signed record of a peer that is connected, or of this
// node; nil when there is none.
func (t *topic) recordOf(id peer.ID) []byte {
	book, ok := peerstore.GetCertifiedAddrBook(t.session.node.host.Peerstore())
	if !ok {
		return nil
	}
	envelope := book.GetPeerRecord(id)
	if envelope == nil {
		return nil
	}
	sealed, err := envelope.Marshal()
	if err != nil {
		return nil
	}
	return sealed
}
