package node_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/probe"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// argumentCase calls the API with an argument that no program may pass. The call returns an error
// that names what is expected, and does not panic.
type argumentCase struct {
	name string
	call func() error
	want string // in the text of the error
}

func checkArguments(t *testing.T, cases []argumentCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if value := recover(); value != nil {
					t.Errorf("panic: %v", value)
				}
			}()
			if err := c.call(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, expected one with %q", err, c.want)
			}
		})
	}
}

func TestNodeStartReturnsErrorForInvalidOptions(t *testing.T) {
	var none context.Context
	start := func(change func(*node.Node)) func() error {
		return func() error {
			n := &node.Node{Strategies: all.Strategies(), Dir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/udp/0/quic-v1"}}
			change(n)
			err := n.Start(t.Context())
			return errors.Join(err, n.Close())
		}
	}
	checkArguments(t, []argumentCase{
		{"nil context", func() error { return (&node.Node{Strategies: all.Strategies(), Dir: t.TempDir()}).Start(none) }, "Start needs a context"},
		{"no directory", start(func(n *node.Node) { n.Dir = "" }), "Dir is missing"},
		{"no strategies", start(func(n *node.Node) { n.Strategies = nil }), "Node.Strategies is empty, expected the strategies that tasks may name: Strategies: strategy.Set{peerprior.Register()}"},
		{"empty set of strategies", start(func(n *node.Node) { n.Strategies = strategy.Set{} }), "Node.Strategies is empty"},
		{"hub without strategies", func() error {
			h := &node.Hub{Dir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
			if err := h.Start(t.Context()); err != nil {
				return err
			}
			_, err := h.Keep(t.Context(), parse(t, bowl))
			return errors.Join(err, h.Close())
		}, "Hub.Strategies is empty"},
		{"strategy without constructor", start(func(n *node.Node) {
			n.Strategies = strategy.Set{{StrategyType: task.StrategyType{Name: "empty"}}}
		}), `"empty" needs New`},
		{"negative number of observations", start(func(n *node.Node) { n.MaxObservations = -1 }), "MaxObservations is -1"},
		{"negative memory", start(func(n *node.Node) { n.MemoryLimit = -1 }), "MemoryLimit is -1"},
		{"too little memory", start(func(n *node.Node) { n.MemoryLimit = 1 << 20 }), "MemoryLimit is 1048576, expected 0 (no limit) or at least 67108864"},
		{"too few observations", start(func(n *node.Node) { n.MaxObservations = 1 }), "MaxObservations is 1"},
		{"join before start", func() error {
			_, err := (&node.Node{Strategies: all.Strategies()}).Join(t.Context(), parse(t, bowl), node.JoinOptions{})
			return err
		}, "call Start first"},
		{"tasks before start", func() error { _, err := (&node.Node{Strategies: all.Strategies()}).Known(); return err }, "call Start first"},
		{"history before start", func() error { _, err := (&node.Node{Strategies: all.Strategies()}).History("x"); return err }, "call Start first"},
		{"nil context of a hub", func() error { return (&node.Hub{Strategies: all.Strategies(), Dir: t.TempDir()}).Start(none) }, "Start needs a context"},
		{"hub keeps before start", func() error {
			_, err := (&node.Hub{Strategies: all.Strategies()}).Keep(t.Context(), parse(t, bowl))
			return err
		}, "call Start first"},
		{"nil context of a probe", func() error {
			_, err := probe.Probe(none, "/ip4/127.0.0.1/udp/1/quic-v1/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA", "")
			return err
		}, "Probe needs a context"},
	})
	if n := new(node.Node); n.ID() != "" || n.Addresses() != nil {
		t.Errorf("a node before Start has the ID %v and the addresses %v, expected none", n.ID(), n.Addresses())
	}
	if h := new(node.Hub); h.ID() != "" || h.Addresses() != nil {
		t.Errorf("a hub before Start has the ID %v and the addresses %v, expected none", h.ID(), h.Addresses())
	}
}

func TestNodeJoinReturnsErrorForInvalidArguments(t *testing.T) {
	n := loopback(t)
	var none context.Context
	good := parse(t, bowl)
	other := parse(t, strings.Replace(bowl, "name: x,", "name: z,", 1))
	withTask := func(joined *task.Task) func() error {
		return func() error { _, err := n.Join(t.Context(), joined, node.JoinOptions{}); return err }
	}
	with := func(options node.JoinOptions) func() error {
		return func() error { _, err := n.Join(t.Context(), good, options); return err }
	}
	bare := *good
	bare.Strategy = task.Strategy{}
	blank := *good
	blank.Surrogate = task.Surrogate{}
	unset := *good
	unset.Strategy.Settings = nil
	centre := other.Space.Decode([]float64{0.5, 0.5})
	checkArguments(t, []argumentCase{
		{"nil context", func() error { _, err := n.Join(none, good, node.JoinOptions{}); return err }, "Join needs a context"},
		{"nil task", withTask(nil), "Join needs a task"},
		{"zero task", withTask(new(task.Task)), "Join needs a task"},
		{"task without strategy", withTask(&bare), "Join needs a task"},
		{"task without surrogate", withTask(&blank), "Join needs a task"},
		{"task without settings", withTask(&unset), "strategy"},
		{"negative lease", with(node.JoinOptions{Lease: -time.Second}), "Lease is -1s"},
		{"zero design first", with(node.JoinOptions{Enqueue: []task.Design{{}}}), "Enqueue"},
		{"zero design suggested", with(node.JoinOptions{PriorDesigns: []task.Design{{}}}), "PriorDesigns"},
		{"design of another space", with(node.JoinOptions{Enqueue: []task.Design{centre}}), "Enqueue"},
	})
	session, err := n.Join(t.Context(), good, node.JoinOptions{})
	if err != nil {
		t.Fatalf("Join after the errors: %v", err)
	}
	trial := ask(t, session)
	evaluate := func(context.Context, task.Design) (float64, error) { return 0, nil }
	checkArguments(t, []argumentCase{
		{"nil context of Ask", func() error { _, err := session.Ask(none); return err }, "needs a context"},
		{"nil context of Tell", func() error { return session.Tell(none, trial.ID, 1) }, "needs a context"},
		{"nil context of Settle", func() error { return session.Settle(none) }, "needs a context"},
		{"nil context of Run", func() error { return session.Run(none, evaluate, node.RunOptions{Evals: 1}) }, "needs a context"},
		{"nil evaluator of Run", func() error { return session.Run(t.Context(), nil, node.RunOptions{Evals: 1}) }, "needs an evaluator"},
		{"nil evaluator of RunTrials", func() error { return session.RunTrials(t.Context(), nil, node.RunOptions{Evals: 1}) }, "needs an evaluator"},
		{"negative evaluations", func() error { return session.Run(t.Context(), evaluate, node.RunOptions{Evals: -1}) }, "Evals is -1"},
		{"negative failures", func() error { return session.Run(t.Context(), evaluate, node.RunOptions{MaxFailures: -1}) }, "MaxFailures is -1"},
		{"negative parallel", func() error { return session.Run(t.Context(), evaluate, node.RunOptions{Parallel: -2}) }, "Parallel is -2"},
		{"negative time limit", func() error { return session.Run(t.Context(), evaluate, node.RunOptions{TimeLimit: -time.Minute}) }, "TimeLimit is -1m0s"},
		{"negative timeout", func() error { return session.Run(t.Context(), evaluate, node.RunOptions{TrialTimeout: -time.Minute}) }, "TrialTimeout is -1m0s"},
		{"NaN as regret", func() error { return session.Run(t.Context(), evaluate, node.RunOptions{StopRegret: math.NaN()}) }, "StopRegret is NaN"},
		{"NaN as value", func() error { return session.Tell(t.Context(), trial.ID, math.NaN()) }, "not a finite number"},
		{"infinity as value", func() error { return session.Tell(t.Context(), trial.ID, math.Inf(1)) }, "not a finite number"},
		{"value of an unknown trial", func() error { return session.Tell(t.Context(), 1000, 1) }, "1000"},
		{"import of a zero design", func() error {
			_, err := session.Import(t.Context(), []node.Past{{Outcome: node.Outcome{Value: 1}}})
			return err
		}, "no values"},
		{"import of NaN", func() error {
			_, err := session.Import(t.Context(), []node.Past{{Design: trial.Design, Outcome: node.Outcome{Value: math.NaN()}}})
			return err
		}, "not a finite number"},
		{"weights of a zero view", func() error {
			_, err := session.PeerWeights(strategy.View{})
			return errors.Join(err, errors.New("no panic"))
		}, "no panic"},
	})
	if err := session.Tell(t.Context(), trial.ID, 1); err != nil {
		t.Errorf("Tell after the errors: %v", err)
	}
}
