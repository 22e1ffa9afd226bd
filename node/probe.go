package node

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"

	"github.com/fbo-node/fbo/internal/plain"
)

// What a probe that failed says, beside its text.
var (
	// ErrPeerAddress: the address cannot be read; nothing was sent.
	ErrPeerAddress = errors.New("not an address of a peer")
	// ErrUnreachable: nobody answered there.
	ErrUnreachable = errors.New("no answer")
	// ErrWrongPeer: somebody else than the named peer answered.
	ErrWrongPeer = errors.New("another peer answers there")
)

// Reach is what a probe found out about a peer.
type Reach struct {
	ID      peer.ID
	Address string        // the one that answered, which names the transport
	RTT     time.Duration // of one ping
	Agent   string        // what the peer calls its program, made fit to be shown
	Tasks   []string      // IDs of the tasks that it says it takes part in, sorted; one joined this moment may be missing
	Tags    []string      // the same of those that it has joined by invitation; see invitation.Keys.Tag
	Named   []string      // those of them whose name was asked for, sorted
}

const mostAgent = 100 // characters of a program's name

// Probe connects once to the peer at an address of the form that Node.Peers
// takes, under an identity made for the purpose, so that it disturbs neither a
// running node of the same machine nor the peer's idea of it. With the name of a
// task it asks which of the peer's tasks have that name; empty: none. Errors wrap
// ErrPeerAddress, ErrUnreachable or ErrWrongPeer; the context bounds the probe.
func Probe(ctx context.Context, address, taskName string) (Reach, error) {
	targets, err := ParsePeers([]string{address})
	if err != nil {
		return Reach{}, fmt.Errorf("%w: %w", ErrPeerAddress, err)
	}
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return Reach{}, fmt.Errorf("node: probe: %w", err)
	}
	h, err := newHost(hostConfig{key: key, traffic: &traffic{}, connections: mostConnections, gate: newGate("", nil, nil)})
	if err != nil {
		return Reach{}, err
	}
	defer h.Close()
	if err := h.Connect(ctx, targets[0]); err != nil {
		return Reach{}, explainDial(err)
	}
	return reachOf(ctx, h, targets[0].ID, taskName)
}

// explainDial tells a stranger from silence.
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
	return fmt.Errorf("%w: %s", ErrUnreachable, dialReason(err))
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
		return r, fmt.Errorf("%w: connected, but no answer to a ping: %s", ErrUnreachable, plain.Text(err.Error(), mostReason))
	}
	r.RTT = answer.RTT
	if program, err := h.Peerstore().Get(id, "AgentVersion"); err == nil {
		name, _ := program.(string)
		r.Agent = plain.Text(name, mostAgent)
	}
	p := partIn(h, id) // known, since Connect waits for identification
	r.Tasks, r.Tags = p.tasks, p.tags
	if taskName != "" && p.answers {
		// Without an answer the names stay unknown.
		r.Named, _ = askNamesakes(ctx, h, id, taskName, p.tasks)
	}
	return r, nil
}
