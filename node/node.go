package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
	"github.com/multiformats/go-multiaddr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/internal/ratelimitlog"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/node/internal/hub"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/node/internal/wire"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// ErrClosed is returned by all methods of a closed node or session.
var ErrClosed = errors.New("the node or session is closed")

// Errors of Node.Start about the journal in Node.Dir.
var (
	// ErrBusy means that another process has the journal open.
	ErrBusy = journal.ErrBusy
	// ErrDamaged means that the journal's content is corrupt.
	ErrDamaged = journal.ErrDamaged
)

// Node takes part in any number of tasks, with one identity and one data directory. Fields may be
// changed until Start.
type Node struct {
	// Dir is the directory for the identity and the journal; Start creates it if it is missing.
	// Only one node at a time can use it. Required.
	Dir string

	// Listen holds the multiaddresses to listen on. By default the node reuses the ports of the
	// last start, so that addresses given to other nodes stay valid. If they are not free, it
	// listens on any free port of every interface, by QUIC and TCP.
	Listen []string

	// Peers holds the multiaddresses, ending in /p2p/ID, of nodes to which this node stays
	// connected.
	Peers []string

	// Hubs holds the multiaddresses, ending in /p2p/ID, of hubs. They introduce the node to peers
	// on its tasks, and relay connections from peers that cannot reach it directly.
	// JoinOptions.Hubs has those of one task.
	Hubs []string

	// MDNS enables discovery of nodes on the local network by multicast DNS.
	MDNS bool

	// Allow holds the IDs of the only nodes that this node connects to and accepts messages from.
	// Nil allows every node that knows a task. ParseAllow reads a list from a file.
	Allow []peer.ID

	// Host replaces the node's own libp2p host if it is set. The node does not close it. Its
	// Ed25519 key signs the shares, and neither Listen nor the identity file is used. Allow keeps
	// other peers out of the tasks, but not from connecting to the Host. If Hubs is set, the
	// program must make the Host's relay reservations there.
	Host host.Host

	// MaxObservations is the maximum number of observations for an exact model, per task. The
	// default is strategy.DefaultMaxObservations. The time of a suggestion grows with its cube.
	MaxObservations int

	// MemoryLimit is the memory in bytes that the process should use at most, at least
	// MinMemoryLimit; 0: no limit. Below some 176 MiB the node stores fewer shares, fewer authors
	// and fewer connections, and answers fewer requests at the same time. The limit of shares is
	// divided among the tasks. It is for one node in a process. A program should also pass
	// HeapLimit to debug.SetMemoryLimit, which the node does not call.
	MemoryLimit int64

	// Strategies holds the strategies that the node's tasks may use. It is a list such as
	// strategy.Set{peerprior.Register()}, so that the program links only these, or all.Strategies()
	// of package strategy/all. A program with its own strategies appends them, and parses task
	// files with the same set. All nodes of a task need its strategy. Required.
	Strategies strategy.Set

	// Log receives diagnostic records, with the keys node, task and peer where they apply. Nil
	// discards them.
	Log *slog.Logger

	// Metrics is the registry for the node's counters, gauges and histograms; nil: none. All names
	// begin with fbo_ and have the node as a label. Close unregisters them. Several nodes can share
	// one registry.
	Metrics prometheus.Registerer

	// SumMetrics makes the metrics of tasks sums over all tasks, without the label task. Otherwise
	// each task has series of its own, more than a hundred.
	SumMetrics bool

	// OnWarning receives warnings for the user about all tasks; nil discards them. It must not
	// block.
	OnWarning func(message string)

	mu       sync.Mutex
	started  bool
	room     room
	sessions map[string]*Session
	unwind   []func() error // functions that Close calls, last first

	parts      *parts // Start sets it if it is nil
	strategies strategy.Set
	log        *slog.Logger
	key        crypto.PrivKey
	host       host.Host
	gate       *access.Gate
	contacts   *contacts
	hubs       []*hub.Link // of Hubs
	store      *store.Store
	network    *wire.Network
	policy     *peers.Policy
	traffic    nethost.Traffic // stays zero with a Host of the user
	metrics    *nodeMetrics
	tasks      sync.WaitGroup
	ofTask     atomic.Int64 // bytes of shares of each task; 0: the default of an agent
}

// Start opens the journal and starts the network. If it fails, it closes everything that it has
// opened. The context limits Start only, not the node.
func (n *Node) Start(ctx context.Context) (err error) {
	if ctx == nil {
		return needsContext("Node.Start")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.started {
		return errors.New("Node.Start: already started")
	}
	hubs, named, err := n.validate()
	if err != nil {
		return err
	}
	n.contacts = newContacts(n)
	n.room = newRoom(n.MemoryLimit)
	n.ofTask.Store(0)
	n.strategies = n.Strategies
	n.parts = cmp.Or(n.parts, newParts())
	n.started = true
	n.sessions = map[string]*Session{}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
			n.started, n.sessions = false, nil // Start may be called again
		}
	}()
	if err := n.openStore(); err != nil {
		return err
	}
	if err := n.openHost(); err != nil {
		return err
	}
	n.log = n.log.With("node", strategy.ShortID(n.ID()))
	if err := n.startMetrics(); err != nil {
		return err
	}
	running, cancel := context.WithCancel(context.Background())
	n.onClose(func() error { n.tasks.Wait(); return nil })
	n.onClose(func() error { n.contacts.close(); cancel(); return nil })
	if err := n.openNetwork(running); err != nil {
		return err
	}
	if err := n.contacts.start(running); err != nil {
		return err
	}
	if n.MDNS {
		service := mdns.NewMdnsService(n.host, mdnsService, discovered{n, running})
		if err := service.Start(); err != nil {
			n.warn(fmt.Sprintf("cannot look for nodes on the local network: %v; peers must be named", err))
		} else {
			n.onClose(service.Close)
		}
	}
	n.log.Info("node started", "id", n.ID(), "addresses", n.Addresses())
	if n.hubs, _, err = n.contacts.retain(hubs, named); err != nil {
		return err
	}
	return ctx.Err()
}

func (n *Node) validate() (hubs, named []peer.AddrInfo, err error) {
	if n.Dir == "" {
		return nil, nil, errors.New("Node.Dir is missing: a node needs a directory for its identity and journal")
	}
	if _, err := peeraddr.ParseListen(n.Listen); err != nil {
		return nil, nil, err
	}
	if n.MaxObservations != 0 && n.MaxObservations < strategy.MinMaxObservations {
		return nil, nil, fmt.Errorf("Node.MaxObservations is %d, expected 0 (the default, %d) or at least %d", n.MaxObservations, strategy.DefaultMaxObservations, strategy.MinMaxObservations)
	}
	if n.MemoryLimit != 0 && n.MemoryLimit < MinMemoryLimit {
		return nil, nil, fmt.Errorf("Node.MemoryLimit is %d, expected 0 (no limit) or at least %d", n.MemoryLimit, MinMemoryLimit)
	}
	if len(n.Strategies) == 0 {
		return nil, nil, needsStrategies("Node")
	}
	if err := n.Strategies.Check(); err != nil {
		return nil, nil, fmt.Errorf("Node.Strategies: %w", err)
	}
	n.log = limitedLogger(n.Log)
	return n.parseContacts("Node.Peers", n.Hubs, n.Peers)
}

func (n *Node) newPolicy(self peer.ID) *peers.Policy {
	return access.NewPolicy(peers.Config{Self: self, Listed: n.Allow})
}

func (n *Node) openStore() error {
	opened, err := store.Open(n.Dir, n.strategies)
	if err != nil {
		return err
	}
	n.store = opened
	n.onClose(func() error { return opened.Close(n.log) })
	return nil
}

func (n *Node) openHost() (err error) {
	if n.Host != nil {
		n.host = n.Host
		if n.key = n.host.Peerstore().PrivKey(n.host.ID()); n.key == nil {
			return errors.New("Node.Host does not know its own private key")
		}
		n.policy = n.newPolicy(n.host.ID())
		n.gate = &access.Gate{Policy: n.policy, MayDial: n.mayDial}
		return nil
	}
	if n.key, err = store.LoadIdentity(n.Dir); err != nil {
		return err
	}
	self, err := peer.IDFromPrivateKey(n.key)
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	n.policy = n.newPolicy(self)
	n.gate = &access.Gate{Policy: n.policy, MayDial: n.mayDial}
	if n.host, err = n.listen(); err != nil {
		return err
	}
	n.onClose(n.host.Close)
	return nil
}

func (n *Node) openNetwork(ctx context.Context) error {
	c := wire.Config{
		Host: n.host, Foreign: n.Host != nil, MDNS: n.MDNS, Policy: n.policy, Gate: n.gate, Log: n.log, Warn: n.warn,
		Guests: n.store.GuestBook(), SyncStreams: n.room.syncStreams,
	}
	if n.metrics != nil {
		c.Tracers = append(c.Tracers, tracer{metrics: n.metrics})
	}
	opened, stop, err := wire.Open(ctx, c)
	if err != nil {
		return err
	}
	n.network = opened
	n.onClose(func() error { stop(); return nil })
	return nil
}

func (n *Node) onClose(f func() error) { n.unwind = append(n.unwind, f) }

func (n *Node) background(f func()) { n.tasks.Go(f) }

// limitedLogger wraps a logger so that peers can write neither arbitrary text nor unlimited records
// into it. A nil log discards all records.
func limitedLogger(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	if _, already := log.Handler().(ratelimitlog.Handler); already {
		return log
	}
	return slog.New(ratelimitlog.New(log.Handler()))
}

// logOmitted reports the number of records that the rate limit of limitedLogger has dropped since
// the last such report.
func logOmitted(log *slog.Logger) {
	if log == nil {
		return
	}
	if h, ok := log.Handler().(ratelimitlog.Handler); ok {
		h.Tell(context.Background())
	}
}

// warn logs a warning and passes it to OnWarning. The message may quote a peer, so it is sanitised.
func (n *Node) warn(message string) {
	message = sanitize.Text(message, nethost.MaxReason)
	n.log.Warn(message)
	if n.OnWarning != nil {
		n.OnWarning(message)
	}
}

// ID returns the node's peer ID; it is empty before Start.
func (n *Node) ID() peer.ID { return idOf(n.host) }

// Addresses returns the full multiaddresses at which peers may reach the node, in the form that
// Peers takes. Before Start there are none.
func (n *Node) Addresses() []string { return nethost.FullAddresses(n.host) }

// idOf returns the peer ID of a host, or an empty ID if the host is nil.
func idOf(h host.Host) peer.ID {
	if h == nil {
		return ""
	}
	return h.ID()
}

// Join takes part in a task, which must come from strategy.Set.Parse or strategy.Set.NewTask. It
// restores the state of earlier runs from the journal. The context limits Join only, not the
// session.
func (n *Node) Join(ctx context.Context, t *task.Task, options JoinOptions) (*Session, error) {
	if err := checkJoin(ctx, t, options); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.started {
		return nil, needsStart("Node.Join")
	}
	if n.sessions == nil {
		return nil, ErrClosed
	}
	id := t.ID().String()
	if n.sessions[id] != nil {
		return nil, fmt.Errorf("task %q (%s) is joined already", t.Name, id)
	}
	n.divide(len(n.sessions) + 1)
	session, err := newSession(ctx, n, t, options)
	if err != nil {
		n.divide(len(n.sessions))
		return nil, err
	}
	n.sessions[id] = session
	return session, nil
}

func (n *Node) mayDial(now time.Time, id peer.ID, address multiaddr.Multiaddr) bool {
	return n.parts.mayDial(n.policy, now, id, address)
}

// Known returns the sorted IDs of the tasks in the journal. The node must have started.
func (n *Node) Known() ([]string, error) {
	if n.store == nil {
		return nil, needsStart("Node.Known")
	}
	return n.store.Tasks()
}

// History returns the journal's content for a task. The node must have started. If the journal does
// not contain the task, the error wraps fs.ErrNotExist.
func (n *Node) History(id string) (History, error) {
	if n.store == nil {
		return History{}, needsStart("Node.History")
	}
	return n.store.History(id)
}

func (n *Node) forget(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.sessions, id)
	n.divide(len(n.sessions))
}

// Close leaves all tasks in parallel, each as Session.Close does, and closes the node. It takes
// less than five seconds, whatever strategies and surrogates compute. Only an exchange whose Step
// or Decode does not return, which exchanges must not do, blocks it. It may be called more than
// once.
func (n *Node) Close() error {
	n.mu.Lock()
	var open []*Session
	for _, session := range n.sessions {
		open = append(open, session)
	}
	n.mu.Unlock()
	failures := make([]error, len(open))
	var closing sync.WaitGroup
	for i, session := range open {
		closing.Go(func() { failures[i] = session.Close() })
	}
	closing.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sessions = nil
	err := errors.Join(errors.Join(failures...), n.close())
	logOmitted(n.log)
	return err
}

func (n *Node) close() error {
	var err error
	for len(n.unwind) > 0 {
		last := len(n.unwind) - 1
		err = errors.Join(err, n.unwind[last]())
		n.unwind = n.unwind[:last]
	}
	return err
}
