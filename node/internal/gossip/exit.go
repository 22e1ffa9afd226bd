package gossip

import (
	"context"
	"encoding/binary"
	"slices"

	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	libp2pprotocol "github.com/libp2p/go-libp2p/core/protocol"
	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/node/internal/peers"
)

// exitHost is the host that gossipsub gets. Its streams drop messages and message IDs of a topic
// for peers that have not proven the topic's invitation.
//
// The peer score of admissionOptions is not sufficient for this. Gossipsub gives a peer the score 0
// until its outgoing stream is open, and queues messages for the peer from the moment it connects.
type exitHost struct {
	host.Host
	policy *peers.Policy
}

// NewStream implements host.Host.
func (h exitHost) NewStream(ctx context.Context, id peer.ID, protocols ...libp2pprotocol.ID) (network.Stream, error) {
	s, err := h.Host.NewStream(ctx, id, protocols...)
	if err != nil {
		return nil, err
	}
	return &exitStream{Stream: s, id: id, policy: h.policy}, nil
}

// exitStream removes the messages that its peer may not receive from the RPCs of gossipsub.
// Gossipsub writes each RPC, with its length before it, in one call of Write.
type exitStream struct {
	network.Stream
	id     peer.ID
	policy *peers.Policy
}

// Write implements network.Stream.
func (s *exitStream) Write(data []byte) (int, error) {
	if s.policy.AdmittedToAll(s.id) {
		return s.Stream.Write(data)
	}
	_, n := binary.Uvarint(data)
	var rpc pb.RPC
	if n <= 0 || proto.Unmarshal(data[n:], &rpc) != nil {
		return len(data), nil // unreadable data could contain such messages, so it is dropped
	}
	size := proto.Size(&rpc)
	s.strip(&rpc)
	switch left := proto.Size(&rpc); left {
	case size:
		return s.Stream.Write(data)
	case 0:
		return len(data), nil
	default:
		out, err := proto.MarshalOptions{}.MarshalAppend(binary.AppendUvarint(nil, uint64(left)), &rpc)
		if err != nil {
			return 0, err
		}
		if _, err := s.Stream.Write(out); err != nil {
			return 0, err
		}
		return len(data), nil
	}
}

func (s *exitStream) strip(rpc *pb.RPC) {
	rpc.Publish = slices.DeleteFunc(rpc.Publish, func(m *pb.Message) bool { return !s.policy.Admitted(s.id, m.GetTopic()) })
	if c := rpc.Control; c != nil {
		c.Ihave = slices.DeleteFunc(c.Ihave, func(i *pb.ControlIHave) bool { return !s.policy.Admitted(s.id, i.GetTopicID()) })
		if proto.Size(c) == 0 {
			rpc.Control = nil
		}
	}
}
