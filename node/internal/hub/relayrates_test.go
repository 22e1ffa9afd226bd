package hub

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/client"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/node/internal/peers"
)

func relayedHost(t *testing.T, options ...libp2p.Option) host.Host {
	t.Helper()
	h, err := libp2p.New(append([]libp2p.Option{libp2p.DisableMetrics(), libp2p.DisableIdentifyAddressDiscovery()}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// A range of addresses sends no more through a hub than its limit, whatever the protocol, and
// what waits ends with the hub. Nodes that the hub's user has named have no limit.
func TestRelayRatesLimitForeignProtocol(t *testing.T) {
	t.Parallel()
	const burst, size = 256 << 10, 1 << 20
	for name, exempt := range map[string]bool{"stranger": false, "named": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loopback := libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0")
			hub, from, to := relayedHost(t, loopback), relayedHost(t, libp2p.NoListenAddrs, libp2p.EnableRelay()), relayedHost(t, libp2p.NoListenAddrs, libp2p.EnableRelay())
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			rates := newRelayRates(ctx, func(peer.ID) bool { return exempt })
			rates.groups = peers.NewGroups(1, burst)
			service, err := relay.New(relayHost{hub, rates}, relay.WithInfiniteLimits(),
				relay.WithReservationAddressFilter(func(multiaddr.Multiaddr) bool { return true }))
			if err != nil {
				t.Fatal(err)
			}
			defer service.Close()

			var received atomic.Int64
			ended := make(chan struct{})
			to.SetStreamHandler("/foreign", func(s network.Stream) {
				defer close(ended)
				buffer := make([]byte, 4096)
				for {
					n, err := s.Read(buffer)
					received.Add(int64(n))
					if err != nil {
						return
					}
				}
			})
			at := peer.AddrInfo{ID: hub.ID(), Addrs: hub.Addrs()}
			for _, h := range []host.Host{from, to} {
				if err := h.Connect(t.Context(), at); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := client.Reserve(t.Context(), to, at); err != nil {
				t.Fatal(err)
			}
			circuit := at.Addrs[0].Encapsulate(multiaddr.StringCast("/p2p/" + hub.ID().String() + "/p2p-circuit"))
			if err := from.Connect(t.Context(), peer.AddrInfo{ID: to.ID(), Addrs: []multiaddr.Multiaddr{circuit}}); err != nil {
				t.Fatal(err)
			}
			s, err := from.NewStream(t.Context(), to.ID(), "/foreign")
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = io.CopyN(s, zeros{}, size)
				_ = s.CloseWrite()
			}()
			if exempt {
				<-ended
				if received.Load() != size {
					t.Errorf("%d bytes received, expected %d", received.Load(), size)
				}
				return
			}
			for received.Load() < burst/2 {
				time.Sleep(time.Millisecond)
			}
			stop()
			<-ended
			if n := received.Load(); n > burst {
				t.Errorf("%d bytes received, expected at most %d", n, burst)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
