package adversary

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// fabricatedTopics subscribes to topics that no node uses, four identities at a time, as fast as
// the connections accept subscriptions. A disconnected identity returns under a new name.
func fabricatedTopics(ctx context.Context, f *Field) error {
	f.Ready()
	return f.crowd(ctx, 4, func(ctx context.Context, p *Peer, target peer.AddrInfo) {
		l, err := p.Line(ctx, target)
		for err == nil {
			topics := make([]string, 1000)
			for i := range topics {
				topics[i] = rand.Text()
			}
			if err = l.Subscribe(true, topics...); err == nil {
				f.Count("topics", len(topics))
			}
		}
	})
}

// churn joins and leaves the task a thousand times a second.
func churn(ctx context.Context, f *Field) error {
	f.Ready()
	return f.crowd(ctx, 1, func(ctx context.Context, p *Peer, target peer.AddrInfo) {
		l, err := p.Line(ctx, target)
		if err != nil {
			return
		}
		every(ctx, 10*tick, func() bool {
			for range 5 {
				if l.Subscribe(true, f.Topic()) != nil || l.Subscribe(false, f.Topic()) != nil {
					return false
				}
			}
			f.Count("comings and goings", 10)
			return true
		})
	})
}

// crowd has count identities attack each target until ctx ends. When attack returns, a new identity
// takes the place of the old one after a pause.
func (f *Field) crowd(ctx context.Context, count int, attack func(context.Context, *Peer, peer.AddrInfo)) error {
	var all sync.WaitGroup
	for i := range count {
		all.Go(func() {
			f.each(func(target peer.AddrInfo) {
				again(ctx, func() {
					p, err := f.Peer(i)
					if err != nil {
						f.Count("identities that failed", 1)
						return
					}
					defer p.Close()
					ctx, cancel := context.WithCancel(ctx)
					defer cancel()
					attack(ctx, p, target)
					f.Count("identities used up", 1)
				})
			})
		})
	}
	all.Wait()
	return nil
}
