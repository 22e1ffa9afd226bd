package adversary

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/fbo-node/fbo/protocol"
)

// surround surrounds every node with sixty identities, each at the next address, which stay
// connected. They join the gossip topic and forward nothing. They answer sync requests only with
// records of each other.
func surround(ctx context.Context, f *Field) error {
	const count = 60
	var peers []*Peer
	defer func() {
		for _, p := range peers {
			p.Close()
		}
	}()
	var records [][]byte
	for i := range count {
		p, err := f.Peer(i)
		if err != nil {
			return err
		}
		peers = append(peers, p)
		record, err := p.Record()
		if err != nil {
			return err
		}
		records = append(records, record)
	}
	for i, p := range peers {
		some := introductions(records, i)
		p.AnswerSync(func() []protocol.SyncItem { return some })
	}
	var all sync.WaitGroup
	defer all.Wait()
	var settled sync.WaitGroup
	for _, p := range peers {
		for k, target := range f.Targets {
			if k == 0 {
				settled.Add(1)
			}
			done := sync.OnceFunc(func() {
				if k == 0 {
					settled.Done()
				}
			})
			all.Go(func() {
				defer done()
				every(ctx, 100*tick, func() bool { // short, so that they connect before other peers do
					if _, err := p.Member(ctx, target); err == nil {
						f.Count("memberships", 1)
						done()
						stay(ctx, p, target, time.Hour)
					}
					return true
				})
			})
		}
	}
	all.Go(func() { // some may never be admitted, so this does not wait for all
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
			f.Ready()
		}
	})
	go func() { settled.Wait(); f.Ready() }()
	<-ctx.Done()
	return nil
}

// introductions returns the records of other identities, as many as fit into a response.
func introductions(records [][]byte, but int) (items []protocol.SyncItem) {
	for k := range min(protocol.MaxRecords, len(records)-1) {
		items = append(items, protocol.SyncItem{PeerRecord: records[(but+1+k)%len(records)]})
	}
	return items
}

// foreignAddresses is one identity that introduces fabricated members, all at the address of an
// uninvolved third party. A listener at the attacker's last address represents the third party: it
// counts connections and closes each one immediately.
func foreignAddresses(ctx context.Context, f *Field) error {
	third, err := net.Listen("tcp4", f.Address(len(f.addresses)-1)+":0")
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { third.Close() })()
	var counting sync.WaitGroup
	defer counting.Wait()
	counting.Go(func() {
		for {
			c, err := third.Accept()
			if err != nil {
				return
			}
			f.Count(ThirdParty, 1)
			_ = c.Close()
		}
	})
	address, err := multiaddr.NewMultiaddr(fmt.Sprintf("/ip4/%s/tcp/%d", f.Address(len(f.addresses)-1), third.Addr().(*net.TCPAddr).Port))
	if err != nil {
		return err
	}
	p, err := f.Peer(0)
	if err != nil {
		return err
	}
	defer p.Close()
	p.AnswerSync(func() (items []protocol.SyncItem) {
		for _, sealed := range recordsAt(address) {
			items = append(items, protocol.SyncItem{PeerRecord: sealed})
		}
		return items
	})
	f.Ready()
	f.each(func(target peer.AddrInfo) {
		again(ctx, func() {
			if _, err := p.Member(ctx, target); err != nil {
				return
			}
			every(ctx, time.Second, func() bool { // the permitted rate of requests by one peer
				s, err := p.Open(ctx, target, f.SyncProtocol())
				if err != nil {
					return false
				}
				defer s.Reset()
				f.Count("records", protocol.MaxRecords)
				_ = s.SetDeadline(time.Now().Add(dialTimeout))
				if err := protocol.WriteSyncRequest(s, protocol.SyncRequest{PeerRecords: recordsAt(address)}); err != nil {
					return true
				}
				_ = s.CloseWrite()
				_ = protocol.ReadSyncItems(s, func(protocol.SyncItem) error { return nil })
				return true
			})
		})
	})
	return nil
}

// ThirdParty is the name of a count of foreignAddresses: the connections from attacked nodes to the
// uninvolved third party.
const ThirdParty = "connections to a third party"

// recordsAt returns signed records of fabricated nodes, all with the same address, as many as fit
// into a message.
func recordsAt(address multiaddr.Multiaddr) (sealed [][]byte) {
	for range protocol.MaxRecords {
		key, err := newKey()
		if err != nil {
			return sealed
		}
		id, err := peer.IDFromPrivateKey(key)
		if err != nil {
			return sealed
		}
		envelope, err := record.Seal(&peer.PeerRecord{PeerID: id, Addrs: []multiaddr.Multiaddr{address}, Seq: 1}, key)
		if err != nil {
			return sealed
		}
		if data, err := envelope.Marshal(); err == nil {
			sealed = append(sealed, data)
		}
	}
	return sealed
}

// exhaustedHub registers 520 identities for the task at the hub, before any other node registers,
// and keeps them registered. The hub is the only target.
func exhaustedHub(ctx context.Context, f *Field) error {
	return registerMany(ctx, f, func(*Peer) error { return nil })
}

// muteHub is exhaustedHub with identities that do not respond: a node that dials one gets a
// connection and no answer.
func muteHub(ctx context.Context, f *Field) error {
	return registerMany(ctx, f, func(p *Peer) error {
		addresses := p.Host.Network().ListenAddresses()
		s, ok := p.Host.Network().(*swarm.Swarm)
		if !ok {
			return fmt.Errorf("no swarm")
		}
		s.ListenClose(addresses...)
		for _, a := range addresses {
			l, err := manet.Listen(a)
			if err != nil {
				return err
			}
			context.AfterFunc(ctx, func() { _ = l.Close() })
		}
		return nil
	})
}

// registerMany registers the identities at the hub, and calls then for each one.
func registerMany(ctx context.Context, f *Field, then func(*Peer) error) error {
	const count, parallel = 520, 16
	numbers := make(chan int, count)
	for i := range count {
		numbers <- i
	}
	close(numbers)
	hub := f.Targets[0]
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for i := range numbers {
				p, err := f.Peer(i)
				if err != nil {
					f.Count("identities that failed", 1)
					continue
				}
				context.AfterFunc(ctx, p.Close)
				if err := register(ctx, f, p, hub); err != nil {
					f.Count("identities turned away", 1)
					continue
				}
				if err := then(p); err != nil {
					f.Count("identities that failed", 1)
					continue
				}
				f.Count("identities registered", 1)
			}
		})
	}
	workers.Wait()
	f.Ready()
	<-ctx.Done()
	return nil
}

func register(ctx context.Context, f *Field, p *Peer, hub peer.AddrInfo) error {
	record, err := p.Record()
	if err != nil {
		return err
	}
	s, err := p.Open(ctx, hub, "/fbo/rendezvous/1")
	if err != nil {
		return err
	}
	defer s.Reset()
	_ = s.SetDeadline(time.Now().Add(dialTimeout))
	if err := protocol.WriteRendezvousRequest(s, protocol.RendezvousRequest{Task: f.Task.ID(), PeerRecord: record}); err != nil {
		return err
	}
	if err := s.CloseWrite(); err != nil {
		return err
	}
	_, err = protocol.ReadRendezvousResponse(s)
	return err
}

// heldStreams lets fifty identities begin sync requests of one MiB and never finish them.
func heldStreams(ctx context.Context, f *Field) error { return hold(ctx, f, 16<<10) }

// filledStreams is heldStreams with requests that are complete except for their last bytes.
func filledStreams(ctx context.Context, f *Field) error { return hold(ctx, f, 1<<20-16) }

// hold lets fifty identities write the first size bytes of sync requests of one MiB.
func hold(ctx context.Context, f *Field, size int) error {
	begin := append([]byte{0x80, 0x80, 0x40, 0x0a, 0x80, 0x80, 0x3f}, make([]byte, size)...)
	f.Ready()
	return f.crowd(ctx, 50, func(ctx context.Context, p *Peer, target peer.AddrInfo) {
		every(ctx, 100*tick, func() bool {
			s, err := p.Open(ctx, target, f.SyncProtocol())
			if err != nil {
				return false
			}
			f.Count("streams", 1)
			_ = s.SetWriteDeadline(time.Now().Add(5 * time.Second))
			_, err = s.Write(begin)
			return err == nil || p.connected(target)
		})
	})
}

// fastStreams opens streams and resets them, as fast as possible.
func fastStreams(ctx context.Context, f *Field) error {
	f.Ready()
	return f.crowd(ctx, 2, func(ctx context.Context, p *Peer, target peer.AddrInfo) {
		if p.Connect(ctx, target) != nil {
			return
		}
		for ctx.Err() == nil && p.connected(target) {
			for range 100 {
				opening, cancel := context.WithTimeout(network.WithNoDial(ctx, "on this connection"), time.Second)
				s, err := p.Host.NewStream(opening, target.ID, f.SyncProtocol())
				cancel()
				if err != nil {
					break
				}
				_, _ = s.Write([]byte{0x80})
				_ = s.Reset()
				f.Count("streams", 1)
			}
		}
	})
}

func (p *Peer) connected(target peer.AddrInfo) bool {
	return len(p.Host.Network().ConnsToPeer(target.ID)) > 0
}

// random returns a random number that is at least 0 and less than below; 0 after an error.
func random(below int) int {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(below)))
	if err != nil {
		return 0
	}
	return int(n.Int64())
}
