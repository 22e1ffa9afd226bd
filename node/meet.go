package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/dials"
	"github.com/fbo-node/fbo/protocol"
)

const (
	meetProtocol = "/fbo/meet/1"
	meetTimeout  = 10 * time.Second
	meetOften    = 2 * time.Second // at most, for a node that lacks company and learns of new nodes
	meetRenewal  = 2 * time.Minute // for a node that has company enough
)

// serveMeet registers the asking node and answers with others on its task.
func (h *Hub) serveMeet(stream network.Stream) {
	if err := h.introduce(stream); err != nil {
		h.log.Info("cannot introduce a node", "peer", stream.Conn().RemotePeer(), "error", err)
		_ = stream.Reset()
		return
	}
	_ = stream.Close()
}

func (h *Hub) introduce(stream network.Stream) error {
	asking := stream.Conn().RemotePeer()
	leave, err := h.meeting.admit(stream, h.conduct, h.named.has(asking), h.blame)
	if err != nil {
		return err
	}
	defer leave()
	request, err := protocol.ReadMeetRequest(stream)
	if err == nil {
		err = ofItself(request.Record, asking)
	}
	if errors.Is(err, protocol.ErrMalformed) {
		h.blame(asking, 1, err)
	}
	if err != nil {
		return err
	}
	request.Record = h.shown(request.Record, stream.Conn())
	task, now := request.Task.KeyString(), time.Now()
	if !h.registry.register(task, asking, groupOf(h.host.Network(), asking), request.Record, now) {
		h.log.Info("a node on many tasks is not made known on another", "peer", asking, "task", request.Task)
	}
	if err := protocol.WriteMeetResponse(stream, h.registry.others(task, asking, protocol.MaxRecords, now)); err != nil {
		return err
	}
	return stream.CloseWrite()
}

// blame notes a fault of a node and breaks with it when there were too many.
func (h *Hub) blame(id peer.ID, weight int, why error) {
	banned, ranges := h.conduct.misbehaved(h.host.Network(), id, weight)
	tellBan(h.log, id, banned, ranges, why)
}

// ofItself checks that a record is that of the node that hands it in: others
// would make known, with an old record, whoever has left.
func ofItself(sealed []byte, id peer.ID) error {
	record, err := protocol.OpenRecord(sealed)
	if err == nil && record.PeerID != id {
		err = fmt.Errorf("%w: a record of %v", protocol.ErrMalformed, record.PeerID)
	}
	return err
}

// shown is the record of a node as others are told it: nil, and they are told nothing, when
// none of its addresses is where the hub sees the node, is one through the hub, or, where
// the hub is reached in a private network, is private too. Others would try somebody
// else's address.
func (h *Hub) shown(sealed []byte, c network.Conn) []byte {
	record, err := protocol.OpenRecord(sealed)
	if err != nil {
		return nil
	}
	from, seen := dials.IP(c.RemoteMultiaddr())
	private := dials.ScopeOf(c.RemoteMultiaddr()) != dials.Global
	through := circuitThrough(h.ID())
	for _, a := range record.Addrs {
		ip, ok := dials.IP(a)
		switch {
		case isCircuit(a) && strings.HasSuffix(a.String(), through.String()):
			return sealed
		case isCircuit(a):
		case ok && seen && ip == from, private && dials.ScopeOf(a) != dials.Global:
			return sealed
		}
	}
	h.log.Info("a node is not made known, since it is not at its addresses", "peer", record.PeerID, "seen", c.RemoteMultiaddr())
	return nil
}

// forgetGone ends the registrations of nodes that have disconnected.
func (h *Hub) forgetGone(n network.Network, c network.Conn) {
	if n.Connectedness(c.RemotePeer()) != network.Connected {
		h.registry.forget(c.RemotePeer())
		h.places.forget(c.RemotePeer())
	}
}

// AllowReserve implements relay.ACLFilter. Who loses a place to another is disconnected,
// with which libp2p's relay service takes it back.
func (h *Hub) AllowReserve(id peer.ID, from multiaddr.Multiaddr) bool {
	if h.conduct.isBanned(id) {
		return false
	}
	loses, ok := h.places.take(id, wideRangeOf(from).String())
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
	return !h.conduct.isBanned(from) && h.registry.together(from, to)
}

// meet gets to know other nodes on the task from a hub: at once, then ever more
// seldom, and again when the connection was lost or the node's own addresses
// have changed. Whom it has learned of, link dials.
func (t *topic) meet(h *hub) {
	n := t.session.node
	pause, next := linkPause, time.Now()
	var handedIn []byte
	connection := uint64(0)
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-time.After(jittered(linkPause)):
		}
		if n.host.Network().Connectedness(h.ID) != network.Connected {
			next = time.Now()
			continue
		}
		record, current := t.recordOf(n.host.ID()), h.connections.Load()
		moved := current != connection || !bytes.Equal(record, handedIn)
		if record == nil || !moved && time.Now().Before(next) {
			continue
		}
		if moved {
			pause = linkPause
		}
		before, _ := t.members.count()
		err := t.askHub(h, record)
		if t.ctx.Err() != nil {
			return
		}
		if err != nil {
			t.session.logger.Info("a hub does not introduce this node", "peer", h.ID, "error", err)
		}
		handedIn, connection = record, current
		next = time.Now().Add(jittered(pause))
		pause = min(2*pause, longPause)
		if after, _ := t.members.count(); after > before {
			pause = min(pause, meetOften) // there may be more
		}
		if err == nil && t.standing.saying(time.Now()) >= enoughPeers {
			next = time.Now().Add(jittered(meetRenewal))
		}
	}
}

// askHub hands in the node's record and learns those of others.
func (t *topic) askHub(h *hub, record []byte) error {
	ctx, cancel := context.WithTimeout(t.ctx, meetTimeout)
	defer cancel()
	stream, err := t.session.node.host.NewStream(network.WithNoDial(ctx, "meeting at a hub"), h.ID, meetProtocol)
	if err != nil {
		return err
	}
	records, err := t.converse(ctx, stream, record)
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

func (t *topic) converse(ctx context.Context, stream network.Stream, record []byte) ([][]byte, error) {
	if deadline, ok := ctx.Deadline(); ok {
		if err := stream.SetDeadline(deadline); err != nil {
			return nil, err
		}
	}
	if err := protocol.WriteMeetRequest(stream, protocol.MeetRequest{Task: t.session.meeting, Record: record}); err != nil {
		return nil, err
	}
	if err := stream.CloseWrite(); err != nil {
		return nil, err
	}
	return protocol.ReadMeetResponse(stream)
}
