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

// Hub introduces the nodes of a task to each other, and relays between those that cannot reach each
// other. It takes part only in the tasks that it keeps. Relayed messages are encrypted end to end.
// Fields may be changed until Start.
type Hub struct {
	// Dir keeps the identity; it is made if missing. Required, and not that of a
	// node, which would be the same peer twice.
	Dir string

	// Listen holds the multiaddresses to listen on; default: port 4001 of every
	// interface, by QUIC and TCP.
	Listen []string

	// Allow, when it is not nil, holds the only nodes that may use the hub.
	Allow []peer.ID

	// Strategies are those that the tasks that the hub keeps may name, as Node.Strategies.
	// Only Keep needs them.
	Strategies strategy.Set

	// Log receives records for finding faults; default: nothing.
	Log *slog.Logger

	// OnWarning receives warnings for the user about the tasks that the hub
	// keeps; default: nothing. It must not block.
	OnWarning func(message string)

	keeper *Node // of the tasks that are kept; nil when there is none
	log    *slog.Logger
	server *hub.Server // nil: not started
	parts  *parts      // Start sets it where it is nil
}

// Start opens the network. The context bounds the start only.
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

// host returns the hub's host, nil before Start.
func (h *Hub) host() host.Host {
	if h.server == nil {
		return nil
	}
	return h.server.Host()
}

// ID returns the hub's peer ID; it is empty before Start.
func (h *Hub) ID() peer.ID { return idOf(h.host()) }

// Addresses returns full multiaddresses of the hub's network interfaces, in the
// form that Node.Hubs takes. Behind a forwarded port the address that others use
// is not among them. Before Start there are none.
func (h *Hub) Addresses() []string { return nethost.FullAddresses(h.host()) }

// Close ends the hub and with it all that it relays. It may be called more than
// once.
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

// Keep makes the hub a member of a task that evaluates nothing, as JoinOptions.Keep
// does: it receives, stores and forwards the shares of the nodes, which a hub otherwise does not read.
// Where nodes have an allow list, the hub must be on it. It may be called after Start, once a task.
func (h *Hub) Keep(ctx context.Context, t *task.Task) (*Session, error) {
	return h.KeepInvited(ctx, t, nil)
}

// KeepInvited is Keep for a task that needs an invitation, as JoinOptions.Invitation.
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
