package node_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	libp2pprotocol "github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/record"
	"github.com/libp2p/go-libp2p/x/simlibp2p"
	"github.com/marcopolo/simnet"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/protocol"
)

// bystander is an address at which nobody answers, and how many QUIC connections others
// have begun there.
type bystander struct {
	address multiaddr.Multiaddr

	mu    sync.Mutex
	dials map[string]bool
}

func (f *fleet) bystander(ip string) (b *bystander, stop func()) {
	b = &bystander{address: multiaddr.StringCast("/ip4/" + ip + "/udp/8000/quic-v1"), dials: map[string]bool{}}
	link := simnet.LinkSettings{BitsPerSecond: 20 * simlibp2p.OneMbps}
	socket := f.net.NewEndpoint(&net.UDPAddr{IP: net.ParseIP(ip), Port: 8000}, simnet.NodeBiDiLinkSettings{Downlink: link, Uplink: link})
	go func() {
		for packet := make([]byte, 2048); ; {
			size, from, err := socket.ReadFrom(packet)
			if err != nil {
				return
			}
			b.note(packet[:size], from)
		}
	}()
	return b, func() { socket.Close() }
}

// note takes down the destination connection ID of a packet with a long header (RFC 9000,
// 17.2), which the one who begins a connection makes up.
func (b *bystander) note(packet []byte, from net.Addr) {
	if len(packet) < 6 || packet[0]&0x80 == 0 || len(packet) < 6+int(packet[5]) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dials[fmt.Sprint(from, packet[6:6+packet[5]])] = true
}

func (b *bystander) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.dials)
}

// recordsAt are records of so many made-up nodes that say they are at an address.
func recordsAt(t *testing.T, count int, address multiaddr.Multiaddr) (sealed [][]byte) {
	t.Helper()
	for range count {
		key, _, err := crypto.GenerateEd25519Key(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		id, err := peer.IDFromPrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		r := peer.PeerRecordFromAddrInfo(peer.AddrInfo{ID: id, Addrs: []multiaddr.Multiaddr{address}})
		envelope, err := record.Seal(r, key)
		if err != nil {
			t.Fatal(err)
		}
		data, err := envelope.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		sealed = append(sealed, data)
	}
	return sealed
}

// outsider is a host at which no node runs.
func (f *fleet) outsider(address string) host.Host {
	f.t.Helper()
	h, err := libp2p.New(append(f.onNetwork(), libp2p.ListenAddrStrings(address), libp2p.ResourceManager(&network.NullResourceManager{}))...)
	if err != nil {
		f.t.Fatal(err)
	}
	return h
}

// converse tells a node of records and returns those of others that it tells.
func (f *fleet) converse(h host.Host, n *simulated, records [][]byte) (sentTo []*peer.PeerRecord) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.Connect(ctx, peer.AddrInfo{ID: n.host.ID(), Addrs: n.host.Addrs()}); err != nil {
		f.t.Fatal(err)
	}
	s, err := h.NewStream(network.WithNoDial(ctx, "test"), n.host.ID(), libp2pprotocol.ID("/fbo/sync/1/"+f.task.ID().String()))
	if err != nil {
		f.t.Fatal(err)
	}
	defer s.Close()
	if err := protocol.WriteSyncRequest(s, protocol.SyncRequest{PeerRecords: records}); err != nil {
		f.t.Fatal(err)
	}
	_ = s.CloseWrite()
	if err := protocol.ReadSyncItems(s, func(item protocol.SyncItem) error {
		if item.PeerRecord == nil {
			return nil
		}
		r, err := protocol.OpenRecord(item.PeerRecord)
		sentTo = append(sentTo, r)
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	return sentTo
}

// One identity tells three nodes of hundreds that are said to be at one address, and of
// others that are said to be in private networks.
func TestNobodyMakesNodesAttackAThirdParty(t *testing.T) {
	inSimulation(t, func(t *testing.T, f *fleet) {
		target, stop := f.bystander("13.0.0.1")
		defer stop()
		private, stopPrivate := f.bystander("10.0.0.1")
		defer stopPrivate()
		first := f.honest(nil)
		for range 2 {
			f.honest(nil, first.node.Addresses()[0])
		}
		time.Sleep(5 * time.Second)
		liar := f.outsider("/ip4/12.0.0.1/udp/8000/quic-v1")
		defer liar.Close()
		for begun := time.Now(); time.Since(begun) < 30*time.Second; time.Sleep(3 * time.Second) {
			records := append(recordsAt(t, 24, target.address), recordsAt(t, 8, private.address)...)
			for _, n := range f.nodes {
				f.converse(liar, n, records)
			}
		}
		t.Logf("%d connections with the third party were begun in 30s, %d with a private address", target.count(), private.count())
		if target.count() >= 20 || target.count() == 0 {
			t.Error("want some, and less than 20")
		}
		if private.count() > 0 {
			t.Error("a private address was told by a peer with a public one, and dialled")
		}
		observer := f.outsider("/ip4/14.0.0.1/udp/8000/quic-v1")
		defer observer.Close()
		for _, n := range f.nodes {
			honest := 0
			for _, r := range f.converse(observer, n, nil) {
				if r.Addrs[0].Equal(target.address) || r.Addrs[0].Equal(private.address) {
					t.Errorf("a record is passed on of a node that has not answered at %v", r.Addrs[0])
				}
				honest++
			}
			if honest != len(f.nodes) {
				t.Errorf("a node tells of %d nodes that are there, want %d", honest, len(f.nodes))
			}
		}
	})
}
