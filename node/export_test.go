package node

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// CloseJournal makes every later write to the journal fail.
func (n *Node) CloseJournal() error { return n.store.Close(n.log) }

// made returns the parts of a node or hub before its start.
func made(of **parts) *parts {
	if *of == nil {
		*of = newParts()
	}
	return *of
}

// Lose drops the shares that reach the node by gossip or the sync stream while f returns true. It
// is called before Start.
func (n *Node) Lose(f func() bool) {
	p := made(&n.parts)
	receive := p.receive
	p.receive = func(a *agent.Agent, now time.Time, share protocol.Share, age time.Duration, by agent.Source) (agent.ShareResult, error) {
		if f() {
			return agent.Stale, nil
		}
		return receive(a, now, share, age, by)
	}
}

// Network is the node's host.
func (n *Node) Network() host.Host { return n.host }

// Bar makes addresses of others impossible to dial. It is called before Start.
func (n *Node) Bar(f func(peer.ID, multiaddr.Multiaddr) bool) {
	p := made(&n.parts)
	mayDial := p.mayDial
	p.mayDial = func(policy *peers.Policy, now time.Time, id peer.ID, address multiaddr.Multiaddr) bool {
		return !f(id, address) && mayDial(policy, now, id, address)
	}
}

// Libp2p adds options to those that the node makes its host of. It is called before
// Start.
func (n *Node) Libp2p(options ...libp2p.Option) { made(&n.parts).addLibp2p(options) }

// Libp2p is as of Node.
func (h *Hub) Libp2p(options ...libp2p.Option) { made(&h.parts).addLibp2p(options) }

func (p *parts) addLibp2p(options []libp2p.Option) {
	newHost := p.newHost
	p.newHost = func(c nethost.Config) (host.Host, error) {
		c.Options = append(c.Options, options...)
		return newHost(c)
	}
}

// Wrap replaces the host of the node by one around it. It is called before Start.
func (n *Node) Wrap(f func(host.Host) host.Host) { made(&n.parts).wrap(f) }

// Wrap is as of Node.
func (h *Hub) Wrap(f func(host.Host) host.Host) { made(&h.parts).wrap(f) }

func (p *parts) wrap(f func(host.Host) host.Host) {
	newHost := p.newHost
	p.newHost = func(c nethost.Config) (host.Host, error) {
		made, err := newHost(c)
		if err != nil {
			return nil, err
		}
		return f(made), nil
	}
}

// Exchange gives the agents of the node other exchanges than their tasks name. It
// is called before Start.
func (n *Node) Exchange(f func(*task.Task) []strategy.Exchange) {
	n.Alter(func(c *agent.Config) { c.Exchanges = f(c.Task) })
}

// Alter changes the configuration of the node's agents. It is called before Start.
func (n *Node) Alter(f func(*agent.Config)) {
	p := made(&n.parts)
	newAgent := p.newAgent
	p.newAgent = func(c agent.Config, replay []agent.Record, now time.Time) (*agent.Agent, error) {
		f(&c)
		return newAgent(c, replay, now)
	}
}

// Prompt is a direct message of the agent to itself, which the network does not
// carry: tests make exchanges act by it.
func (s *Session) Prompt(ctx context.Context, exchange string) error {
	return s.do(ctx, func(now time.Time) { s.agent.Direct(now, s.node.ID(), exchange, nil) })
}

// Registrations is how many the hub remembers.
func (h *Hub) Registrations() int { return h.server.Policy().Registrations() }

// Places bounds how many nodes can be reached through the hub. It is called after Start and
// before anybody comes.
func (h *Hub) Places(most int) { h.server.Policy().LimitReservations(most) }

// ShareBytes returns the limit of the bytes of peers' shares that the session's agent has.
func (s *Session) ShareBytes(ctx context.Context) (bytes int, err error) {
	err = s.doWithAgent(ctx, func(a *agent.Agent, _ time.Time) { bytes = a.Capacity().Bytes })
	return bytes, err
}

// Chosen returns the authors whose announced shares the session fetches.
func (s *Session) Chosen(ctx context.Context) (chosen []peer.ID, large bool, err error) {
	return chosen, large, s.do(ctx, func(time.Time) { chosen, large = s.agent.Chosen(), s.agent.Large() })
}
