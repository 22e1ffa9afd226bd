package node

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/fbo-node/fbo/node/internal/peers"
)

// ParseAllow reads a list for Node.Allow: one peer ID a line, as `fbo-node peer-id`
// prints it; what follows a # is a comment, empty lines count for nothing. An
// error starts with the number of its line. A list that names nobody is an
// error too, since it is more likely a mistake than a wish.
func ParseAllow(r io.Reader) ([]peer.ID, error) {
	var allowed []peer.ID
	lines := bufio.NewScanner(r)
	number := 0
	for lines.Scan() {
		number++
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		id, err := peer.Decode(text)
		if err != nil {
			return nil, fmt.Errorf("%d: %q is no peer ID: %w (accepted: one ID a line, as `fbo-node peer-id` prints it, such as 12D3Koo…)", number, text, err)
		}
		allowed = append(allowed, id)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%d: %w", number+1, err)
	}
	if len(allowed) == 0 {
		return nil, fmt.Errorf("%d: the list names nobody", max(number, 1))
	}
	return allowed, nil
}

// gate keeps out whoever is not on the allow list, or is banned: nobody dials it, no connection with
// it gets past the handshake that proves its identity, its gossip is not read, its streams are reset,
// and shares that it has written are not taken from others either.
type gate struct {
	policy     *peers.Policy
	limited    bool                                    // whether dials take from the policy's budgets
	notAllowed func(peer.ID, multiaddr.Multiaddr) bool // set by tests: addresses that cannot be reached
}

var _ connmgr.ConnectionGater = (*gate)(nil)

func (g *gate) InterceptPeerDial(id peer.ID) bool { return g.policy.MayConnect(id) }

func (g *gate) InterceptAddrDial(id peer.ID, address multiaddr.Multiaddr) bool {
	if g.notAllowed != nil && g.notAllowed(id, address) {
		return false
	}
	return !g.limited || g.policy.AllowDial(time.Now(), id, address)
}

// InterceptAccept lets everybody knock: who it is shows only the handshake.
func (g *gate) InterceptAccept(network.ConnMultiaddrs) bool { return true }

func (g *gate) InterceptSecured(_ network.Direction, id peer.ID, between network.ConnMultiaddrs) bool {
	return g.policy.MayConnect(id) && !g.policy.Blocked(time.Now(), id, between.RemoteMultiaddr())
}

func (g *gate) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }

// inspect drops whatever a peer that may not take part says by gossip, its
// subscriptions included. It matters with a Host of the user's, whose
// connections have no gate.
func (g *gate) inspect(from peer.ID) error {
	if !g.policy.MayTakePart(from) {
		return fmt.Errorf("%v is not on the list of those who may take part", from)
	}
	return nil
}

// pubsubBlacklist is whose gossip is dropped, by whomever it is passed on: banned nodes,
// and those that may not take part.
type pubsubBlacklist struct{ node *Node }

var _ pubsub.Blacklist = pubsubBlacklist{}

// Add implements pubsub.Blacklist; nobody is added.
func (pubsubBlacklist) Add(peer.ID) bool { return false }

// Contains implements pubsub.Blacklist.
func (u pubsubBlacklist) Contains(id peer.ID) bool {
	return u.node.policy.Refused(time.Now(), id)
}
