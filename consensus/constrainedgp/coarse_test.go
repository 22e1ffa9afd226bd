package constrainedgp

import (
	"reflect"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
)

// coarse returns a lab whose task has coarse shares, an agent's exchange on it and the
// grid of that agent.
func coarse(t testing.TB, parameters string, n byte) (*driver, *coarsen.Grid) {
	t.Helper()
	l := newLab(t, "maximize", parameters, "exact", "none")
	parsed := strategytest.Task(t, strategy.Set{Register()}, "name: test\ngoal: maximize\nparameters: [%s]\nsurrogate: {type: exact, features: 100}\n"+
		"strategy: {type: constrained-gp, initial_designs: 3, share: coarse}\n", parameters)
	l.task, l.strategy = parsed, New(parsed)
	key := fbotest.Key(t, int(n))
	exchanges, err := Register().Disclosure(parsed).Exchanges(strategy.Env{Task: parsed, Key: key})
	if err != nil || len(exchanges) != 1 || exchanges[0].Name() != protocol.NearOptimalKind {
		t.Fatalf("exchanges %v, %v", exchanges, err)
	}
	grid, err := coarsen.New(key, parsed.Space)
	if err != nil {
		t.Fatal(err)
	}
	return &driver{lab: l, exchange: exchanges[0].(*latest.Latest)}, grid
}

// A coarse share is what an exact one of the same view and seed would be, but for its
// place, which is that of the node's grid. It has no bound.
func TestCoarseIsCoarselyTheSame(t *testing.T) {
	for _, parameters := range []string{plane, mixed} {
		e := newLab(t, "maximize", parameters, "exact", "none").drive()
		view := e.view(e.designs(9, 1), bump(0.3))
		e.step(view, strategy.Start{})
		e.finish(view)
		want := e.last()
		for n := range byte(10) {
			d, grid := coarse(t, parameters, n)
			d.step(view, strategy.Start{})
			d.finish(view)
			coarse := want
			coarse.Point = grid.Coarse(want.Point)
			if got := d.last(); !reflect.DeepEqual(got, coarse) || got.Bound != nil {
				t.Errorf("node %d shares %+v, want %+v", n, got, coarse)
			}
		}
	}
}

// Without peers designs are those of a task of exact shares; a coarse place is heard.
func TestCoarseIsHeard(t *testing.T) {
	exact := newLab(t, "maximize", plane, "exact", "none")
	d, _ := coarse(t, plane, 1)
	view := d.view(d.designs(5, 1), bump(0.3))
	d.step(view, strategy.Start{})
	d.finish(view)
	received := view
	received.Shares = []*strategy.Share{{Share: protocol.Share{Key: protocol.Key{Author: peer.ID("a"), Kind: protocol.NearOptimalKind}}, Value: d.last()}}
	for seed := range uint64(5) {
		suggest := func(s strategy.Strategy, view strategy.View) strategy.Suggestion {
			got, err := s.Suggest(t.Context(), view, 6, random.SeedOf(seed))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		own, want := suggest(d.strategy, view), suggest(exact.strategy, view)
		if !reflect.DeepEqual(own, want) {
			t.Errorf("without peers %+v, with exact shares %+v", own, want)
		}
		if got := suggest(d.strategy, received); got.Why.PeerCount != 1 || got.Why.Observations != 5 {
			t.Errorf("with a peer: %+v", got.Why)
		}
	}
}

func TestCoarseIsSaidToBe(t *testing.T) {
	r := Register()
	if d, _ := coarse(t, plane, 1); r.Disclosure(d.task).Reveals(d.task) != coarsen.Reveals(d.task.Space) {
		t.Errorf("coarse shares reveal: %s", r.Disclosure(d.task).Reveals(d.task))
	}
	if exact := newLab(t, "maximize", plane, "exact", "open"); r.Disclosure(exact.task).Reveals(exact.task) == coarsen.Reveals(exact.task.Space) {
		t.Error("exact shares are called coarse")
	}
}
