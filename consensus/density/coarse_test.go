package density

import (
	"math"
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
	"github.com/fbo-node/fbo/task"
)

func coarseOf(t testing.TB, spec *task.Task, n byte) (*latest.Latest, *coarsen.Grid) {
	t.Helper()
	key := fbotest.Key(t, int(n))
	exchanges, err := Register().Disclosure(spec).Exchanges(strategy.Env{Task: spec, Key: key})
	if err != nil || len(exchanges) != 1 || exchanges[0].Name() != protocol.DensityKind {
		t.Fatalf("exchanges %v, %v", exchanges, err)
	}
	grid, err := coarsen.New(key, spec.Space)
	if err != nil {
		t.Fatal(err)
	}
	return exchanges[0].(*latest.Latest), grid
}

// A coarse share is what an exact one of the same view and seed would be, but for its
// place, which is that of the node's grid, and its width.
func TestCoarseIsCoarselyTheSame(t *testing.T) {
	for _, parameters := range []string{plane, mixed} {
		exactTask := newTask(t, parameters, "exact", ", spread: 0.125")
		spec := newTask(t, parameters, "exact", ", spread: 0.125, share: coarse")
		view := viewOf(t, spec, points(spec, 9), bowl(spec, 0.3))
		want := mustBelieve(t, exactTask, view, random.SeedOf(1))
		for n := range byte(10) {
			e, grid := coarseOf(t, spec, n)
			got := step(t, e, view, view, strategy.Start{})
			if len(got) != 1 {
				t.Fatalf("%d shares", len(got))
			}
			coarse := want
			coarse.Components = []protocol.Component{{
				Weight: 1,
				Std:    float64(float32(math.Hypot(0.125, grid.Deviation()))),
				Center: grid.Coarse(want.Components[0].Center),
			}}
			if !reflect.DeepEqual(got[0], coarse) {
				t.Errorf("node %d shares %+v, want %+v", n, got[0], coarse)
			}
		}
	}
}

// An agent listens to coarse shares as to exact ones, and without peers suggests what it
// would on a task of these.
func TestCoarseIsHeard(t *testing.T) {
	exactTask, spec := newTask(t, plane, "exact", ""), newTask(t, plane, "exact", ", share: coarse")
	s := New(spec)
	view := viewOf(t, spec, points(spec, 5), bowl(spec, 0.3))
	for seed := range uint64(5) {
		own := suggest(t, s, view, 6, random.SeedOf(seed))
		if want := suggest(t, New(exactTask), view, 6, random.SeedOf(seed)); !reflect.DeepEqual(own, want) {
			t.Errorf("without peers %+v, with exact shares %+v", own, want)
		}
		e, _ := coarseOf(t, spec, byte(seed))
		said := step(t, e, view, view, strategy.Start{})
		received := view
		received.Shares = []*strategy.Share{{Share: protocol.Share{Key: protocol.Key{Author: peer.ID("a"), Kind: protocol.DensityKind}}, Value: said[0]}}
		if got := suggest(t, s, received, 6, random.SeedOf(seed)); got.Why.PeerCount != 1 || got.Why.Observations != 5 || got.Design.Equal(own.Design) {
			t.Errorf("with a peer %+v, without %+v", got, own)
		}
	}
}

// Nothing is shared while nothing is believed to be feasible.
func TestCoarseSaysNothingOfTheInfeasible(t *testing.T) {
	spec := newTask(t, plane, "exact", ", share: coarse")
	plain := viewOf(t, spec, points(spec, 9), bowl(spec, 0.3))
	for low, want := range map[float64]int{0: 1, 1.5: 0} {
		with, view := strategytest.Constrain(t, plain, low)
		e, _ := coarseOf(t, with, 1)
		if published := step(t, e, view, view, strategy.Start{}); len(published) != want {
			t.Errorf("with x from %g: %d shares, want %d", low, len(published), want)
		}
	}
}

func TestCoarseIsSaidToBe(t *testing.T) {
	r := Register()
	if coarse := newTask(t, plane, "exact", ", share: coarse"); r.Disclosure(coarse).Reveals(coarse) != coarsen.Reveals(coarse.Space) {
		t.Errorf("coarse shares reveal: %s", r.Disclosure(coarse).Reveals(coarse))
	}
	if exact := newTask(t, plane, "exact", ""); r.Disclosure(exact).Reveals(exact) == coarsen.Reveals(exact.Space) {
		t.Error("exact shares are called coarse")
	}
}
