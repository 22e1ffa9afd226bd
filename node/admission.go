package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"

	"github.com/fbo-node/fbo/internal/admission"
	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/node/internal/hub"
	"github.com/fbo-node/fbo/node/internal/peers"
	"github.com/fbo-node/fbo/task"
)

// admissionPause is the pause between attempts of RequestTask. An honest node may ask more often
// (peers.Sync).
const admissionPause = time.Second

// ErrNoTask means that none of the nodes that RequestTask has asked has sent the task.
var ErrNoTask = errors.New("no node has sent task")

// RequestTask gets the task that a string of `fbo-node task invite` names, and its invitation, from
// nodes that work on the task. The invitation is nil if the task is open. RequestTask connects the
// node to the addresses of the string, and tries until the context ends. If the node that admits
// refuses the string, it returns at once. To join the task, pass JoinOptions the addresses, which
// JoinAddresses returns.
//
// The error wraps ErrNoTask if no node has sent the task before the context ended.
func (n *Node) RequestTask(ctx context.Context, text string) (*task.Task, *Invitation, error) {
	if ctx == nil {
		return nil, nil, needsContext("Node.RequestTask")
	}
	if n.network == nil {
		return nil, nil, needsStart("Node.RequestTask")
	}
	ticket, err := admission.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	hubs, named, err := n.parseContacts("the string", ticket.Hubs, ticket.Peers)
	if err != nil {
		return nil, nil, err
	}
	links, release, err := n.contacts.retain(hubs, named)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	r := requester{node: n, ticket: ticket, hubs: allLinks(n.hubs, links), foreign: map[peer.ID]bool{}}
	for {
		canonical, invited, err := r.round(ctx)
		if err != nil {
			return nil, nil, err
		}
		if canonical != nil {
			t, err := n.strategies.ParseCanonical("task "+ticket.Task.String(), canonical)
			if err == nil && t.ID() != ticket.Task {
				err = fmt.Errorf("the task of the string is %v, and this program reads it as %v: the programs are of different versions", ticket.Task, t.ID())
			}
			return t, invited, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("%w %v: %w", ErrNoTask, ticket.Task, r.reason())
		case <-time.After(admissionPause):
		}
	}
}

// JoinAddresses returns the addresses of hubs and peers in a string of `fbo-node task invite`, for
// JoinOptions.
func JoinAddresses(text string) (hubs, peers []string, err error) {
	t, err := admission.Parse(text)
	return t.Hubs, t.Peers, err
}

// requester requests the task of a ticket from all nodes that may have it.
type requester struct {
	node    *Node
	ticket  admission.Ticket
	hubs    []*hub.Link
	foreign map[peer.ID]bool // peers that do not know the secret
	last    error
}

func (r *requester) reason() error {
	if r.last == nil {
		return errors.New("none was found at the addresses of the string; check the network, and ask its sender whether a node runs")
	}
	return r.last
}

// round asks each node once. It returns nil without an error if none has sent the task.
func (r *requester) round(ctx context.Context) (canonical []byte, invited *invitation.Invitation, err error) {
	for _, id := range r.candidates(ctx) {
		if r.foreign[id] {
			continue
		}
		canonical, invited, err = r.node.network.RequestAdmission(ctx, id, r.ticket)
		var refusal *admission.Refusal
		switch {
		case err == nil:
			return canonical, invited, nil
		case errors.As(err, &refusal) && r.ticket.Kind == admission.Guest && refusal.Status != admission.Unavailable:
			return nil, nil, err
		case errors.Is(err, invitation.ErrForeign):
			r.foreign[id] = true
			err = &admission.Refusal{Status: admission.Unknown}
			if r.ticket.Kind == admission.Guest {
				return nil, nil, err
			}
		case errors.Is(err, admission.ErrMalformed):
			r.foreign[id] = true
			r.node.network.ReportViolation(id, 1, err)
			if r.ticket.Kind == admission.Guest {
				return nil, nil, err
			}
		case !errors.As(err, &refusal):
			err = fmt.Errorf("peer %v: %s", id, sanitize.Text(nethost.DialReason(err), nethost.MaxReason))
		}
		r.last = err
	}
	return nil, nil, nil
}

// candidates returns the peers to ask: the one that admits by a guest string, otherwise the peers of
// the string, its hubs, which may keep the task, and the nodes that the hubs introduce.
func (r *requester) candidates(ctx context.Context) (ids []peer.ID) {
	n, t := r.node, r.ticket
	meeting := t.Task
	switch t.Kind {
	case admission.Guest:
		meeting = t.Reception
		ids = append(ids, t.Admitter)
	case admission.Member:
		meeting = t.Secret.Keys().Meeting()
	}
	if t.Kind != admission.Guest {
		infos, err := peeraddr.ParsePeers(append(slices.Clone(t.Peers), t.Hubs...))
		if err != nil {
			return nil // cannot happen: Parse has checked them
		}
		for _, info := range infos {
			ids = append(ids, info.ID)
		}
	}
	for _, h := range r.hubs {
		if n.host.Network().Connectedness(h.ID) != network.Connected {
			continue // KeepConnected dials it
		}
		found, err := n.network.Introduce(ctx, h, meeting)
		if err != nil {
			r.last = fmt.Errorf("hub %v: %s", h.ID, sanitize.Text(err.Error(), nethost.MaxReason))
			continue
		}
		for _, info := range found {
			if info.ID == n.ID() || t.Kind == admission.Guest && info.ID != t.Admitter {
				continue
			}
			n.host.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.TempAddrTTL)
			if !slices.Contains(ids, info.ID) {
				ids = append(ids, info.ID)
			}
		}
		if t.Kind == admission.Guest {
			n.host.Peerstore().AddAddr(t.Admitter, peers.CircuitThrough(h.ID), peerstore.TempAddrTTL)
		}
	}
	return slices.DeleteFunc(ids, func(id peer.ID) bool {
		return n.host.Network().Connectedness(id) != network.Connected && len(n.host.Peerstore().Addrs(id)) == 0
	})
}
