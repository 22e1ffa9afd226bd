package node

import (
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

// parts holds the functions with which a node or hub creates its host and agents, dials peers, and
// passes shares to an agent. Tests replace some of them.
type parts struct {
	newHost  func(nethost.Config) (host.Host, error)
	newAgent func(agent.Config, []agent.Record, time.Time) (*agent.Agent, error)
	mayDial  func(*peers.Policy, time.Time, peer.ID, multiaddr.Multiaddr) bool
	receive  func(*agent.Agent, time.Time, protocol.Share, time.Duration, agent.Source) (agent.ShareResult, error)
}

func newParts() *parts {
	return &parts{nethost.New, agent.New, (*peers.Policy).AllowDial, (*agent.Agent).ReceiveBy}
}
