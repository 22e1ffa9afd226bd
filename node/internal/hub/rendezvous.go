package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/protocol"
)

const (
	rendezvousProtocol = "/fbo/rendezvous/1"
	rendezvousTimeout  = 10 * time.Second
)

// serveRendezvous registers the node that opened the stream, and sends it records of other nodes on
// its task.
func (s *Server) serveRendezvous(stream network.Stream) {
	if err := s.introduce(stream); err != nil {
		s.log.Info("cannot introduce a node", "peer", stream.Conn().RemotePeer(), "error", err)
		_ = stream.Reset()
		return
	}
	_ = stream.Close()
}

func (s *Server) introduce(stream network.Stream) error {
	asking := stream.Conn().RemotePeer()
	leave, err := s.rendezvous.Admit(stream, s.policy, s.reportViolation)
	if err != nil {
		return err
	}
	defer leave()
	request, err := protocol.ReadRendezvousRequest(stream)
	if err == nil {
		err = isOwnRecord(request.PeerRecord, asking)
	}
	if errors.Is(err, protocol.ErrMalformed) {
		s.reportViolation(asking, 1, err)
	}
	if err != nil {
		return err
	}
	task, now, seen := request.Task.KeyString(), time.Now(), stream.Conn().RemoteMultiaddr()
	registration := s.policy.Register(now, task, asking, seen, request.PeerRecord)
	if registration.Hidden {
		s.log.Info("a node is not made known, since it is not at its addresses", "peer", asking, "seen", seen)
	}
	if registration.Refused {
		s.log.Info("a node on many tasks is not made known on another", "peer", asking, "task", request.Task)
	}
	if err := protocol.WriteRendezvousResponse(stream, s.policy.Introduce(now, task, asking, protocol.MaxRecords)); err != nil {
		return err
	}
	return stream.CloseWrite()
}

// reportViolation records a violation of a node. If this bans the node, its connections are closed.
func (s *Server) reportViolation(id peer.ID, weight int, why error) {
	access.Report(s.policy, s.host.Network(), s.log, id, weight, why)
}

// isOwnRecord returns an error unless a record is that of the node that sends it. Otherwise peers
// could introduce absent nodes with old records.
func isOwnRecord(sealed []byte, id peer.ID) error {
	record, err := protocol.OpenRecord(sealed)
	if err == nil && record.PeerID != id {
		err = fmt.Errorf("%w: a record of %v", protocol.ErrMalformed, record.PeerID)
	}
	return err
}

// AllowReserve implements relay.ACLFilter. If another node loses its reservation to the new one, it
// is disconnected, because only then libp2p's relay service frees the reservation.
func (s *Server) AllowReserve(id peer.ID, from multiaddr.Multiaddr) bool {
	loses, ok := s.policy.Reserve(time.Now(), id, from)
	if loses != "" {
		s.log.Info("a node loses its place to one of another range of addresses", "peer", loses, "to", id)
		_ = s.host.Network().ClosePeer(loses) // an error means that the connection has already ended
	}
	return ok
}

// AllowConnect implements relay.ACLFilter. A hub relays between two hosts that have registered for
// the same task. It cannot see the content: two hosts that register for a fabricated task can use
// an open hub for any data, at the rate of relayRates. Hub.Allow prevents this.
func (s *Server) AllowConnect(from peer.ID, _ multiaddr.Multiaddr, to peer.ID) bool {
	return !s.policy.Banned(time.Now(), from) && s.policy.Together(from, to)
}

// Register sends a node's registration for a task to a connected hub, and calls learn for each
// record of another node in the response. For a task with an invitation, the request has the
// meeting point that the invitation defines in place of the task's ID.
func Register(ctx context.Context, from host.Host, at peer.ID, request protocol.RendezvousRequest, learn func(record []byte, by network.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, rendezvousTimeout)
	defer cancel()
	stream, err := from.NewStream(network.WithNoDial(ctx, "meeting at a hub"), at, rendezvousProtocol)
	if err != nil {
		return err
	}
	records, err := exchangeRegistration(ctx, stream, request)
	if err != nil {
		_ = stream.Reset()
		return err
	}
	for _, sealed := range records {
		if err := learn(sealed, stream.Conn()); err != nil {
			return err
		}
	}
	return stream.Close()
}

func exchangeRegistration(ctx context.Context, stream network.Stream, request protocol.RendezvousRequest) ([][]byte, error) {
	if deadline, ok := ctx.Deadline(); ok {
		if err := stream.SetDeadline(deadline); err != nil {
			return nil, err
		}
	}
	if err := protocol.WriteRendezvousRequest(stream, request); err != nil {
		return nil, err
	}
	if err := stream.CloseWrite(); err != nil {
		return nil, err
	}
	return protocol.ReadRendezvousResponse(stream)
}
