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

// serveRendezvous registers the asking node and answers with others on its task.
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

// reportViolation records a violation of a node, and closes its connections when it is banned.
func (s *Server) reportViolation(id peer.ID, weight int, why error) {
	access.Report(s.policy, s.host.Network(), s.log, id, weight, why)
}

// isOwnRecord checks that a record is of the node that sends it: others could introduce nodes that
// have left, with old records.
func isOwnRecord(sealed []byte, id peer.ID) error {
	record, err := protocol.OpenRecord(sealed)
	if err == nil && record.PeerID != id {
		err = fmt.Errorf("%w: a record of %v", protocol.ErrMalformed, record.PeerID)
	}
	return err
}

// AllowReserve implements relay.ACLFilter. A peer that loses its slot to another is disconnected,
// so that libp2p's relay service frees it.
func (s *Server) AllowReserve(id peer.ID, from multiaddr.Multiaddr) bool {
	loses, ok := s.policy.Reserve(time.Now(), id, from)
	if loses != "" {
		s.log.Info("a node loses its place to one of another range of addresses", "peer", loses, "to", id)
		_ = s.host.Network().ClosePeer(loses) // the connection is gone in any case
	}
	return ok
}

// AllowConnect implements relay.ACLFilter: a hub relays between hosts that have registered for the
// same task. It does not see what they exchange: two hosts that register for a fabricated task can
// use an open hub for anything, at the rate of relayRates. Hub.Allow keeps strangers out.
func (s *Server) AllowConnect(from peer.ID, _ multiaddr.Multiaddr, to peer.ID) bool {
	return !s.policy.Banned(time.Now(), from) && s.policy.Together(from, to)
}

// Register hands in the record of a node on a task to a hub that is connected, and calls learn for each
// record of another node in the answer. With an invitation the task is the meeting point that the
// invitation names.
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
