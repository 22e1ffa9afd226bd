package node

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/protocol"
)

// Constants for the search for active peers.
const (
	enoughPeers    = 10               // active peers on the task; with fewer the node dials known members
	enoughDialled  = 16               // outbound connections; with fewer the node often dials unknown members, whatever the number of inbound ones
	connectPause   = time.Second      // between checks, with jitter
	dialPause      = connectPause / 4 // the same when a node with too few active peers has dialled members; also how long it waits for them
	visitPause     = 3 * time.Second  // between dials of unknown members when there are enough active peers, and room for more
	longPause      = 30 * time.Second // between requests for members, once responses contain no new ones
	directPause    = 5 * time.Second  // between attempts to do without a hub, twice as long with each
	maxDirectPause = 10 * time.Minute
	lostPause      = 15 * time.Second // between dials of lost members when there are enough active peers
	renewAfter     = 3 * time.Second  // after a peer has left the topic, and stayed
	joinGrace      = 10 * time.Second // until a dialled peer joins the task
)

// maintainConnections keeps the node well connected among the members of its task. Nodes that
// were all given one address would otherwise form a star, on which gossip loses
// a third of the messages once there are forty.
func (t *topic) maintainConnections() {
	t.recallAnchors()
	pause := connectPause
	asking, nextAsk, visited := connectPause, time.Now(), time.Now()
	nextChange, nextAnchors := time.Now().Add(jittered(changePause)), time.Now().Add(anchorsPause)
	direct := backoff{next: time.Now().Add(directPause), pause: directPause}
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-time.After(jittered(pause)):
		}
		now := time.Now()
		pause = connectPause
		peers := t.onTask()
		change := now.After(nextChange)
		if change {
			nextChange = now.Add(jittered(changePause))
		}
		dialled := t.protectPeers(now, peers, change)
		t.startDueDialBacks(now, peers)
		if now.After(nextAnchors) {
			nextAnchors = now.Add(anchorsPause)
			t.keepAnchors(now)
		}
		if direct.isDue(now) {
			t.running.Go(func() { t.dialDirectly(peers) })
		}
		missing := enoughPeers - t.activity.activeCount(now)
		if missing > 0 {
			if t.dialMembers(missing) {
				pause, asking = dialPause, connectPause
				continue
			}
		} else if change || now.Sub(visited) > t.visitInterval(len(dialled)) {
			// The other half of a network that was cut in two has enough company
			// as well, and so have those whom liars keep from each other; somebody must
			// look for them.
			visited = now
			t.dialMembers(1)
			continue
		}
		if now.After(nextAsk) && len(peers) > 0 && (missing > 0 || len(dialled) < enoughDialled) {
			t.fetch(t.activity.pick(now, dialled, peers))
			nextAsk = now.Add(asking)
			asking = min(2*asking, longPause)
		}
	}
}

// visitInterval returns the pause between dials of a node with enough active peers and this many
// outbound connections.
func (t *topic) visitInterval(dialled int) time.Duration {
	if _, fresh := t.members.count(); fresh > 0 && dialled < enoughDialled {
		return visitPause
	}
	return lostPause
}

// backoff is when something is due that is done ever more seldom.
type backoff struct {
	next  time.Time
	pause time.Duration
}

func (g *backoff) isDue(now time.Time) bool {
	if now.Before(g.next) {
		return false
	}
	g.next = now.Add(jittered(g.pause))
	g.pause = min(2*g.pause, maxDirectPause)
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
// outcome, but not for those that say nothing; false when there is none to dial.
func (t *topic) dialMembers(count int) bool {
	h := t.session.node.host
	picked := t.members.pick(count, time.Now(), func(id peer.ID) bool {
		return h.Network().Connectedness(id) == network.Connected || t.session.node.policy.isBanned(id)
	}, t.rangeCrowding())
	done := make(chan struct{}, len(picked))
	for _, c := range picked {
		t.running.Go(func() {
			defer func() { done <- struct{}{} }()
			t.dialMember(c)
		})
	}
	patience := time.After(dialPause)
	for range picked {
		select {
		case <-done:
		case <-patience:
			return true
		}
	}
	return len(picked) > 0
}

func (t *topic) dialMember(c candidate) {
	n, info := t.session.node, c.info
	if n.Host != nil { // which does not ask the gate
		info.Addrs = slices.DeleteFunc(slices.Clone(info.Addrs), func(a multiaddr.Multiaddr) bool { return !n.gate.InterceptAddrDial(info.ID, a) })
	}
	err := n.dialAgain(t.ctx, info)
	if err == nil && c.referrer != "" {
		n.attempts.Reached(c.referrer)
	}
	if t.ctx.Err() != nil {
		return
	}
	// Until it turns up on the topic it counts as not reached: whoever is no
	// member must not be dialled for ever.
	t.members.dialled(info.ID, err == nil, time.Now())
	if err != nil {
		t.session.logger.Debug("member not reached", "peer", info.ID, "error", err)
		return
	}
	t.running.Go(func() { t.closeIfUnused(info.ID) })
}

// closeIfUnused breaks the connection to a peer that was dialled for the task, of which it
// does not speak, and that is of no other use: with many such the node goes on to
// others.
func (t *topic) closeIfUnused(id peer.ID) {
	select {
	case <-t.ctx.Done():
		return
	case <-time.After(joinGrace):
	}
	if t.session.node.Host != nil {
		return // a Host of the user's may have other uses for it
	}
	h := t.session.node.host
	spoken, err := h.Peerstore().SupportsProtocols(id, t.syncProtocol())
	tags := h.ConnManager().GetTagInfo(id)
	if err != nil || len(spoken) > 0 || t.here.has(id) || h.ConnManager().IsProtected(id, "") || tags != nil && tags.Value > 0 {
		return
	}
	_ = h.Network().ClosePeer(id) // the connection is gone in any case
}

// reconnectStale breaks the connection to a peer that has left the topic without a goodbye
// and is still there, so that a new one is made. A peer that was killed and has come
// back before its old connection was found dead has told gossip on the new one that
// it is on the topic; with the old one gossip forgets that.
func (t *topic) reconnectStale(id peer.ID) {
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

// memberRecords returns signed records for a peer: the node's own, and others.
func (t *topic) memberRecords() [][]byte {
	records := make([][]byte, 0, protocol.MaxRecords)
	if own := t.recordOf(t.session.node.host.ID()); own != nil {
		records = append(records, own)
	}
	return append(records, t.members.records(protocol.MaxRecords-len(records))...)
}

// noteMember remembers a peer that is on the topic. Its record has come with libp2p's
// identification.
func (t *topic) noteMember(id peer.ID) {
	connections := t.session.node.host.Network().ConnsToPeer(id)
	if sealed := t.recordOf(id); sealed != nil && len(connections) > 0 {
		_ = t.learn(sealed, connections[0]) // libp2p has verified it
	}
	t.members.noteMember(id)
	t.session.node.host.ConnManager().TagPeer(id, t.name(), valueOnTask)
	if addresses := t.members.dialBackAddresses(id, time.Now()); addresses != nil {
		t.running.Go(func() { t.dialBack(id, addresses) })
	}
}

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
