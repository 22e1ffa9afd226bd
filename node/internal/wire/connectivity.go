package wire

import (
	"context"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

const (
	renewAfter = 3 * time.Second  // after a peer has left the topic, and stayed
	joinGrace  = 10 * time.Second // until a dialled peer joins the task

	maxDialBacks    = 8 // at the same time
	dialBackTimeout = 5 * time.Second
)

// maintainConnections keeps the node well connected among the members of its task.
func (t *Topic) maintainConnections() {
	t.recallAnchors()
	pause := t.policy.Start(time.Now())
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = t.carryOut(t.policy.Plan(time.Now(), t.OnTask()))
	}
}

// carryOut carries out a plan and returns the pause until the next one.
func (t *Topic) carryOut(plan peers.Plan) (pause time.Duration) {
	manager := t.net.Host.ConnManager()
	for id, value := range plan.Values {
		manager.TagPeer(id, t.name(), value)
	}
	for _, id := range plan.Protect {
		manager.Protect(id, t.protectionTag())
	}
	for _, id := range plan.Unprotect {
		manager.Unprotect(id, t.protectionTag())
	}
	t.startDialBacks(plan.DialBacks)
	t.storeAnchors(plan.Anchors)
	if plan.Direct != "" {
		t.running.Go(func() { t.dialDirectly(plan.Direct) })
	}
	t.dialMembers(plan.Dial)
	if plan.Fetch != "" {
		t.fetch(plan.Fetch)
	}
	return plan.Pause
}

func (t *Topic) protectionTag() string { return "outbound " + t.name() }

// unprotectPeers ends the protection of peers when the session ends.
func (t *Topic) unprotectPeers() {
	for _, id := range t.policy.End(time.Now()) {
		t.net.Host.ConnManager().Unprotect(id, t.protectionTag())
	}
}

// rosterOf returns the peers that a task names as the only participants; empty when it names none.
func rosterOf(t *task.Task) map[peer.ID]bool {
	roster := map[peer.ID]bool{}
	if t.Privacy != nil && t.Privacy.Aggregate != nil {
		for _, id := range t.Privacy.Aggregate.Roster {
			roster[id] = true
		}
	}
	var names []string
	if t.Strategy.Settings != nil {
		names, _ = t.Strategy.Settings.Keys()["roster"].([]string)
	}
	for _, name := range names {
		if id, err := peer.Decode(name); err == nil {
			roster[id] = true
		}
	}
	return roster
}

// dialDirectly tries to reach a relayed peer without the hub. libp2p does so itself, and punches
// holes, when a relayed connection is made and the peers know public addresses of each other.
func (t *Topic) dialDirectly(id peer.ID) {
	err := t.net.dialAgain(network.WithForceDirectDial(t.ctx, "without the hub"), peer.AddrInfo{ID: id})
	if err != nil && t.ctx.Err() == nil {
		t.log.Debug("relayed peer not reached directly", "peer", id, "error", err)
	}
}

// dialMembers dials members and waits for the outcome, but no longer than peers.DialPause.
func (t *Topic) dialMembers(candidates []peers.Candidate) {
	done := make(chan struct{}, len(candidates))
	for _, c := range candidates {
		t.running.Go(func() {
			defer func() { done <- struct{}{} }()
			t.dialMember(c)
		})
	}
	patience := time.After(peers.DialPause)
	for range candidates {
		select {
		case <-done:
		case <-patience:
			return
		}
	}
}

func (t *Topic) dialMember(c peers.Candidate) {
	n, info := t.net, c.Info
	if n.Foreign { // which does not ask the gate
		info.Addrs = slices.DeleteFunc(slices.Clone(info.Addrs), func(a multiaddr.Multiaddr) bool { return !n.Gate.InterceptAddrDial(info.ID, a) })
	}
	err := n.dialAgain(t.ctx, info)
	if err != nil && t.ctx.Err() != nil {
		return
	}
	t.policy.Dialled(time.Now(), c, err == nil)
	if err != nil {
		t.log.Debug("member not reached", "peer", info.ID, "error", err)
		return
	}
	t.running.Go(func() { t.closeIfUnused(info.ID) })
}

// startDialBacks begins to find out whether peers answer at their addresses.
func (t *Topic) startDialBacks(due []peers.DialBack) {
	for _, d := range due {
		t.running.Go(func() { t.dialBack(d) })
	}
}

// dialBack finds out whether a peer that has made the connection answers at one of its addresses, by
// a handshake, since libp2p makes no second connection to a peer.
func (t *Topic) dialBack(d peers.DialBack) {
	select {
	case t.dialBacks <- struct{}{}:
		defer func() { <-t.dialBacks }()
	case <-t.ctx.Done():
		return
	}
	n := t.net
	network, ok := n.Host.Network().(*swarm.Swarm)
	if !ok {
		return // a Host of the user's that dials in another way
	}
	for _, address := range d.Addrs {
		if !n.Gate.InterceptAddrDial(d.ID, address) {
			t.policy.DialBackSoon(d.ID)
			return
		}
		if t.acceptsDial(network, d.ID, address) {
			n.Policy.Answered(time.Now(), d.ID, address)
			return
		}
	}
}

func (t *Topic) acceptsDial(network *swarm.Swarm, id peer.ID, address multiaddr.Multiaddr) bool {
	ctx, cancel := context.WithTimeout(t.ctx, dialBackTimeout)
	defer cancel()
	transport := network.TransportForDialing(address)
	if transport == nil {
		return false
	}
	c, err := transport.Dial(ctx, address, id)
	if err != nil {
		return false
	}
	_ = c.Close() // the handshake was enough
	return true
}

// closeIfUnused closes the connection to a peer that was dialled for the task, if the peer does not
// support its protocol and has no other use.
func (t *Topic) closeIfUnused(id peer.ID) {
	select {
	case <-t.ctx.Done():
		return
	case <-time.After(joinGrace):
	}
	if t.net.Foreign {
		return // a Host of the user's may have other uses for it
	}
	h := t.net.Host
	spoken, err := h.Peerstore().SupportsProtocols(id, t.syncProtocol())
	tags := h.ConnManager().GetTagInfo(id)
	if err != nil || len(spoken) > 0 || t.policy.OnTopic(id) || h.ConnManager().IsProtected(id, "") || tags != nil && tags.Value > 0 {
		return
	}
	_ = h.Network().ClosePeer(id) // the connection is gone in any case
}

// reconnectStale closes the connection to a peer that has left the topic without a goodbye and is
// still connected, so that a new one is made. A peer that was killed may come back before the old
// connection is found dead. It has announced the topic on the new connection, and gossip forgets this
// with the old one.
func (t *Topic) reconnectStale(id peer.ID) {
	select {
	case <-t.ctx.Done():
		return
	case <-time.After(renewAfter):
	}
	n, present := t.net, false
	err := t.do(t.ctx, func(a *agent.Agent, now time.Time) { present = a.Present(now).Has(id) })
	if err != nil || !present || n.Host.Network().Connectedness(id) != network.Connected || slices.Contains(t.topic.ListPeers(), id) {
		return
	}
	t.log.Info("peer is connected, and gossip does not know it; connecting anew", "peer", id)
	_ = n.Host.Network().ClosePeer(id) // the connection is gone in any case
}

// memberRecords returns signed records for a peer: the node's own, and others.
func (t *Topic) memberRecords() [][]byte {
	records := make([][]byte, 0, protocol.MaxRecords)
	if own := t.recordOf(t.net.Host.ID()); own != nil {
		records = append(records, own)
	}
	return append(records, t.policy.Records(protocol.MaxRecords-len(records))...)
}

// learn passes a record that came over a connection to the policy.
func (t *Topic) learn(sealed []byte, by network.Conn) error {
	return t.policy.Learn(sealed, by.RemotePeer(), by.RemoteMultiaddr())
}

// recordOf returns the signed record of a peer that is connected, or of this
// node; nil when there is none.
func (t *Topic) recordOf(id peer.ID) []byte {
	book, ok := peerstore.GetCertifiedAddrBook(t.net.Host.Peerstore())
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
