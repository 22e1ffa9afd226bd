package node_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"

	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func loopbackAddresses() []string {
	return []string{"/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0"}
}

func sphere(_ context.Context, d task.Design) (float64, error) {
	x, y := d.Float("x"), d.Float("y")
	return x*x + y*y, nil
}

func evaluate(t *testing.T, s *node.Session, evals int) {
	t.Helper()
	if err := s.Run(t.Context(), sphere, node.RunOptions{Evals: evals}); err != nil {
		t.Fatal(err)
	}
}

func statusOf(t *testing.T, s *node.Session) node.Status {
	t.Helper()
	status, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func TestTwoTasksOnOneNode(t *testing.T) {
	t.Parallel()
	other := strings.Replace(bowl, "name: bowl", "name: other", 1)
	a := loopback(t)
	b := loopback(t, a.Addresses()[0])
	sessions := []*node.Session{join(t, a, bowl, 1), join(t, a, other, 2), join(t, b, bowl, 3), join(t, b, other, 4)}
	if _, err := a.Join(t.Context(), parse(t, bowl), node.JoinOptions{}); err == nil || !strings.Contains(err.Error(), `task "bowl"`) || !strings.Contains(err.Error(), "joined already") {
		t.Errorf("joining twice: %v", err)
	}
	for i, s := range sessions {
		evaluate(t, s, 4+i)
	}
	for i, s := range sessions {
		eventually(t, "shares of the other node", func() bool { return statusOf(t, s).SharesReceived > 0 })
		if status := statusOf(t, s); status.Trials["done"] != 4+i || len(trialsOf(t, s)) != 4+i {
			t.Errorf("session %d: %+v", i, status)
		}
	}
	// Leaving one task leaves the other alone.
	if err := sessions[0].Close(); err != nil {
		t.Fatal(err)
	}
	evaluate(t, sessions[1], 8)
}

// TestDifferentTasksNeverMix: one key of difference, and connected nodes have
// nothing to say to each other.
func TestDifferentTasksNeverMix(t *testing.T) {
	t.Parallel()
	a := loopback(t)
	b := loopback(t, a.Addresses()[0])
	first := join(t, a, bowl, 1)
	second := join(t, b, strings.Replace(bowl, "high: 2}\nsurrogate", "high: 3}\nsurrogate", 1), 2)
	common := strings.Replace(bowl, "name: bowl", "name: common", 1)
	one, two := join(t, a, common, 3), join(t, b, common, 4)
	if first.Task().ID() == second.Task().ID() {
		t.Fatal("the tasks are the same")
	}
	for _, s := range []*node.Session{first, second, one, two} {
		evaluate(t, s, 6)
	}
	// The common task proves that the two talk.
	for _, s := range []*node.Session{one, two} {
		eventually(t, "shares on the common task", func() bool { return statusOf(t, s).SharesReceived > 0 })
	}
	for _, s := range []*node.Session{first, second} {
		status := statusOf(t, s)
		if status.SharesReceived > 0 || len(status.TopicPeers) > 0 || len(status.Present) > 1 || status.SharesSent == 0 {
			t.Errorf("status %+v", status)
		}
		for _, trial := range trialsOf(t, s) {
			if trial.Why.Peer != "" {
				t.Errorf("trial %+v", trial)
			}
		}
	}
}

func ownHost(t *testing.T, options ...libp2p.Option) host.Host {
	t.Helper()
	h, err := libp2p.New(append(options, libp2p.ListenAddrStrings(loopbackAddresses()...))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func TestHostOfTheUser(t *testing.T) {
	t.Parallel()
	h := ownHost(t)
	peer := loopback(t)
	their := join(t, peer, bowl, 9)
	for i := range 2 { // a second node may use the host after the first
		n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Host: h, Peers: peer.Addresses()[:1]}
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n.ID() != h.ID() {
			t.Errorf("ID %v, want that of the host, %v", n.ID(), h.ID())
		}
		s := join(t, n, bowl, uint64(i))
		before := statusOf(t, their).SharesReceived
		evaluate(t, s, 5)
		eventually(t, "a share of the node at its peer", func() bool { return statusOf(t, their).SharesReceived > before || i > 0 })
		if err := n.Close(); err != nil {
			t.Error("Close:", err)
		}
		if len(h.Addrs()) == 0 || len(h.Network().ListenAddresses()) == 0 {
			t.Error("the node has closed the user's host")
		}
		for _, protocol := range h.Mux().Protocols() {
			if strings.HasPrefix(string(protocol), "/fbo/") {
				t.Errorf("the host still speaks %s", protocol)
			}
		}
	}
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	busy := loopback(t)
	for _, c := range []struct {
		node *node.Node
		want string
	}{
		{&node.Node{Strategies: all.Strategies()}, "Node.Dir is missing"},
		{&node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: []string{"foo"}}, `listen address "foo"`},
		{&node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Peers: []string{"foo"}}, `peer address "foo"`},
		{&node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Peers: []string{"/ip4/127.0.0.1/tcp/1"}}, "it must end in /p2p/ and the peer's ID"},
		{&node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: []string{"/ip4/192.0.2.1/tcp/0"}}, "listen on [/ip4/192.0.2.1/tcp/0]"},
		{&node.Node{Strategies: all.Strategies(), Dir: busy.Dir, Listen: loopbackAddresses()}, "directory " + busy.Dir + ": in use by another process"},
	} {
		n := c.node
		err := n.Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if n.Dir == busy.Dir && !errors.Is(err, node.ErrBusy) {
			t.Errorf("%v is not ErrBusy", err)
		}
		if _, err := n.Join(t.Context(), parse(t, bowl), node.JoinOptions{}); err == nil || !strings.Contains(err.Error(), "call Start first") {
			t.Errorf("Join after a failed start: %v", err)
		}
		if err := n.Close(); err != nil {
			t.Errorf("Close after a failed start: %v", err)
		}
	}
	if err := busy.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "already started") {
		t.Errorf("Start twice: %v", err)
	}
}

// TestStartAgainAfterAFailedStart: the obstacle is gone, and the same Node starts.
func TestStartAgainAfterAFailedStart(t *testing.T) {
	t.Parallel()
	first := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses()}
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := &node.Node{Strategies: all.Strategies(), Dir: first.Dir, Listen: loopbackAddresses()}
	if err := second.Start(t.Context()); !errors.Is(err, node.ErrBusy) {
		t.Fatalf("Start: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCancelledStartAndJoin(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses()}
	if err := n.Start(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("Start: %v", err)
	}
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Join(cancelled, parse(t, bowl), node.JoinOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Join: %v", err)
	}
	evaluate(t, join(t, n, bowl, 1), 1)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	if err := new(node.Node).Close(); err != nil {
		t.Errorf("Close of a node that never started: %v", err)
	}
	n := loopback(t)
	s := join(t, n, bowl, 1)
	trial := ask(t, s)
	for range 2 {
		if err := n.Close(); err != nil {
			t.Error("Close:", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error("Close of the session after that of the node:", err)
	}
	if err := s.Tell(t.Context(), trial.ID, 1); !errors.Is(err, node.ErrClosed) {
		t.Errorf("Tell: %v", err)
	}
	if _, err := n.Join(t.Context(), parse(t, bowl), node.JoinOptions{}); !errors.Is(err, node.ErrClosed) {
		t.Errorf("Join: %v", err)
	}
}

// TestRestartRestoresState: everything but what was cut off is as it was.
func TestRestartRestoresState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var before []strategy.Trial
	var epoch uint64
	for i := range 3 {
		n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: loopbackAddresses()}
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := join(t, n, bowl, 1)
		status := statusOf(t, s)
		if status.Starts <= epoch {
			t.Errorf("epoch %d after %d", status.Starts, epoch)
		}
		epoch = status.Starts
		after := trialsOf(t, s)
		if !slices.EqualFunc(before, after, func(a, b strategy.Trial) bool {
			return a.ID == b.ID && a.Design.Equal(b.Design) && a.State == b.State && a.Outcome.Value == b.Outcome.Value
		}) {
			t.Errorf("trials were %+v and are %+v", before, after)
		}
		evaluate(t, s, 3*(i+1))
		before = trialsOf(t, s)
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCloseReleasesEverything is not parallel: it counts goroutines.
func TestCloseReleasesEverything(t *testing.T) {
	whole := func() {
		a := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses()}
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		b := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: loopbackAddresses(), MDNS: true,
			Peers: []string{a.Addresses()[0], "/ip4/127.0.0.1/tcp/9/p2p/12D3KooWKykovPgZ8oYpymctQjbcaLxAjJDzXhoUcHjvpWpmWRGK"}}
		if err := b.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		sessions := []*node.Session{join(t, a, bowl, 1), join(t, b, bowl, 2)}
		for _, s := range sessions {
			evaluate(t, s, 5)
		}
		eventually(t, "a share", func() bool { return statusOf(t, sessions[0]).SharesReceived > 0 })
		busy := &node.Node{Strategies: all.Strategies(), Dir: a.Dir, Listen: loopbackAddresses()} // a start that fails
		if err := busy.Start(t.Context()); err == nil {
			t.Fatal("Start on a busy directory")
		}
		notOurs := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: []string{"/ip4/192.0.2.1/tcp/0"}} // and one that fails late
		if err := notOurs.Start(t.Context()); err == nil {
			t.Fatal("Start on an address of nobody")
		}
		for _, n := range []*node.Node{a, b} {
			if err := n.Close(); err != nil {
				t.Error("Close:", err)
			}
		}
	}
	whole() // libraries start a few goroutines once, for ever
	before := runtime.NumGoroutine()
	whole()
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(50 * time.Millisecond)
	}
}
