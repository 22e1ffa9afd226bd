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
	renewAfter = 3 * time.Second  // wait after a connected peer has left the topic
	joinGrace  = 10 * time.Second // time in which a dialled peer must join the task

	maxDialBacks    = 8 // concurrent dial-backs of a task
	dialBackTimeout = 5 * time.Second
)

// maintainConnections carries out the plans of peers.Task, which keep the node connected to enough
// active members.
func (t *Topic) maintainConnections() {
	t.recallAnchors()
	pause := t.policy.Start(time.Now())
	for {
		if !t.awaitMember() {
			return
		}
		select {
		case <-t.ctx.Done():
			return
		case <-t.net.clock.after(pause):
		}
		pause = t.carryOut(t.policy.Plan(time.Now(), t.OnTask()))
	}
}

// awaitMember waits until the node knows a member of the task or has a peer on its topic, since
// before that every plan is empty. It returns false after the end of the session.
func (t *Topic) awaitMember() bool {
	for t.policy.Alone() {
		select {
		case <-t.ctx.Done():
			return false
		case <-t.found:
		}
	}
	return true
}

// wake ends the wait of awaitMember.
func (t *Topic) wake() {
	select {
	case t.found <- struct{}{}:
	default:
	}
}

// carryOut carries out a plan and returns the pause before the next one.
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

// rosterOf returns the only peers that may take part in a task. The map is empty if the task has no
// roster.
func rosterOf(t *task.Task) map[peer.ID]bool {
	roster := map[peer.ID]bool{}
	for _, id := range t.Roster() {
		roster[id] = true
	}
	return roster
}

// dialDirectly tries to connect directly to a peer with a relayed connection. libp2p also tries
// this, with hole punching, but only once, when the relayed connection begins and both peers know a
// public address of the other.
func (t *Topic) dialDirectly(id peer.ID) {
	err := t.net.dialAgain(network.WithForceDirectDial(t.ctx, "without the hub"), peer.AddrInfo{ID: id})
	if err != nil && t.ctx.Err() == nil {
		t.log.Debug("relayed peer not reached directly", "peer", id, "error", err)
	}
}

// dialMembers dials members and waits for the results, but no longer than peers.DialPause.
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

// dialMember dials a member, and reports whether it answered.
func (t *Topic) dialMember(c peers.Candidate) bool {
	n, info := t.net, c.Info
	if n.Foreign { // a Host of the user does not ask the gate
		info.Addrs = slices.DeleteFunc(slices.Clone(info.Addrs), func(a multiaddr.Multiaddr) bool { return !n.Gate.InterceptAddrDial(info.ID, a) })
	}
	err := n.dialAgain(t.ctx, info)
	if err != nil && t.ctx.Err() != nil {
		return false
	}
	t.policy.Dialled(time.Now(), c, err == nil)
	if err != nil {
		t.log.Debug("member not reached", "peer", info.ID, "error", err)
		return false
	}
	t.running.Go(func() { t.closeIfUnused(info.ID) })
	return true
}

// startDialBacks starts goroutines that dial peers back.
func (t *Topic) startDialBacks(due []peers.DialBack) {
	for _, d := range due {
		t.running.Go(func() { t.dialBack(d) })
	}
}

// dialBack verifies that a peer with an inbound connection answers at one of its addresses. It
// makes only a handshake, because libp2p makes no second connection to a connected peer.
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
		return // a Host of the user may not dial through a swarm
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
	_ = c.Close() // the handshake was sufficient
	return true
}

// closeIfUnused waits for joinGrace after a peer was dialled. It then closes the connection if the
// peer is not on the topic, does not support the task's protocol, and nothing else uses the
// connection.
func (t *Topic) closeIfUnused(id peer.ID) {
	select {
	case <-t.ctx.Done():
		return
	case <-time.After(joinGrace):
	}
	if t.net.Foreign {
		return // the user's program may need the connections of its own Host
	}
	h := t.net.Host
	spoken, err := h.Peerstore().SupportsProtocols(id, t.syncProtocol())
	tags := h.ConnManager().GetTagInfo(id)
	if err != nil || len(spoken) > 0 || t.policy.OnTopic(id) || h.ConnManager().IsProtected(id, "") || tags != nil && tags.Value > 0 {
		return
	}
	_ = h.Network().ClosePeer(id) // an error means that the connection has already ended
}

// reconnectStale closes the connection to a peer that has left the topic without a goodbye and is
// still connected, so that a new connection is made. A peer that was killed may return before its
// old connection times out. It announces the topic on the new connection, but gossipsub forgets
// that when the old connection ends.
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
	_ = n.Host.Network().ClosePeer(id) // an error means that the connection has already ended
}

// memberRecords returns signed records to send to a peer: the node's own and those of other
// members.
func (t *Topic) memberRecords() [][]byte {
	records := make([][]byte, 0, protocol.MaxRecords)
	if own := t.recordOf(t.net.Host.ID()); own != nil {
		records = append(records, own)
	}
	return append(records, t.policy.Records(protocol.MaxRecords-len(records))...)
}

// learn passes a record that arrived over a connection to the policy.
func (t *Topic) learn(sealed []byte, by network.Conn) error {
	defer t.wake()
	return t.policy.Learn(sealed, by.RemotePeer(), by.RemoteMultiaddr())
}

// recordOf returns the signed record of this node or of a connected peer; nil if there is none.
func (t *Topic) recordOf(id peer.ID) []byte { return t.net.recordOf(id) }

func (n *Network) recordOf(id peer.ID) []byte {
	book, ok := peerstore.GetCertifiedAddrBook(n.Host.Peerstore())
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
