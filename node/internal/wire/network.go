// Package wire exchanges a node's messages with its peers. A Network holds the parts that all tasks
// of a node share: the host, the policy, gossipsub and dials. A Topic exchanges the messages of one
// task: shares by gossip and by sync requests, direct messages, proofs of invitations, and records
// of members.
package wire

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/internal/tasknames"
	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/node/internal/gossip"
	"github.com/fbo-node/fbo/node/internal/peers"
)

// Config has the parts of a node that a Network uses.
type Config struct {
	Host    host.Host
	Foreign bool // the host belongs to the user's program: it does not ask the gate, and its connections may have other uses
	MDNS    bool // the node also discovers nodes on the local network
	Policy  *peers.Policy
	Gate    *access.Gate
	Log     *slog.Logger
	Warn    func(message string)
	Tracers []pubsub.RawTracer
	Guests  *store.GuestBook // strings by which the node admits others

	SyncStreams int // maximum number of concurrent requests of peers to compare shares
}

// Network is a node's part of the network, for all of its tasks.
type Network struct {
	Config
	gossip    *pubsub.PubSub
	syncing   *access.Limiter // limits sync requests
	naming    *access.Limiter // limits requests for task names
	admitting *access.Limiter // limits requests for admission
	fetching  *requestSlots   // limits the node's own sync requests
	clock     clock           // of the timers of tasks
	untried   atomic.Int32    // configured peers and hubs whose first dial has not ended

	mu     sync.Mutex
	topics map[string]*Topic // by task ID
}

// Open starts gossipsub, which runs until the context ends. It also answers requests for task names
// and for admission until stop is called.
func Open(ctx context.Context, c Config) (n *Network, stop func(), err error) {
	n = &Network{
		Config: c, topics: map[string]*Topic{},
		syncing: newSyncLimiter(c.SyncStreams), naming: access.NewSmallLimiter("fbo.task-mismatch", tasknames.Timeout),
		admitting: newAdmissionLimiter(), fetching: newRequestSlots(maxFetchesFromPeer), clock: clock{time.Now()},
	}
	unfollow := access.Follow(c.Policy, c.Host.Network())
	n.gossip, err = gossip.New(ctx, gossip.Config{Host: c.Host, Policy: c.Policy, Report: n.ReportViolation, Tracers: c.Tracers})
	if err != nil {
		unfollow()
		return nil, nil, fmt.Errorf("gossip: %w", err)
	}
	c.Host.SetStreamHandler(tasknames.Protocol, n.serveTaskNames)
	c.Host.SetStreamHandler(admission.Protocol, n.serveAdmission)
	comparing, end := context.WithCancel(ctx)
	var compared sync.WaitGroup
	compared.Go(func() { n.compareTaskNames(comparing) })
	return n, func() {
		end()
		compared.Wait()
		c.Host.RemoveStreamHandler(admission.Protocol)
		c.Host.RemoveStreamHandler(tasknames.Protocol)
		unfollow()
	}, nil
}

func (n *Network) add(t *Topic) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.topics[t.id] = t
}

func (n *Network) remove(t *Topic) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.topics, t.id)
}

// ReportViolation records a violation of a peer, unless it is the node itself.
func (n *Network) ReportViolation(id peer.ID, weight int, why error) {
	if id == n.Host.ID() {
		return
	}
	n.Log.Info("a peer misbehaves", "peer", id, "error", why)
	access.Report(n.Policy, n.Host.Network(), n.Log, id, weight, why)
}

// IsBanned reports whether a peer is banned now.
func (n *Network) IsBanned(id peer.ID) bool { return n.Policy.Banned(time.Now(), id) }

// Refuses reports whether the node accepts no shares from a peer, because the peer is banned or may
// not take part.
func (n *Network) Refuses(id peer.ID) bool { return n.Policy.Refused(time.Now(), id) }
