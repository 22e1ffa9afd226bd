package adversary

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/protocol"
)

// Topic returns the name of the task's topic for nodes without an invitation.
func (f *Field) Topic() string { return "/fbo/task/1/" + f.Task.ID().String() }

// Line is a gossip stream to one node. Its messages are written without gossipsub and without any
// checks.
type Line struct {
	mu     sync.Mutex
	stream network.Stream
}

// Line connects the peer to a target and opens a gossip stream. It sends nothing on the stream.
func (p *Peer) Line(ctx context.Context, target peer.AddrInfo) (*Line, error) {
	s, err := p.Open(ctx, target, pubsub.GossipSubID_v11)
	if err != nil {
		return nil, err
	}
	return &Line{stream: s}, nil
}

// Member is Line, followed by a subscription to the task's topic.
func (p *Peer) Member(ctx context.Context, target peer.AddrInfo) (*Line, error) {
	l, err := p.Line(ctx, target)
	if err != nil {
		return nil, err
	}
	return l, l.Subscribe(true, p.field.Topic())
}

// Send writes one gossip RPC. It may be called concurrently.
func (l *Line) Send(rpc *pb.RPC) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.stream.SetWriteDeadline(time.Now().Add(dialTimeout))
	_, err := protodelim.MarshalTo(l.stream, rpc)
	return err
}

// maxAtOnce is a number of small messages that nodes still accept in one RPC. An RPC of more than
// 260 KiB would end the stream.
const maxAtOnce = 100

// Publish sends messages in one RPC.
func (l *Line) Publish(messages ...*pb.Message) error { return l.Send(&pb.RPC{Publish: messages}) }

// Subscribe announces that the peer joins topics or, if comes is false, leaves them.
func (l *Line) Subscribe(comes bool, topics ...string) error {
	rpc := &pb.RPC{}
	for _, topic := range topics {
		rpc.Subscriptions = append(rpc.Subscriptions, &pb.RPC_SubOpts{Topicid: &topic, Subscribe: &comes})
	}
	return l.Send(rpc)
}

// Message returns a gossip message with the given data and the author's signature. The number
// distinguishes messages of the same author.
func (f *Field) Message(author crypto.PrivKey, number uint64, data []byte) (*pb.Message, error) {
	id, err := peer.IDFromPrivateKey(author)
	if err != nil {
		return nil, err
	}
	topic := f.Topic()
	m := &pb.Message{From: []byte(id), Data: data, Seqno: binary.BigEndian.AppendUint64(nil, number), Topic: &topic}
	unsigned, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	m.Signature, err = author.Sign(append([]byte(pubsub.SignPrefix), unsigned...))
	return m, err
}

// Share returns the envelope of a valid share of the author.
func (f *Field) Share(author crypto.PrivKey, kind string, number uint64, payload []byte) ([]byte, error) {
	sealed, err := protocol.Seal(protocol.Share{
		Task: f.Task.ID(), Key: protocol.Key{Kind: kind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: number},
		TTL: time.Hour, Payload: payload,
	}, author)
	return sealed.Envelope, err
}

// Weights returns a valid payload with weights for the task, of which the first is given and the
// others are zero.
func (f *Field) Weights(first float64) ([]byte, error) {
	values := make([]float64, f.Task.Surrogate.Features)
	values[0] = first
	return protocol.Weights{Observations: 5, Values: values}.Encode()
}

// Forged returns a well-formed gossip message with a weights share of the author.
func (f *Field) Forged(author crypto.PrivKey, number uint64, first float64) (*pb.Message, error) {
	payload, err := f.Weights(first)
	if err != nil {
		return nil, err
	}
	envelope, err := f.Share(author, protocol.WeightsKind, number, payload)
	if err != nil {
		return nil, err
	}
	return f.Message(author, number, envelope)
}

// authors returns keys for the given number of fabricated authors.
func authors(count int) ([]crypto.PrivKey, error) {
	keys := make([]crypto.PrivKey, count)
	for i := range keys {
		key, err := newKey()
		if err != nil {
			return nil, err
		}
		keys[i] = key
	}
	return keys, nil
}

// items returns shares of fabricated authors as items of a sync response.
func (f *Field) items(keys []crypto.PrivKey) ([]protocol.SyncItem, error) {
	payload, err := f.Weights(1)
	if err != nil {
		return nil, err
	}
	var items []protocol.SyncItem
	for _, key := range keys {
		envelope, err := f.Share(key, protocol.WeightsKind, 1, payload)
		if err != nil {
			return nil, err
		}
		items = append(items, protocol.SyncItem{Envelope: envelope})
	}
	return items, nil
}
