package wire

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/store"
	"github.com/fbo-node/fbo/node/internal/access"
	"github.com/fbo-node/fbo/node/internal/hub"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/protocol"
)

const admissionTimeout = 10 * time.Second

// Limits of concurrent streams with requests for admission.
const (
	maxAdmissionStreams       = 16
	maxAdmissionStreamsOfPeer = 2
)

// receptionPause is the pause between checks for guest strings and, while there are some, between
// registrations at a hub.
const (
	receptionPause   = 2 * time.Second
	receptionRenewal = 2 * time.Minute
)

func newAdmissionLimiter() *access.Limiter {
	return access.NewLimiter("fbo.admit", maxAdmissionStreams, maxAdmissionStreamsOfPeer, 2*admission.MaxResponseBytes, admissionTimeout)
}

// serveAdmission sends a task to a peer that may join it.
func (n *Network) serveAdmission(stream network.Stream) {
	if err := n.admit(stream); err != nil {
		n.Log.Info("cannot admit a peer", "peer", stream.Conn().RemotePeer(), "error", err)
		_ = stream.Reset()
		return
	}
	_ = stream.Close()
}

func (n *Network) admit(stream network.Stream) error {
	from := stream.Conn().RemotePeer()
	if !n.Policy.MayTakePart(from) {
		return access.ErrNotAllowed
	}
	leave, err := n.admitting.Admit(stream, n.Policy, n.ReportViolation)
	if err != nil {
		return err
	}
	defer leave()
	ends := invitation.Ends{Opened: from, Accepted: n.Host.ID(), Protocol: admission.Protocol}
	err = admission.Serve(stream, ends, func(name cid.Cid) *admission.Entry { return n.entryOf(name, from) })
	if errors.Is(err, admission.ErrMalformed) || errors.Is(err, invitation.ErrForeign) {
		n.ReportViolation(from, 1, err)
	}
	return err
}

// entryOf returns what the node knows about the name of a task or of a guest string; nil: nothing.
func (n *Network) entryOf(name cid.Cid, from peer.ID) *admission.Entry {
	if t := n.topicCalled(name); t != nil {
		return &admission.Entry{Keys: t.keys, Answer: func() admission.Response {
			return admission.Response{Task: t.task.Canonical()}
		}}
	}
	g, err := n.Guests.Find(name)
	if err != nil {
		n.Log.Warn("a guest string cannot be read", "error", err)
		return nil
	}
	if g == nil {
		return nil
	}
	return &admission.Entry{Keys: g.Token.Keys(), Answer: func() admission.Response { return n.admitGuest(name, g, from) }}
}

// topicCalled returns the topic of a task by its ID or, if it has an invitation, by its tag.
func (n *Network) topicCalled(name cid.Cid) *Topic {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, t := range n.topics {
		if t.called == name {
			return t
		}
	}
	return nil
}

// admitGuest records the use of a guest string by a peer that has proved its token.
func (n *Network) admitGuest(name cid.Cid, g *store.Guest, from peer.ID) admission.Response {
	n.mu.Lock()
	t := n.topics[g.Task]
	n.mu.Unlock()
	if t == nil || t.keys == nil {
		n.Warn("guest string " + g.Name + " was used, but this node does not run its task by invitation")
		return admission.Response{Status: admission.Unknown}
	}
	i, err := n.Guests.Use(name, from, time.Now())
	switch {
	case errors.Is(err, store.ErrGuestExpired):
		return admission.Response{Status: admission.Expired}
	case errors.Is(err, store.ErrGuestUsedUp):
		return admission.Response{Status: admission.UsedUp}
	case errors.Is(err, store.ErrGuestRevoked):
		return admission.Response{Status: admission.Revoked}
	case errors.Is(err, fs.ErrNotExist):
		return admission.Response{Status: admission.Unknown}
	case err != nil:
		n.Warn("guest string " + g.Name + ": the use by " + from.String() + " cannot be recorded, so it is refused: " + err.Error())
		return admission.Response{Status: admission.Unavailable}
	}
	t.log.Info("a guest string admits a peer", "guest", g.Name, "peer", from)
	return admission.Response{Invitation: i.Text(), Task: t.task.Canonical()}
}

// registerForGuests registers the node at a hub under the name that guest strings have, while a guest
// string is valid. Otherwise the hub would not relay connections of their holders.
func (t *Topic) registerForGuests(h *hub.Link) {
	n := t.net
	var connection uint64
	var registered time.Time
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-time.After(n.Policy.Jittered(receptionPause)):
		}
		if n.Host.Network().Connectedness(h.ID) != network.Connected || !n.Guests.Expects(t.id, time.Now()) {
			registered = time.Time{}
			continue
		}
		record := t.recordOf(n.Host.ID())
		if record == nil || connection == h.Connections() && time.Since(registered) < receptionRenewal {
			continue
		}
		c := h.Connections()
		request := protocol.RendezvousRequest{Task: t.keys.Reception(), PeerRecord: record}
		if err := hub.Register(t.ctx, n.Host, h.ID, request, func([]byte, network.Conn) error { return nil }); err != nil {
			t.log.Info("a hub does not introduce holders of guest strings", "peer", h.ID, "error", err)
			continue
		}
		connection, registered = c, time.Now()
	}
}

// RequestAdmission asks a peer for the task of a string, over a connection that exists or at known
// addresses.
func (n *Network) RequestAdmission(ctx context.Context, from peer.ID, t admission.Ticket) (canonical []byte, invited *invitation.Invitation, err error) {
	ctx, cancel := context.WithTimeout(ctx, admissionTimeout)
	defer cancel()
	stream, err := n.Host.NewStream(ctx, from, admission.Protocol)
	if err != nil {
		return nil, nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = stream.SetDeadline(deadline) // without it, the context still ends the dial
	}
	ends := invitation.Ends{Opened: n.Host.ID(), Accepted: from, Protocol: admission.Protocol}
	canonical, invited, err = admission.Request(stream, ends, t)
	if err != nil {
		_ = stream.Reset()
		return nil, nil, err
	}
	_ = stream.Close() // an error means that the peer has closed the stream first
	return canonical, invited, nil
}

// Introduce registers the node at a connected hub under a name, and returns the nodes that the hub
// introduces.
func (n *Network) Introduce(ctx context.Context, h *hub.Link, name cid.Cid) (found []peer.AddrInfo, err error) {
	record := n.recordOf(n.Host.ID())
	if record == nil {
		return nil, errors.New("this node has no signed addresses yet")
	}
	request := protocol.RendezvousRequest{Task: name, PeerRecord: record}
	err = hub.Register(ctx, n.Host, h.ID, request, func(sealed []byte, by network.Conn) error {
		opened, err := protocol.OpenRecord(sealed)
		if err != nil {
			return err
		}
		addresses := append(n.Policy.WorthTrying(opened.Addrs, by.RemoteMultiaddr()), peers.CircuitThrough(h.ID))
		found = append(found, peer.AddrInfo{ID: opened.PeerID, Addrs: addresses})
		return nil
	})
	return found, err
}
