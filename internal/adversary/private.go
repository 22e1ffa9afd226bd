package adversary

import (
	"context"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/protocol"
)

// dribble lets eight non-members begin four direct messages each to every node and never finish
// them. Together these are as many as a node accepts at the same time.
func dribble(ctx context.Context, f *Field) error {
	const identities, streams = 8, 4
	f.Ready()
	return f.crowd(ctx, identities, func(ctx context.Context, p *Peer, target peer.AddrInfo) {
		var all sync.WaitGroup
		for range streams {
			all.Go(func() {
				every(ctx, 400*tick, func() bool {
					f.dribbleOnce(ctx, p, target)
					return p.connected(target)
				})
			})
		}
		all.Wait()
	})
}

// dribbleOnce begins one direct message, and returns when the node has ended the stream.
func (f *Field) dribbleOnce(ctx context.Context, p *Peer, target peer.AddrInfo) {
	s, err := p.Open(ctx, target, f.DirectProtocol())
	if err != nil {
		return
	}
	defer s.Reset()
	f.Count("streams", 1)
	begin := append([]byte{byte(len(protocol.AggregateKind))}, protocol.AggregateKind...)
	if _, err := s.Write(append(begin, 0x80, 0x80, 0x04)); err != nil { // announces 64 KiB
		return
	}
	every(ctx, 200*tick, func() bool {
		_, err := s.Write([]byte{0})
		return err == nil
	})
}

// ghosts is ten identities that send presence messages and nothing else.
func ghosts(ctx context.Context, f *Field) error {
	payload, err := protocol.Presence{Members: protocol.MembersOf(nil)}.Encode()
	if err != nil {
		return err
	}
	f.Ready()
	var all sync.WaitGroup
	for i := range 10 {
		p, err := f.Peer(i)
		if err != nil {
			return err
		}
		defer p.Close()
		for _, target := range f.Targets {
			all.Go(func() {
				number := uint64(0)
				again(ctx, func() {
					l, err := p.Member(ctx, target)
					if err != nil {
						return
					}
					every(ctx, 5*time.Second, func() bool {
						number++
						envelope, err := f.Share(p.Key, presence.Kind, number, payload)
						if err != nil {
							return false
						}
						m, err := f.Message(p.Key, number, envelope)
						if err != nil {
							return false
						}
						f.Count("signs of life", 1)
						return l.Publish(m) == nil
					})
				})
			})
		}
	}
	all.Wait()
	return nil
}
