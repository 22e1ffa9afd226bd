package gossip

import (
	"bytes"
	"encoding/binary"
	"testing"

	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/node/internal/peers"
)

// writtenStream keeps what is written to it.
type writtenStream struct {
	network.Stream
	data []byte
}

func (s *writtenStream) Write(data []byte) (int, error) {
	s.data = append(s.data, data...)
	return len(data), nil
}

// A peer receives messages and message IDs of a topic with an invitation only after it has proven
// it. Subscriptions, control messages and other topics pass.
func TestStreamsCarryNothingOfAClosedTopic(t *testing.T) {
	const closed, open = "/fbo/task/1/closed", "/fbo/task/1/open"
	policy := access.NewPolicy(peers.Config{})
	policy.RequireInvitation(closed)
	policy.JoinTopic(closed)
	policy.JoinTopic(open)
	message := func(topics ...string) *pb.RPC {
		rpc := &pb.RPC{Control: &pb.ControlMessage{}}
		for _, topic := range topics {
			rpc.Publish = append(rpc.Publish, &pb.Message{Topic: &topic, Data: []byte("share")})
			rpc.Control.Ihave = append(rpc.Control.Ihave, &pb.ControlIHave{TopicID: &topic, MessageIDs: []string{"id"}})
		}
		return rpc
	}
	both := message(closed, open)
	both.Subscriptions = []*pb.RPC_SubOpts{{Topicid: proto.String(closed), Subscribe: proto.Bool(true)}}
	left := message(open)
	left.Subscriptions = both.Subscriptions
	const unadmitted, admitted = peer.ID("outside"), peer.ID("inside")
	policy.Admit(admitted, closed)
	for _, c := range []struct {
		to        peer.ID
		rpc, want *pb.RPC
	}{
		{unadmitted, both, left}, {unadmitted, message(closed), nil}, {unadmitted, message(open), message(open)},
		{admitted, both, both}, {admitted, message(closed), message(closed)},
	} {
		data, err := proto.MarshalOptions{}.MarshalAppend(binary.AppendUvarint(nil, uint64(proto.Size(c.rpc))), c.rpc)
		if err != nil {
			t.Fatal(err)
		}
		var s writtenStream
		if n, err := (&exitStream{Stream: &s, id: c.to, policy: policy}).Write(data); n != len(data) || err != nil {
			t.Errorf("wrote %d of %d bytes, %v", n, len(data), err)
		}
		if c.want == nil {
			if len(s.data) > 0 {
				t.Errorf("%s receives %d bytes, expected none", c.to, len(s.data))
			}
			continue
		}
		var got pb.RPC
		size, n := binary.Uvarint(s.data)
		if err := proto.Unmarshal(s.data[max(n, 0):], &got); err != nil || int(size) != len(s.data)-n || !proto.Equal(&got, c.want) {
			t.Errorf("%s receives %v, %v; expected %v", c.to, &got, err, c.want)
		}
	}
	var s writtenStream
	if _, err := (&exitStream{Stream: &s, id: unadmitted, policy: policy}).Write(bytes.Repeat([]byte{0xff}, 20)); err != nil || len(s.data) > 0 {
		t.Errorf("an unreadable message: %v, %d bytes; expected none", err, len(s.data))
	}
}
