package node

import (
	"context"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// ReadLog returns a task's records, in order.
var ReadLog = readLog

// ProbeFrom is Probe from a host that the test has made.
func ProbeFrom(ctx context.Context, h host.Host, target peer.AddrInfo) (Reach, error) {
	return probeFrom(ctx, h, target, "")
}

// CloseJournal makes every later write to the journal fail.
func (n *Node) CloseJournal() error { return n.journal.Close() }

// Lose makes shares get lost on their way to the node, by gossip or the sync
// stream, whenever f says so. It is called before Start.
func (n *Node) Lose(f func() bool) { n.lose = f }

// Network is the node's host.
func (n *Node) Network() host.Host { return n.host }

// Bar makes addresses of others impossible to dial. It is called before Start.
func (n *Node) Bar(f func(peer.ID, multiaddr.Multiaddr) bool) { n.notAllowed = f }

// Libp2p adds options to those that the node makes its host of. It is called before
// Start.
func (n *Node) Libp2p(options ...libp2p.Option) { n.libp2p = options }

// Libp2p is as of Node.
func (h *Hub) Libp2p(options ...libp2p.Option) { h.libp2p = options }

// Exchange gives the agents of the node other exchanges than their tasks name. It
// is called before Start.
func (n *Node) Exchange(f func(*task.Task) []strategy.Exchange) { n.exchanges = f }

// Alter changes what the agents of the node are made of. It is called before Join.
func (n *Node) Alter(f func(*agent.Config)) { n.alter = f }

// Prompt is a direct message of the agent to itself, which the network does not
// carry: tests make exchanges act by it.
func (s *Session) Prompt(ctx context.Context, exchange string) error {
	return s.do(ctx, func(now time.Time) { s.agent.Direct(now, s.node.ID(), exchange, nil) })
}

// Registrations is how many the hub remembers.
func (h *Hub) Registrations() int { return h.policy.Registrations() }

// Places bounds how many nodes can be reached through the hub. It is called after Start and
// before anybody comes.
func (h *Hub) Places(most int) { h.policy.LimitReservations(most) }
