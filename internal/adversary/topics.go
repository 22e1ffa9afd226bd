package adversary

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
)

// fabricatedTopics subscribes to topics that no node uses. Four identities at a time do so as fast
// as their connections accept subscriptions. A disconnected identity is replaced by a new one.
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

// churn joins and leaves the task's topic a thousand times per second.
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

// crowd attacks each target with count identities until ctx ends. When attack returns, a new
// identity replaces the old one after a pause.
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
