// Command floor is the least that a node can be: a libp2p host and gossipsub on one topic, as a node
// configures them. Benchmarks compare a node's memory and size with it. Its argument selects the
// parts to start: runtime, host or gossip. It prints a line when they run, and waits for the end of
// its standard input.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"

	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/node/internal/gossip"
	"github.com/fbo-node/fbo/node/internal/peers"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(parts string) error {
	if parts != "runtime" {
		key, _, err := crypto.GenerateEd25519Key(rand.Reader)
		if err != nil {
			return err
		}
		policy := access.NewPolicy(peers.Config{})
		resources, err := nethost.NewResources(nethost.MaxConnections, rcmgr.PartialLimitConfig{})
		if err != nil {
			return err
		}
		h, err := nethost.New(nethost.Config{
			Key: key, Listen: nethost.DefaultListen(), Traffic: &nethost.Traffic{}, Connections: nethost.MaxConnections,
			Gate: &access.Gate{Policy: policy}, Relayed: true, Options: []libp2p.Option{libp2p.ResourceManager(resources)},
		})
		if err != nil {
			return err
		}
		defer h.Close()
		if parts == "gossip" {
			router, err := gossip.New(context.Background(), gossip.Config{Host: h, Policy: policy, Report: func(peer.ID, int, error) {}})
			if err != nil {
				return err
			}
			topic, err := router.Join("/fbo/task/1/floor")
			if err != nil {
				return err
			}
			subscription, err := topic.Subscribe()
			if err != nil {
				return err
			}
			defer subscription.Cancel()
		}
	}
	fmt.Println("started")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
