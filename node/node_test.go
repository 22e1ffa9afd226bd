package node_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const bowl = `
name: bowl
goal: minimize
parameters:
  - {name: x, type: float, low: -2, high: 2}
  - {name: y, type: float, low: -2, high: 2}
surrogate: {features: 64}
strategy: {type: fts}
`

func parse(t *testing.T, text string) *task.Task {
	t.Helper()
	parsed, err := all.Strategies().Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func loopback(t *testing.T, peers ...string) *node.Node {
	t.Helper()
	n := &node.Node{
		Strategies: all.Strategies(),
		Dir:        t.TempDir(),
		Listen:     []string{"/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0"},
		Peers:      peers,
	}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error("Close:", err)
		}
	})
	return n
}

func join(t *testing.T, n *node.Node, text string, seed uint64) *node.Session {
	t.Helper()
	session, err := n.Join(t.Context(), parse(t, text), node.JoinOptions{Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// patience bounds every wait on real sockets and processes, not what is measured: the
// machine may be loaded.
const patience = 3 * time.Minute

// eventually waits for a condition that real sockets need some time to reach.
func eventually(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !reached(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never reached: %s", what)
		}
	}
}

func TestThreeNodesOverRealSocketsHelpEachOther(t *testing.T) {
	first := loopback(t)
	nodes := []*node.Node{first, loopback(t, first.Addresses()[0]), loopback(t, first.Addresses()[0])}
	var sessions []*node.Session
	for i, n := range nodes {
		sessions = append(sessions, join(t, n, bowl, uint64(i)))
	}
	eventually(t, "everybody sees everybody", func() bool {
		for _, s := range sessions {
			status, err := s.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(status.Present) != 3 {
				return false
			}
		}
		return true
	})
	ended := make(chan error)
	for i, s := range sessions {
		shift := 0.1 * float64(i)
		go func() {
			ended <- s.Run(t.Context(), func(_ context.Context, d task.Design) (float64, error) {
				return math.Pow(d.Float("x")-0.7-shift, 2) + math.Pow(d.Float("y")+0.3, 2), nil
			}, node.RunOptions{Evals: 12})
		}()
	}
	for range sessions {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	fromPeers := 0
	for _, s := range sessions {
		trials, err := s.Trials(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(trials) != 12 {
			t.Errorf("%d trials, want 12", len(trials))
		}
		for _, trial := range trials {
			t.Log(trial.ID, trial.Design, trial.Outcome.Value, trial.Why)
			if trial.Why.Peer != "" {
				fromPeers++
			}
		}
		status, err := s.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if status.SharesSent == 0 || status.SharesReceived == 0 || status.BytesSent == 0 {
			t.Errorf("status %+v: shares and bytes must have flown", status)
		}
	}
	if fromPeers == 0 {
		t.Error("no query came from a peer")
	}
}
