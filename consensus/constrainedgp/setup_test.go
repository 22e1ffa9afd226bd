package constrainedgp

import (
	"fmt"
	"math"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

const (
	plane  = "{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}"
	mixed  = plane + ", {name: n, type: int, low: 1, high: 9}, {name: c, type: categorical, choices: [red, green, blue]}"
	small  = "{name: n, type: int, low: 1, high: 9}, {name: c, type: categorical, choices: [red, green, blue]}"
	noisy  = 1.0
	silent = 1e-3
)

// lab is one task with what an agent needs for it.
type lab struct {
	t        testing.TB
	task     *task.Task
	strategy Strategy
	alone    alone.LogEI
	noise    float64
}

// newStrategy returns that of a task, by its choice of share.
func newStrategy(t testing.TB, spec *task.Task) Strategy {
	t.Helper()
	s, err := Register().NewStrategy(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s.(Strategy)
}

func newLab(t testing.TB, goal, parameters, model, threshold string) *lab {
	t.Helper()
	parsed := strategytest.Task(t, strategy.Set{Register()}, "name: test\ngoal: %s\nparameters: [%s]\nsurrogate: {type: %s, features: 100}\n"+
		"strategy: {type: constrained-gp, initial_designs: 3, threshold: %s}\n", goal, parameters, model, threshold)
	return &lab{t: t, task: parsed, strategy: New(parsed), alone: alone.NewLogEI(parsed), noise: silent}
}

// designs are drawn uniformly.
func (l *lab) designs(count int, seed uint64) [][]float64 {
	rng := random.SeedOf(seed).Stream("designs", 0)
	x := make([][]float64, count)
	for i := range x {
		x[i] = l.snapped(acquisition.Sample(l.task.Space, rng))
	}
	return x
}

// snapped is the design next to a point.
func (l *lab) snapped(x []float64) []float64 { return l.task.Space.Encode(l.task.Space.Decode(x)) }

// view is what an agent knows that has evaluated f, of which larger is better,
// at these designs. Its hyperparameters are fixed, which saves the time of a fit.
func (l *lab) view(x [][]float64, f func([]float64) float64) strategy.View {
	l.t.Helper()
	view := strategytest.View(l.task, x, func(x []float64) float64 {
		if l.task.Goal == task.Minimize {
			return -f(x)
		}
		return f(x)
	})
	strategytest.Condition(l.t, &view, l.noise)
	return view
}

// bump is largest where all coordinates are at, and 1 there.
func bump(at float64) func([]float64) float64 {
	return func(x []float64) float64 {
		square := 0.0
		for _, v := range x {
			square += (v - at) * (v - at)
		}
		return math.Exp(-square / 0.15)
	}
}

// share is a peer's word for a design, after the journey over the wire.
func (l *lab) share(author int, x []float64, bound *float64) *strategy.Share {
	l.t.Helper()
	n := protocol.NearOptimal{Observations: 10, Point: protocol.PointOf(l.task.Space, l.task.Space.Decode(x)), Bound: bound}
	payload, err := n.Encode(l.task.Space)
	if err != nil {
		l.t.Fatal(err)
	}
	value, err := newSharing(l.task, nil).Decode(payload)
	if err != nil {
		l.t.Fatal(err)
	}
	return &strategy.Share{
		Share: protocol.Share{Key: protocol.Key{Author: peerID(author), Kind: protocol.NearOptimalKind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: 1}},
		Value: value,
	}
}

func peerID(i int) peer.ID { return peer.ID(fmt.Sprintf("peer %03d", i)) }

// with returns the view with peers' designs, one of each.
func (l *lab) with(view strategy.View, designs ...[]float64) strategy.View {
	view.Shares = nil
	for i, x := range designs {
		view.Shares = append(view.Shares, l.share(i, x, nil))
	}
	return view
}

func (l *lab) suggest(view strategy.View, trial uint64, seed uint64) strategy.Suggestion {
	l.t.Helper()
	got, err := l.strategy.Suggest(l.t.Context(), view, trial, random.SeedOf(seed))
	if err != nil {
		l.t.Fatal(err)
	}
	if back := l.task.Space.Decode(l.task.Space.Encode(got.Design)); !back.Equal(got.Design) {
		l.t.Fatalf("%v is not a design of the space, which has %v", got.Design, back)
	}
	return got
}

// considered returns the function to maximise and the claims behind it.
func (l *lab) considered(view strategy.View, seed uint64) (*averageImprovement, []claim) {
	l.t.Helper()
	f, claims, err := l.strategy.consider(l.t.Context(), view, claimsOf(l.task, view), 9, random.SeedOf(seed))
	if err != nil {
		l.t.Fatal(err)
	}
	return f, claims
}

// checkAlone wants exactly what expected improvement suggests without peers.
func (l *lab) checkAlone(view strategy.View, trial, seed uint64) {
	l.t.Helper()
	got := l.suggest(view, trial, seed)
	want, err := l.alone.Suggest(l.t.Context(), view, trial, random.SeedOf(seed))
	if err != nil {
		l.t.Fatal(err)
	}
	if !got.Design.Equal(want.Design) || got.Why != want.Why {
		l.t.Errorf("trial %d: %v (%v), alone %v (%v)", trial, got.Design, got.Why, want.Design, want.Why)
	}
}
