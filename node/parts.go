package node

import (
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/dialbudget"
	"github.com/fbo-node/fbo/protocol"
)

// parts are the functions by which a node or hub creates its host and its agents, dials, and passes
// shares to an agent.
type parts struct {
	newHost  func(hostConfig) (host.Host, error)
	newAgent func(agent.Config, []agent.Record, time.Time) (*agent.Agent, error)
	mayDial  func(*dialbudget.Budget, peer.ID, multiaddr.Multiaddr) bool
	receive  func(*agent.Agent, time.Time, protocol.Share, time.Duration, agent.Source) (agent.ShareResult, error)
}

func newParts() *parts {
	return &parts{newHost, agent.New, (*dialbudget.Budget).Allow, (*agent.Agent).ReceiveBy}
}
