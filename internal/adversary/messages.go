package adversary

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/protocol"
)

// extremeMean sends valid shares that claim that the objective is 1e100 far from observations.
func extremeMean(ctx context.Context, f *Field) error {
	features := f.Task.Surrogate.Features
	values, known := make([]float64, features), make([]float64, features)
	for i := range values {
		values[i] = protocol.MaxWeight
	}
	lengthscales := make([]float64, len(f.Task.Space.Parameters()))
	for i := range lengthscales {
		lengthscales[i] = 0.3
	}
	payload, err := protocol.Mean{
		Observations: 1000, Explained: 1, Level: protocol.MaxUnit, Scale: protocol.MaxUnit, Lengthscales: lengthscales, Values: values, ExplainedWeights: known,
	}.Encode()
	if err != nil {
		return err
	}
	p, err := f.Peer(0)
	if err != nil {
		return err
	}
	defer p.Close()
	f.Ready()
	f.each(func(target peer.AddrInfo) {
		number := uint64(0)
		again(ctx, func() {
			l, err := p.Member(ctx, target)
			if err != nil {
				return
			}
			every(ctx, time.Second, func() bool {
				number++
				envelope, err := f.Share(p.Key, protocol.MeanKind, number, payload)
				if err != nil {
					return false
				}
				m, err := f.Message(p.Key, number, envelope)
				if err != nil {
					return false
				}
				f.Count("means", 1)
				return l.Publish(m) == nil
			})
		})
	})
	return nil
}

// shadow sends more valid messages than a peer may, and immediately forwards the messages of honest
// nodes. A node that drops its copies for exceeding the rate, and nevertheless marks them as seen,
// would miss the honest shares.
func shadow(ctx context.Context, f *Field) error {
	p, err := f.Peer(0)
	if err != nil {
		return err
	}
	defer p.Close()
	var lines [8]atomic.Pointer[Line]
	keys, err := authors(64)
	if err != nil {
		return err
	}
	own := map[string]bool{}
	for _, key := range keys {
		id, err := peer.IDFromPrivateKey(key)
		if err != nil {
			return err
		}
		own[string(id)] = true
	}
	p.Received = func(m *pb.Message) {
		if own[string(m.From)] {
			return
		}
		for i := range min(len(f.Targets), len(lines)) {
			if l := lines[i].Load(); l != nil && l.Publish(m) == nil {
				f.Count("copies", 1)
			}
		}
	}
	f.Ready()
	var talking sync.WaitGroup
	defer talking.Wait()
	talking.Go(func() { f.talk(ctx, keys, lines[:]) })
	var started atomic.Int32
	f.each(func(target peer.AddrInfo) {
		i := int(started.Add(1)) - 1
		if i >= len(lines) {
			return
		}
		again(ctx, func() {
			l, err := p.Member(ctx, target)
			if err != nil {
				return
			}
			lines[i].Store(l)
			stay(ctx, p, target, time.Hour)
		})
	})
	return nil
}

// talk sends the same valid messages of fabricated authors on all lines. It first sends as many as
// a peer may forward at once, and then continues at twice the permitted rate.
func (f *Field) talk(ctx context.Context, keys []crypto.PrivKey, lines []atomic.Pointer[Line]) {
	number, count := uint64(0), 1000
	every(ctx, 100*tick, func() bool {
		var batch []*pb.Message
		for range count {
			number++
			m, err := f.Forged(keys[number%uint64(len(keys))], number, 1)
			if err != nil {
				return false
			}
			batch = append(batch, m)
		}
		for i := range lines {
			l := lines[i].Load()
			if l == nil {
				continue
			}
			for packet := range slices.Chunk(batch, maxAtOnce) {
				if l.Publish(packet...) == nil {
					f.Count("messages", len(packet))
					count = 40
				}
			}
		}
		return true
	})
}

// badMessages sends 10,000 invalid messages per second to all nodes together. They are garbage,
// honest messages with changed bytes, messages with wrong signatures, and repeated honest messages.
// Sometimes it announces a length without sending the bytes.
func badMessages(ctx context.Context, f *Field) error {
	const rate, pause = 10_000, 50 * time.Millisecond
	batch := rate * int(pause/time.Millisecond) / 1000 / max(1, len(f.Targets))
	f.Ready()
	return f.crowd(ctx, 1, func(ctx context.Context, p *Peer, target peer.AddrInfo) {
		var honest atomic.Pointer[pb.Message]
		p.Received = func(m *pb.Message) { honest.Store(m) }
		garbage, err := f.Message(p.Key, 1, bytes.Repeat([]byte{0xff}, 200))
		if err != nil {
			return
		}
		l, err := p.Member(ctx, target)
		if err != nil {
			return
		}
		number := uint64(1)
		every(ctx, pause, func() bool {
			var messages []*pb.Message
			for range batch {
				number++
				m := proto.CloneOf(garbage)
				if received := honest.Load(); received != nil && number%2 == 0 {
					m = proto.CloneOf(received)
				}
				switch number % 8 {
				case 0, 1: // the author has not signed this sequence number
					m.Seqno = binary.BigEndian.AppendUint64(nil, number)
				case 2, 3: // the author has not signed this text
					m.Data[random(len(m.Data))] ^= 1
					m.Seqno = binary.BigEndian.AppendUint64(nil, number)
				case 4:
					m.Signature = nil
					m.Seqno = binary.BigEndian.AppendUint64(nil, number)
				case 5:
					if signed, err := f.Message(p.Key, number, garbage.Data); err == nil {
						m = signed
					}
				}
				messages = append(messages, m)
			}
			if number%7 == 0 {
				if s, err := p.Open(ctx, target, pubsub.GossipSubID_v11); err == nil {
					_, _ = s.Write([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
				}
			}
			f.Count("messages", len(messages))
			return l.Publish(messages...) == nil
		})
	})
}
