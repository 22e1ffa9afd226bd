package run

import (
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/spf13/cobra"

	"github.com/fbo-node/fbo/internal/cli/base"
	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// networkOptions are the flags by which a node finds others and is found, and what it may use for
// them.
type networkOptions struct {
	listen []string
	peers  []string
	hubs   []string
	mdns   bool
	allow  string
	memory memorySize
}

func addNetwork(command *cobra.Command, o *networkOptions) {
	flags := command.Flags()
	flags.StringArrayVar(&o.listen, "listen", nil, "multiaddress to listen on, repeatable (default: the ports of the last start, at first any free ones, by QUIC and TCP)")
	flags.StringArrayVar(&o.peers, "peer", nil, "address of another node, as it prints it, repeatable")
	flags.StringArrayVar(&o.hubs, "hub", nil, "address of a hub, as it prints it, through which nodes find and reach each other, repeatable")
	flags.BoolVar(&o.mdns, "mdns", true, "find nodes on the local network")
	base.AddAllow(command, &o.allow)
	addMemory(flags, &o.memory)
	base.FromEnvironment(command, "listen", "peer", "hub", "mdns", "memory")
}

func (o networkOptions) validate() error {
	if _, err := peeraddr.ParsePeers(o.peers); err != nil {
		return base.Usagef("--peer: %w", err)
	}
	if _, err := peeraddr.ParseHubs(o.hubs); err != nil {
		return base.Usagef("--hub: %w", err)
	}
	if _, err := peeraddr.ParseListen(o.listen); err != nil {
		return base.Usagef("--listen: %w", err)
	}
	return nil
}

// recall adds the addresses of the string by which the data directory has joined a task, unless flags
// have others.
func (o *networkOptions) recall(dir string, t *task.Task) error {
	if len(o.hubs)+len(o.peers) > 0 {
		return nil
	}
	_, hubs, peers, err := store.JoinAddresses(dir, t.ID().String())
	o.hubs, o.peers = hubs, peers
	return err
}

// seeks reports whether the node looks for others, rather than only being found.
func (o networkOptions) seeks() bool { return o.mdns || len(o.peers)+len(o.hubs) > 0 }

// node returns a node with these options.
func (o networkOptions) node(dir string, allowed []peer.ID, onWarning func(string)) *node.Node {
	n := &node.Node{
		Dir: dir, Listen: o.listen, Peers: o.peers, Hubs: o.hubs, MDNS: o.mdns, Allow: allowed,
		Strategies: all.Strategies(), Log: base.Logger(), OnWarning: onWarning,
	}
	o.memory.apply(n)
	return n
}
