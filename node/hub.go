package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/datadir"
	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node/internal/hub"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// Hub introduces the nodes of a task to each other, and relays connections between nodes that
// cannot reach each other directly. Relayed messages are encrypted end to end. A hub is a member
// only of the tasks that Keep adds. Fields may be changed until Start.
type Hub struct {
	// Dir is the directory for the hub's identity; Start creates it if it is missing. It must not
	// be the directory of a node, since hub and node would then have the same peer ID. Required.
	Dir string

	// Listen holds the multiaddresses to listen on. The default is port 4001 on every interface, by
	// QUIC and TCP.
	Listen []string

	// Allow holds the IDs of the only nodes that may use the hub. Nil allows all nodes.
	Allow []peer.ID

	// Strategies holds the strategies that tasks of Keep may use, as Node.Strategies does. Only
	// Keep needs it.
	Strategies strategy.Set

	// Log receives diagnostic records; nil discards them.
	Log *slog.Logger

	// OnWarning receives warnings for the user about the tasks of Keep; nil discards them. It must
	// not block.
	OnWarning func(message string)

	keeper *Node // member of the tasks of Keep; nil without such tasks
	log    *slog.Logger
	server *hub.Server // nil: not started
	parts  *parts      // Start sets it if it is nil
}

// Start starts the hub's network. The context limits Start only, not the hub.
func (h *Hub) Start(ctx context.Context) (err error) {
	if ctx == nil {
		return needsContext("Hub.Start")
	}
	if h.server != nil {
		return errors.New("Hub.Start: already started")
	}
	if h.Dir == "" {
		return errors.New("Hub.Dir is missing: a hub needs a directory for its identity")
	}
	listen := h.Listen
	if len(listen) == 0 {
		listen = hub.DefaultListen()
	}
	if _, err := peeraddr.ParseListen(listen); err != nil {
		return err
	}
	if err := datadir.Make(h.Dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	h.log, h.parts = limitedLogger(h.Log), cmp.Or(h.parts, newParts())
	key, err := store.LoadIdentity(h.Dir)
	if err != nil {
		return err
	}
	self, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	h.log = h.log.With("hub", strategy.ShortID(self))
	if h.server, err = hub.Start(hub.Config{Key: key, Listen: listen, Allow: h.Allow, Log: h.log, NewHost: h.parts.newHost}); err != nil {
		return err
	}
	h.log.Info("hub started", "id", h.ID(), "addresses", h.Addresses())
	return ctx.Err()
}

// host returns the hub's libp2p host, or nil before Start.
func (h *Hub) host() host.Host {
	if h.server == nil {
		return nil
	}
	return h.server.Host()
}

// ID returns the hub's peer ID; it is empty before Start.
func (h *Hub) ID() peer.ID { return idOf(h.host()) }

// Addresses returns the full multiaddresses of the hub's network interfaces, in the form that
// Node.Hubs takes. If a router forwards a port to the hub, the router's public address is not among
// them. Before Start there are none.
func (h *Hub) Addresses() []string { return nethost.FullAddresses(h.host()) }

// Close ends the hub and all relayed connections. It may be called more than once.
func (h *Hub) Close() error {
	var err error
	if h.keeper != nil {
		err = h.keeper.Close()
		h.keeper = nil
	}
	if h.server != nil {
		err = errors.Join(err, h.server.Close())
		h.server = nil
		logOmitted(h.log)
	}
	return err
}

// Keep makes the hub a keeper of a task, as JoinOptions.Keep does: it receives, stores and forwards
// the shares of the nodes, which a hub otherwise does not read. If the nodes have an allow list,
// the hub must be on it. Keep may be called after Start, once per task.
func (h *Hub) Keep(ctx context.Context, t *task.Task) (*Session, error) {
	return h.KeepInvited(ctx, t, nil)
}

// KeepInvited is Keep for a task with an invitation (see JoinOptions.Invitation).
func (h *Hub) KeepInvited(ctx context.Context, t *task.Task, i *Invitation) (*Session, error) {
	if h.server == nil {
		return nil, needsStart("Hub.Keep")
	}
	if len(h.Strategies) == 0 {
		return nil, needsStrategies("Hub")
	}
	if h.keeper == nil {
		keeper := &Node{Dir: h.Dir, Host: h.host(), Allow: h.Allow, Strategies: h.Strategies, Log: h.Log, OnWarning: h.OnWarning}
		if err := keeper.Start(ctx); err != nil {
			return nil, err
		}
		h.keeper = keeper
	}
	return h.keeper.Join(ctx, t, JoinOptions{Keep: true, Invitation: i})
}
