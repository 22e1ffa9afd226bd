package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

const (
	rendezvousProtocol = "/fbo/rendezvous/1"
	rendezvousTimeout  = 10 * time.Second
)

// serveRendezvous registers the asking node and answers with others on its task.
func (h *Hub) serveRendezvous(stream network.Stream) {
	if err := h.introduce(stream); err != nil {
		h.log.Info("cannot introduce a node", "peer", stream.Conn().RemotePeer(), "error", err)
		_ = stream.Reset()
		return
	}
	_ = stream.Close()
}

func (h *Hub) introduce(stream network.Stream) error {
	asking := stream.Conn().RemotePeer()
	leave, err := h.rendezvous.admit(stream, h.policy, h.reportViolation)
	if err != nil {
		return err
	}
	defer leave()
	request, err := protocol.ReadRendezvousRequest(stream)
	if err == nil {
		err = isOwnRecord(request.PeerRecord, asking)
	}
	if errors.Is(err, protocol.ErrMalformed) {
		h.reportViolation(asking, 1, err)
	}
	if err != nil {
		return err
	}
	task, now, seen := request.Task.KeyString(), time.Now(), stream.Conn().RemoteMultiaddr()
	registration := h.policy.Register(now, task, asking, seen, request.PeerRecord)
	if registration.Hidden {
		h.log.Info("a node is not made known, since it is not at its addresses", "peer", asking, "seen", seen)
	}
	if registration.Refused {
		h.log.Info("a node on many tasks is not made known on another", "peer", asking, "task", request.Task)
	}
	if err := protocol.WriteRendezvousResponse(stream, h.policy.Introduce(now, task, asking, protocol.MaxRecords)); err != nil {
		return err
	}
	return stream.CloseWrite()
}

// reportViolation notes a fault of a node and breaks with it when there were too many.
func (h *Hub) reportViolation(id peer.ID, weight int, why error) {
	reportViolation(h.policy, h.host.Network(), h.log, id, weight, why)
}

// isOwnRecord checks that a record is that of the node that hands it in: others
// would make known, with an old record, whoever has left.
func isOwnRecord(sealed []byte, id peer.ID) error {
	record, err := protocol.OpenRecord(sealed)
	if err == nil && record.PeerID != id {
		err = fmt.Errorf("%w: a record of %v", protocol.ErrMalformed, record.PeerID)
	}
	return err
}

// AllowReserve implements relay.ACLFilter. Who loses a place to another is disconnected,
// with which libp2p's relay service takes it back.
func (h *Hub) AllowReserve(id peer.ID, from multiaddr.Multiaddr) bool {
	loses, ok := h.policy.Reserve(time.Now(), id, from)
	if loses != "" {
		h.log.Info("a node loses its place to one of another range of addresses", "peer", loses, "to", id)
		_ = h.host.Network().ClosePeer(loses) // the connection is gone in any case
	}
	return ok
}

// AllowConnect implements relay.ACLFilter: a hub relays between hosts that have registered for
// the same task. It does not see what they exchange: two hosts that register for a made-up task
// can use an open hub for anything, at the rate of relayRates. Hub.Allow keeps strangers out.
func (h *Hub) AllowConnect(from peer.ID, _ multiaddr.Multiaddr, to peer.ID) bool {
	return !h.policy.Banned(time.Now(), from) && h.policy.Together(from, to)
}

// registerAtHubs gets to know other nodes on the task from a hub, which maintainConnections dials.
func (t *topic) registerAtHubs(h *hub) {
	n, meeting := t.session.node, t.policy.NewMeeting(time.Now())
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-time.After(n.policy.Jittered(peers.ConnectPause)):
		}
		record, connected := t.recordOf(n.host.ID()), n.host.Network().Connectedness(h.ID) == network.Connected
		if !meeting.IsDue(time.Now(), connected, h.connections.Load(), record) {
			continue
		}
		err := t.registerAtHub(h, record)
		if t.ctx.Err() != nil {
			return
		}
		if err != nil {
			t.session.logger.Info("a hub does not introduce this node", "peer", h.ID, "error", err)
		}
		meeting.Ended(time.Now(), err == nil)
	}
}

// registerAtHub hands in the node's record and learns those of others.
func (t *topic) registerAtHub(h *hub, record []byte) error {
	ctx, cancel := context.WithTimeout(t.ctx, rendezvousTimeout)
	defer cancel()
	stream, err := t.session.node.host.NewStream(network.WithNoDial(ctx, "meeting at a hub"), h.ID, rendezvousProtocol)
	if err != nil {
		return err
	}
	records, err := t.exchangeRegistration(ctx, stream, record)
	if err != nil {
		_ = stream.Reset()
		return err
	}
	for _, sealed := range records {
		if err := t.learn(sealed, stream.Conn()); err != nil {
			return err
		}
	}
	return stream.Close()
}

func (t *topic) exchangeRegistration(ctx context.Context, stream network.Stream, record []byte) ([][]byte, error) {
	if deadline, ok := ctx.Deadline(); ok {
		if err := stream.SetDeadline(deadline); err != nil {
			return nil, err
		}
	}
	if err := protocol.WriteRendezvousRequest(stream, protocol.RendezvousRequest{Task: t.session.rendezvous, PeerRecord: record}); err != nil {
		return nil, err
	}
	if err := stream.CloseWrite(); err != nil {
		return nil, err
	}
	return protocol.ReadRendezvousResponse(stream)
}
