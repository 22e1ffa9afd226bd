package adversary

import (
	"context"
	"slices"
	"sync"
	"time"

	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/protocol"
)

const tick = time.Millisecond

// maxAuthors is the maximum number of authors whose shares an agent stores.
const maxAuthors = 1024

// fabricatedAuthors is one identity that forwards shares of 1,024 fabricated authors: all at once
// in its sync responses, and by gossip at the permitted rate.
func fabricatedAuthors(ctx context.Context, f *Field) error {
	keys, err := authors(maxAuthors)
	if err != nil {
		return err
	}
	items, err := f.items(keys)
	if err != nil {
		return err
	}
	p, err := f.Peer(0)
	if err != nil {
		return err
	}
	defer p.Close()
	p.AnswerSync(func() []protocol.SyncItem {
		f.Count("answers with all of them", 1)
		time.AfterFunc(time.Second, f.Ready) // all places are taken by then
		return items
	})
	defer time.AfterFunc(5*time.Second, f.Ready).Stop() // in case no node sends a sync request
	f.each(func(target peer.AddrInfo) {
		number := uint64(1)
		again(ctx, func() {
			l, err := p.Member(ctx, target)
			if err != nil {
				return
			}
			next := 0
			every(ctx, 100*tick, func() bool {
				var batch []*pb.Message
				for range 15 {
					if next == len(keys) {
						next = 0
						number++
					}
					m, err := f.Forged(keys[next], number, 1)
					if err != nil {
						return false
					}
					batch = append(batch, m)
					next++
				}
				f.Count("shares of made-up authors", len(batch))
				return l.Publish(batch...) == nil
			})
		})
	})
	return nil
}

// largeShares answers sync requests with 1,101 shares of fabricated authors, each as large as the
// task permits. It reconnects so that the nodes send further requests.
func largeShares(ctx context.Context, f *Field) error {
	keys, err := authors(1101)
	if err != nil {
		return err
	}
	items, err := f.items(keys)
	if err != nil {
		return err
	}
	f.Ready()
	return f.crowd(ctx, 2, func(ctx context.Context, p *Peer, target peer.AddrInfo) {
		p.AnswerSync(func() []protocol.SyncItem { f.Count("answers", 1); return items })
		if _, err := p.Member(ctx, target); err != nil {
			return
		}
		stay(ctx, p, target, 4*time.Second)
	})
}

// LetIn is the name of a count of washedBan: how often a node kept a connection of an identity that
// it should have banned.
const LetIn = "times let in"

// washedBan gets one identity banned. Then others accuse fabricated authors of equivocation, so
// that the node's list of bans may overflow and drop the first identity.
func washedBan(ctx context.Context, f *Field) error {
	const each, batches = 500, 9 // a new peer may forward 500 pairs at once; nine batches accuse 4,500 authors
	var accusations [][]*pb.Message
	for range batches {
		batch, err := f.accusations(each)
		if err != nil {
			return err
		}
		accusations = append(accusations, batch)
	}
	first, err := f.Peer(0)
	if err != nil {
		return err
	}
	defer first.Close()
	f.Ready()
	var both sync.WaitGroup
	defer both.Wait()
	both.Go(func() {
		f.each(func(target peer.AddrInfo) {
			again(ctx, func() { f.misbehave(ctx, first, target) })
		})
	})
	f.each(func(target peer.AddrInfo) {
		turn := 0
		again(ctx, func() {
			turn++
			p, err := f.Peer(turn)
			if err != nil {
				return
			}
			defer p.Close()
			l, err := p.Member(ctx, target)
			if err != nil {
				return
			}
			for packet := range slices.Chunk(accusations[turn%batches], maxAtOnce) {
				if l.Publish(packet...) != nil {
					return
				}
				f.Count("authors accused", len(packet)/2)
			}
			stay(ctx, p, target, time.Second/2) // so that the node reads the messages
		})
	})
	return nil
}

// misbehave waits until the peer is admitted, and then commits violations until it is banned.
func (f *Field) misbehave(ctx context.Context, p *Peer, target peer.AddrInfo) {
	l, err := p.Member(ctx, target)
	if err != nil {
		return
	}
	stay(ctx, p, target, time.Second)
	if !p.connected(target) || ctx.Err() != nil {
		return
	}
	f.Count(LetIn, 1)
	for n := range uint64(6) {
		m, err := f.Message(p.Key, n, []byte("no share"))
		if err != nil || l.Publish(m) != nil {
			return
		}
	}
	stay(ctx, p, target, 5*time.Second)
}

// accusations returns pairs of contradicting shares of count fabricated authors. The shares of each
// pair have the same stamp.
func (f *Field) accusations(count int) (messages []*pb.Message, err error) {
	keys, err := authors(count)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		for voice := range 2 {
			payload, err := f.Weights(float64(1 + voice))
			if err != nil {
				return nil, err
			}
			envelope, err := f.Share(key, protocol.WeightsKind, 1, payload)
			if err != nil {
				return nil, err
			}
			m, err := f.Message(key, uint64(voice), envelope)
			if err != nil {
				return nil, err
			}
			messages = append(messages, m)
		}
	}
	return messages, nil
}

// stay waits until the connection to the target has ended, at most for the duration `most`.
func stay(ctx context.Context, p *Peer, target peer.AddrInfo, most time.Duration) {
	end := time.Now().Add(most)
	every(ctx, 100*tick, func() bool {
		return time.Now().Before(end) && len(p.Host.Network().ConnsToPeer(target.ID)) > 0
	})
}
