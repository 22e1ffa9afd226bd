// Package probe checks whether a peer is reachable, and which tasks it works on.
package probe

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
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

// Errors of a probe.
var (
	// ErrPeerAddress: the address is invalid; nothing was sent.
	ErrPeerAddress = errors.New("not an address of a peer")
	// ErrUnreachable: no peer answered there.
	ErrUnreachable = errors.New("no answer")
	// ErrClock: one of the two hosts refuses the certificate of the other, because their clocks
	// differ by more than an hour.
	ErrClock = errors.New("the clocks differ by more than an hour")
	// ErrWrongPeer: another peer than the named one answered.
	ErrWrongPeer = errors.New("another peer answers there")
)

// Reach is the result of a probe.
type Reach struct {
	ID      peer.ID
	Address string        // the one that answered, which names the transport
	RTT     time.Duration // of one ping
	Agent   string        // name of the peer's program, sanitized for display
	Tasks   []string      // IDs of the tasks that it advertises, sorted; one that it is just joining may be missing
	Tags    []string      // the same for tasks that it has joined by invitation; see invitation.Keys.Tag
	Named   []string      // those of them with the requested name, sorted
}

const maxAgent = 100 // characters of a program's name

// Probe connects once to the peer at an address of the form that Node.Peers accepts, under a new
// identity. It therefore affects neither a running node of the same machine nor the peer's
// knowledge of that node. If taskName is not empty, it asks which of the peer's tasks have that
// name. Errors wrap ErrPeerAddress, ErrUnreachable, ErrClock or ErrWrongPeer; the context limits
// the duration.
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

// probeTries is the number of attempts for a connection that the peer ends at once: the reason that
// it sends is lost if the connection is reset before it is read.
const probeTries = 4

// From is Probe from a host, for a peer with known addresses.
func From(ctx context.Context, h host.Host, target peer.AddrInfo, taskName string) (r Reach, err error) {
	for range probeTries {
		if r, err = probeOnce(ctx, h, target, taskName); err == nil || !endedByPeer(err) {
			break
		}
		if s, ok := h.Network().(*swarm.Swarm); ok {
			s.Backoff().Clear(target.ID)
		}
	}
	return r, err
}

// endedByPeer reports whether the peer ended an established connection without a reason that this
// host has read. The errors are text only.
func endedByPeer(err error) bool {
	return errors.Is(err, ErrUnreachable) &&
		(strings.Contains(err.Error(), "connection reset by peer") || strings.Contains(err.Error(), "connection failed"))
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
			// The host no longer holds a connection that the peer has ended, nor the reason.
			_, ended := c.NewStream(ctx)
			if ended != nil && otherTime(ended) {
				err = fmt.Errorf("%w: %s", ErrClock, sanitize.Text(ended.Error(), nethost.MaxReason))
			}
		default:
		}
	}
	return r, err
}

// otherTime reports whether an error of a connection is about the time of a certificate: this host
// refuses that of the peer, or the peer that of this host. Both errors are text only: libp2p wraps
// neither.
func otherTime(err error) bool {
	return strings.Contains(err.Error(), "certificate has expired or is not yet valid") || strings.Contains(err.Error(), "tls: bad certificate")
}

// explainDial distinguishes a wrong peer, different clocks and a missing answer.
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
	p := tasknames.Of(h, id) // known, since Connect waits for identification
	r.Tasks, r.Tags = p.Tasks, p.Tags
	if taskName != "" && p.Answers {
		// Without an answer the names stay unknown.
		r.Named, _ = tasknames.Query(ctx, h, id, taskName, p.Tasks)
	}
	return r, nil
}
