package node

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"

	"github.com/fbo-node/fbo/protocol"
)

// How a node looks for company.
const (
	enoughPeers   = 10               // on the task; fewer, and it dials members that it knows of
	parallelDials = 4                // at a time
	linkPause     = time.Second      // between looks, with jitter
	longPause     = 30 * time.Second // between asking others whom they know, once that brings nothing new
	directPause   = 5 * time.Second  // between attempts to do without a hub, twice as long with each
	longestDirect = 10 * time.Minute
	lostPause     = 15 * time.Second // between dials of members that were lost although there is enough company
	renewAfter    = 3 * time.Second  // after a peer has left the topic, and stayed
)

// link keeps the node well connected among the members of its task. Nodes that
// were all given one address would otherwise form a star, on which gossip loses
// a third of the messages once there are forty.
func (t *topic) link() {
	asking, nextAsk, nextLost := linkPause, time.Now(), time.Now().Add(lostPause)
	direct := growing{next: time.Now().Add(directPause), pause: directPause}
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-time.After(jittered(linkPause)):
		}
		now := time.Now()
		peers := t.onTask()
		if direct.due(now) {
			t.running.Go(func() { t.dialDirectly(peers) })
		}
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

// growing is when something is due that is done ever more seldom.
type growing struct {
	next  time.Time
	pause time.Duration
}

func (g *growing) due(now time.Time) bool {
	if now.Before(g.next) {
		return false
	}
	g.next = now.Add(jittered(g.pause))
	g.pause = min(2*g.pause, longestDirect)
	return true
}

// dialDirectly tries to reach one of the relayed peers without the hub. libp2p
// does so itself, and punches holes, when a relayed connection is made and the
// peers know public addresses of each other.
func (t *topic) dialDirectly(peers []peer.ID) {
	n := t.session.node
	relayed := slices.DeleteFunc(slices.Clone(peers), func(id peer.ID) bool {
		link, ok := n.linkTo(id)
		return !ok || link.Path == Direct
	})
	if len(relayed) == 0 {
		return
	}
	id := relayed[rand.IntN(len(relayed))]
	err := n.dialAgain(network.WithForceDirectDial(t.ctx, "without the hub"), peer.AddrInfo{ID: id})
	if err != nil && t.ctx.Err() == nil {
		t.session.logger.Debug("relayed peer not reached directly", "peer", id, "error", err)
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
	err := n.dialAgain(t.ctx, info)
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

// renew breaks the connection to a peer that has left the topic without a goodbye
// and is still there, so that a new one is made. A peer that was killed and has come
// back before its old connection was found dead has told gossip on the new one that
// it is on the topic; with the old one gossip forgets that.
func (t *topic) renew(id peer.ID) {
	select {
	case <-t.ctx.Done():
		return
	case <-time.After(renewAfter):
	}
	n, present := t.session.node, false
	err := t.session.do(t.ctx, func(now time.Time) { present = t.session.agent.Present(now).Has(id) })
	if err != nil || !present || n.host.Network().Connectedness(id) != network.Connected || slices.Contains(t.topic.ListPeers(), id) {
		return
	}
	t.session.logger.Info("peer is connected, and gossip does not know it; connecting anew", "peer", id)
	_ = n.host.Network().ClosePeer(id) // the connection is gone in any case
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
