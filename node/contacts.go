package node

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/node/internal/hub"
	"github.com/fbo-node/fbo/node/internal/peers"
)

// contacts keeps a node connected to the peers and hubs that the user has configured: for all tasks,
// for one task, or while the task of a string is requested. Each has a number of users, and is
// dropped with the last one.
type contacts struct {
	node    *Node
	ctx     context.Context
	changed event.Emitter               // of the node's addresses
	all     atomic.Pointer[[]*hub.Link] // of links; libp2p reads it while mu may be locked

	mu      sync.Mutex
	closed  bool
	circuit bool            // the host accepts relayed connections
	dials   map[string]*use // by what dial is for, and its addresses
	links   []*linkUse
}

// use is something that runs until its last user releases it.
type use struct {
	users int
	end   func()
}

type linkUse struct {
	use
	*hub.Link
}

func newContacts(n *Node) *contacts { return &contacts{node: n, dials: map[string]*use{}} }

// start must be called before retain, when the host runs. Connections end with the context.
func (c *contacts) start(ctx context.Context) (err error) {
	n := c.node
	c.ctx = ctx
	if c.changed, err = n.host.EventBus().Emitter(new(event.EvtAutoRelayAddrsUpdated)); err != nil {
		return fmt.Errorf("hubs: %w", err)
	}
	n.onClose(c.changed.Close)
	bundle := &network.NotifyBundle{ConnectedF: c.connectionChanged, DisconnectedF: c.connectionChanged}
	n.host.Network().Notify(bundle)
	n.onClose(func() error { n.host.Network().StopNotify(bundle); return nil })
	return nil
}

// parseContacts parses addresses of hubs and peers. It refuses a peer that the allow list does not
// have; the error names the place of the peers.
func (n *Node) parseContacts(place string, hubs, named []string) (hubInfos, peerInfos []peer.AddrInfo, err error) {
	if hubInfos, err = peeraddr.ParseHubs(hubs); err != nil {
		return nil, nil, err
	}
	if peerInfos, err = peeraddr.ParsePeers(named); err != nil {
		return nil, nil, err
	}
	isHub := func(id peer.ID) bool {
		return slices.ContainsFunc(hubInfos, func(info peer.AddrInfo) bool { return info.ID == id })
	}
	for _, info := range peerInfos {
		if n.Allow != nil && !slices.Contains(n.Allow, info.ID) && !isHub(info.ID) && info.ID != n.ID() {
			return nil, nil, fmt.Errorf("peer %v is in %s and not in Node.Allow", info.ID, place)
		}
	}
	return hubInfos, peerInfos, nil
}

// retain connects the node to hubs and named peers until release is called, and returns its links to these
// hubs.
func (c *contacts) retain(hubs, named []peer.AddrInfo) (links []*hub.Link, release func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, ErrClosed
	}
	var used []func()
	for _, info := range hubs {
		link, end, err := c.link(info)
		if err != nil {
			c.release(used)
			return nil, nil, err
		}
		links = append(links, link)
		used = append(used, end, c.dial("hub", info))
	}
	for _, info := range named {
		if info.ID != c.node.ID() {
			used = append(used, c.dial("peer", info))
		}
	}
	return links, sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.release(used)
	}), nil
}

func (c *contacts) release(used []func()) {
	for _, end := range slices.Backward(used) {
		end()
	}
}

// dial keeps the node connected to a peer or hub at these addresses.
func (c *contacts) dial(what string, info peer.AddrInfo) (end func()) {
	n, key := c.node, what+" "+info.String()
	u := c.dials[key]
	if u == nil {
		ctx, cancel := context.WithCancel(c.ctx)
		n.policy.Configure(info)
		n.host.ConnManager().Protect(info.ID, key)
		n.network.Expect()
		n.background(func() { n.network.KeepConnected(ctx, what, info) })
		u = &use{end: func() {
			cancel()
			n.host.ConnManager().Unprotect(info.ID, key)
			n.policy.Unconfigure(info)
			delete(c.dials, key)
		}}
		c.dials[key] = u
	}
	return u.take()
}

// link returns the node's link to a hub, with a relay reservation there.
func (c *contacts) link(info peer.AddrInfo) (l *hub.Link, end func(), err error) {
	for _, u := range c.links {
		if u.ID == info.ID {
			return u.Link, u.take(), nil
		}
	}
	n := c.node
	if n.Host == nil && !c.circuit { // with a Host of the user, the node does not choose the addresses
		if err := n.host.Network().Listen(multiaddr.StringCast("/p2p-circuit")); err != nil {
			return nil, nil, fmt.Errorf("listen for relayed connections: %w", err)
		}
		c.circuit = true
	}
	ctx, cancel := context.WithCancel(c.ctx)
	u := &linkUse{Link: hub.NewLink(info)}
	n.policy.AddHub(info.ID)
	u.end = func() {
		cancel()
		n.policy.RemoveHub(info.ID)
		c.setLinks(slices.DeleteFunc(c.links, func(other *linkUse) bool { return other == u }))
		c.addressesChanged()
	}
	c.setLinks(append(c.links, u))
	if n.Host == nil {
		client := &hub.Client{Host: n.host, Policy: n.policy, Log: n.log, Warn: n.warn, Changed: c.addressesChanged}
		n.background(func() { client.KeepReservation(ctx, u.Link) })
	}
	return u.Link, u.take(), nil
}

// take adds a user; end removes it.
func (u *use) take() (end func()) {
	u.users++
	return func() {
		if u.users--; u.users == 0 {
			u.end()
		}
	}
}

// allLinks returns the links of two lists, each once.
func allLinks(links, more []*hub.Link) []*hub.Link {
	all := slices.Clone(links)
	for _, l := range more {
		if !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	return all
}

// addressesChanged has libp2p read the node's addresses, which it does otherwise every five seconds.
func (c *contacts) addressesChanged() {
	_ = c.changed.Emit(event.EvtAutoRelayAddrsUpdated{}) // fails only when the node closes
}

func (c *contacts) setLinks(links []*linkUse) {
	c.links = links
	all := make([]*hub.Link, len(links))
	for i, u := range links {
		all[i] = u.Link
	}
	c.all.Store(&all)
}

// hubs returns the links to all hubs.
func (c *contacts) hubs() []*hub.Link {
	if all := c.all.Load(); all != nil {
		return *all
	}
	return nil
}

const directGrace = 5 * time.Second // time for messages on a relayed connection to arrive after a direct connection exists

func (c *contacts) connectionChanged(_ network.Network, connection network.Conn) {
	hubs := c.hubs()
	for _, h := range hubs {
		if h.ID == connection.RemotePeer() {
			h.ConnectionChanged()
		}
	}
	n := c.node
	if len(hubs) > 0 && n.Host == nil && !connection.IsClosed() && !relayed(connection) { // the user's program may still need relayed connections of its own Host
		time.AfterFunc(directGrace, func() { n.leaveRelay(connection.RemotePeer()) })
	}
}

// leaveRelay closes the relayed connections to a peer if a direct connection to it exists.
// Protocols that used a relayed connection open new streams on the direct one.
func (n *Node) leaveRelay(id peer.ID) {
	connections := n.host.Network().ConnsToPeer(id)
	if !slices.ContainsFunc(connections, func(c network.Conn) bool { return !relayed(c) }) {
		return
	}
	for _, c := range connections {
		if relayed(c) {
			_ = c.Close()
		}
	}
}

func relayed(c network.Conn) bool { return peers.IsCircuit(c.RemoteMultiaddr()) }

// close ends all connections of contacts; retain then fails.
func (c *contacts) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}
