package node_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/exchange/results"
	"github.com/fbo-node/fbo/node"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// With share: results a newcomer receives all results of its peer over real sockets, uses them for its
// first design, and has them after a restart without any peer.
func TestResultsOverRealSocketsAndARestart(t *testing.T) {
	t.Parallel()
	text := strings.Replace(bowl, "{type: fts}", "{type: peer-prior, share: results}", 1)
	measure := func(d task.Design) float64 {
		return math.Pow(d.Float("x")-0.7, 2) + math.Pow(d.Float("y")+0.3, 2)
	}
	author := loopback(t)
	sharing := join(t, author, text, 1)
	if err := sharing.Run(t.Context(), func(_ context.Context, d task.Design) (float64, error) { return measure(d), nil }, node.RunOptions{Evals: 7}); err != nil {
		t.Fatal(err)
	}
	failing := ask(t, sharing)
	if err := sharing.Fail(t.Context(), failing.ID, "out of memory"); err != nil {
		t.Fatal(err)
	}
	want := trialsOf(t, sharing)

	open := func(dir string, peers ...string) (*node.Node, *node.Session) {
		n := &node.Node{Strategies: all.Strategies(), Dir: dir, Listen: loopbackAddresses(), Peers: peers}
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		return n, join(t, n, text, 2)
	}
	received := func(s *node.Session) bool {
		view, err := s.View(context.WithoutCancel(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		for _, peer := range results.Of(view) {
			if peer.Share.Author != author.ID() || len(peer.Results.Results) != len(want) {
				continue
			}
			for i, r := range peer.Results.Results {
				trial := want[i]
				if failed := trial.State == strategy.Failed; r.Failed != failed || !failed && r.Value != trial.Outcome.Value {
					t.Errorf("result %d is %+v, want that of %v", i, r, trial)
				}
				for k, u := range sharing.Task().Space.Encode(trial.Design) {
					if math.Abs(r.Point.Coordinates[k]-u) > 1e-7 {
						t.Errorf("result %d is at %v, want %v", i, r.Point, trial.Design)
					}
				}
			}
			return true
		}
		return false
	}

	dir := t.TempDir()
	n, s := open(dir, author.Addresses()...)
	eventually(t, "the newcomer has all results", func() bool { return received(s) })
	first := ask(t, s)
	if first.Why.Source != "peers" || first.Why.PeerCount != 1 || measure(first.Design) > 0.5 {
		t.Errorf("the first design is %v by %+v", first.Design, first.Why)
	}
	if err := s.Tell(t.Context(), first.ID, measure(first.Design)); err != nil {
		t.Fatal(err)
	}
	for _, stopped := range []*node.Node{n, author} {
		if err := stopped.Close(); err != nil {
			t.Fatal(err)
		}
	}

	n, s = open(dir)
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	if !received(s) {
		t.Error("the restarted node has not the results of its peer")
	}
	if second := ask(t, s); second.Why.Source != "peers" || second.Design.Equal(first.Design) {
		t.Errorf("the second design is %v by %+v", second.Design, second.Why)
	}
	if all := trialsOf(t, s); !slices.ContainsFunc(all, func(trial strategy.Trial) bool { return trial.ID == first.ID && trial.State == strategy.Done }) {
		t.Errorf("trials %v", all)
	}
}
