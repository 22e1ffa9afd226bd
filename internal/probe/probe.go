// Package probe checks whether a peer is reachable, and which tasks it works on.
package probe

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"

	"github.com/fbo-node/fbo/internal/nethost"
	"github.com/fbo-node/fbo/internal/peeraddr"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/internal/tasknames"
)

// Errors of Probe and From.
var (
	// ErrPeerAddress means that the address is invalid; nothing was sent.
	ErrPeerAddress = errors.New("not an address of a peer")
	// ErrUnreachable means that no peer answered at the address.
	ErrUnreachable = errors.New("no answer")
	// ErrClock means that one host rejected the other's certificate because their clocks differ by
	// more than an hour.
	ErrClock = errors.New("the clocks differ by more than an hour")
	// ErrWrongPeer means that a peer with another ID answered.
	ErrWrongPeer = errors.New("another peer answers there")
)

// Reach is the result of a probe.
type Reach struct {
	ID      peer.ID
	Address string        // address that answered; it shows the transport
	RTT     time.Duration // round-trip time of one ping
	Agent   string        // name of the peer's program, sanitised for display
	Tasks   []string      // sorted IDs of the tasks that the peer advertises; a task that it is just joining may be missing
	Tags    []string      // sorted tags of the tasks that it has joined by invitation; see invitation.Keys.Tag
	Named   []string      // sorted IDs of those Tasks that have the requested name
}

const maxAgent = 100 // characters of a program's name

// Probe connects once to the peer at an address, which has the form of those in Node.Peers. It uses
// a new identity, so that it affects neither a running node on this machine nor what the peer knows
// of that node. If taskName is not empty, it asks which of the peer's tasks have that name. Errors
// wrap ErrPeerAddress, ErrUnreachable, ErrClock or ErrWrongPeer. The context limits the duration.
func Probe(ctx context.Context, address, taskName string) (Reach, error) {
	if ctx == nil {
		return Reach{}, errors.New("Probe needs a context, got nil; context.Background() is one without an end")
	}
	targets, err := peeraddr.ParsePeers([]string{address})
	if err != nil {
		return Reach{}, fmt.Errorf("%w: %w", ErrPeerAddress, err)
	}
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return Reach{}, fmt.Errorf("make an identity: %w", err)
	}
	h, err := nethost.New(nethost.Config{Key: key, Traffic: &nethost.Traffic{}, Connections: nethost.MaxConnections})
	if err != nil {
		return Reach{}, err
	}
	defer h.Close()
	return From(ctx, h, targets[0], taskName)
}

// probeTries is the number of attempts if the peer ends each connection immediately. One is not
// sufficient: the peer's reason is lost if the connection is reset before the reason is read.
const probeTries = 4

// From is Probe with an existing host, for a peer with known addresses.
func From(ctx context.Context, h host.Host, target peer.AddrInfo, taskName string) (r Reach, err error) {
	for range probeTries {
		if r, err = probeOnce(ctx, h, target, taskName); err == nil || !endedByPeer(err) {
			break
		}
		_ = h.Network().ClosePeer(target.ID) // or the next try could find the ended connection
		if s, ok := h.Network().(*swarm.Swarm); ok {
			s.Backoff().Clear(target.ID)
		}
	}
	return r, err
}

// endedTexts are those of errors of a connection that the peer ended. A host that writes before it
// reads the reason gets the first ones: a reset, or after the end of the peer's stream a broken pipe.
var endedTexts = []string{"connection reset by peer", "broken pipe", "connection failed"}

// endedByPeer reports whether the peer ended an established connection, and this host did not get a
// reason. libp2p returns such errors only as text.
func endedByPeer(err error) bool {
	return errors.Is(err, ErrUnreachable) &&
		slices.ContainsFunc(endedTexts, func(text string) bool { return strings.Contains(err.Error(), text) })
}

func probeOnce(ctx context.Context, h host.Host, target peer.AddrInfo, taskName string) (Reach, error) {
	connections := make(chan network.Conn, 1)
	watch := &network.NotifyBundle{ConnectedF: func(_ network.Network, c network.Conn) {
		select {
		case connections <- c:
		default:
		}
	}}
	h.Network().Notify(watch)
	defer h.Network().StopNotify(watch)
	if err := h.Connect(ctx, target); err != nil {
		return Reach{}, explainDial(err)
	}
	r, err := reachOf(ctx, h, target.ID, taskName)
	if err != nil {
		select {
		case c := <-connections:
			// The host forgets a connection that the peer has ended, and with it the reason. The
			// connection itself still returns it.
			_, ended := c.NewStream(ctx)
			switch {
			case ended == nil:
			case otherTime(ended):
				err = fmt.Errorf("%w: %s", ErrClock, sanitize.Text(ended.Error(), nethost.MaxReason))
			default:
				err = fmt.Errorf("%w; the connection: %s", err, sanitize.Text(ended.Error(), nethost.MaxReason))
			}
		default:
		}
	}
	return r, err
}

// otherTime reports whether an error concerns the validity period of a certificate: this host
// rejected the peer's certificate, or the peer rejected this host's. libp2p returns both errors
// only as text.
func otherTime(err error) bool {
	return strings.Contains(err.Error(), "certificate has expired or is not yet valid") || strings.Contains(err.Error(), "tls: bad certificate")
}

// explainDial returns an error that wraps ErrWrongPeer, ErrClock or ErrUnreachable.
func explainDial(err error) error {
	var dial *swarm.DialError
	if errors.As(err, &dial) {
		for _, attempt := range dial.DialErrors {
			var wrong sec.ErrPeerIDMismatch
			if errors.As(attempt.Cause, &wrong) {
				return fmt.Errorf("%w: it is %v", ErrWrongPeer, wrong.Actual)
			}
		}
	}
	if otherTime(err) {
		return fmt.Errorf("%w: %s", ErrClock, nethost.DialReason(err))
	}
	return fmt.Errorf("%w: %s", ErrUnreachable, nethost.DialReason(err))
}

func reachOf(ctx context.Context, h host.Host, id peer.ID, taskName string) (Reach, error) {
	r := Reach{ID: id}
	if connections := h.Network().ConnsToPeer(id); len(connections) > 0 {
		r.Address = connections[0].RemoteMultiaddr().String()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var answer ping.Result
	select {
	case answer = <-ping.Ping(ctx, h, id):
	case <-ctx.Done():
	}
	if err := cmp.Or(ctx.Err(), answer.Error); err != nil {
		return r, fmt.Errorf("%w: connected, but no answer to a ping: %s", ErrUnreachable, sanitize.Text(err.Error(), nethost.MaxReason))
	}
	r.RTT = answer.RTT
	if program, err := h.Peerstore().Get(id, "AgentVersion"); err == nil {
		name, _ := program.(string)
		r.Agent = sanitize.Text(name, maxAgent)
	}
	p := tasknames.Of(h, id) // the tasks are known, since Connect waits for libp2p's identify protocol
	r.Tasks, r.Tags = p.Tasks, p.Tags
	if taskName != "" && p.Answers {
		// If the peer does not answer, Named remains empty.
		r.Named, _ = tasknames.Query(ctx, h, id, taskName, p.Tasks)
	}
	return r, nil
}
