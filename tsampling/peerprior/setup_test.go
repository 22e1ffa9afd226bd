package peerprior

import (
	"fmt"
	"math"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/exchange/posteriormean"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/rff"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/alone"
	"github.com/fbo-node/fbo/task"
)

const (
	plane  = "{name: x, type: float, low: 0, high: 1}, {name: y, type: float, low: 0, high: 1}"
	mixed  = plane + ", {name: n, type: int, low: 1, high: 9}, {name: c, type: categorical, choices: [red, green, blue]}"
	exact  = "type: exact, features: 64"
	linear = "type: rff, features: 64"
)

func newTask(t testing.TB, goal, parameters, model string) *task.Task {
	t.Helper()
	return strategytest.Task(t, strategy.Set{Register()},
		"name: test\ngoal: %s\nparameters: [%s]\nsurrogate: {%s}\nstrategy: {type: peer-prior, share: exact, initial_designs: 3}\n", goal, parameters, model)
}

// lab is one task with what agents need for it.
type lab struct {
	t        testing.TB
	task     *task.Task
	features *rff.Map
	strategy *Strategy
}

func newLab(t testing.TB, goal, parameters, model string) *lab {
	t.Helper()
	l := &lab{t: t, task: newTask(t, goal, parameters, model)}
	var err error
	if l.features, err = surrogate.SharedMap(l.task); err != nil {
		t.Fatal(err)
	}
	if l.strategy, err = New(l.task, l.features); err != nil {
		t.Fatal(err)
	}
	return l
}

// suggestAlone is what an agent suggests that has no peers.
func (l *lab) suggestAlone(view strategy.View, trial uint64, seed random.Seed) strategy.Suggestion {
	l.t.Helper()
	got, err := alone.NewEngine(l.task).Suggest(l.t.Context(), view, trial, seed)
	if err != nil {
		l.t.Fatal(err)
	}
	return got
}

func (l *lab) suggest(view strategy.View, trial uint64, seed random.Seed) strategy.Suggestion {
	l.t.Helper()
	got, err := l.strategy.Suggest(l.t.Context(), view, trial, seed)
	if err != nil {
		l.t.Fatal(err)
	}
	return got
}

// designs are drawn uniformly.
func (l *lab) designs(count int, seed random.Seed) [][]float64 {
	rng := seed.Stream("designs", 0)
	x := make([][]float64, count)
	for i := range x {
		x[i] = acquisition.Sample(l.task.Space, rng)
		l.task.Space.Snap(x[i])
	}
	return x
}

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
	strategytest.Condition(l.t, &view, 1e-3)
	return view
}

// mean is what an agent with this view shares, after the journey over the wire.
func (l *lab) mean(view strategy.View) protocol.Mean {
	l.t.Helper()
	mean, ok, err := posteriormean.Of(l.task, view)
	if !ok || err != nil {
		l.t.Fatal("nothing to share: ", err)
	}
	payload, err := mean.Encode()
	if err != nil {
		l.t.Fatal(err)
	}
	return l.decode(payload)
}

func (l *lab) decode(payload []byte) protocol.Mean {
	l.t.Helper()
	value, err := NewSharing(l.task).Decode(payload)
	if err != nil {
		l.t.Fatal(err)
	}
	return value.(*share).Mean
}

func peerID(i int) peer.ID { return peer.ID(fmt.Sprintf("peer %03d", i)) }

func sharesOf(means ...protocol.Mean) []*strategy.Share {
	var shares []*strategy.Share
	for i, m := range means {
		shares = append(shares, &strategy.Share{
			Share: protocol.Share{Key: protocol.Key{Author: peerID(i), Kind: protocol.MeanKind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: 1}},
			Value: &share{Mean: m},
		})
	}
	return shares
}

// peersOf lets count agents evaluate f at designs of their own.
func (l *lab) peersOf(count, observations int, f func([]float64) float64, seed uint64) []protocol.Mean {
	means := make([]protocol.Mean, count)
	for i := range means {
		means[i] = l.mean(l.view(l.designs(observations, random.SeedOf(seed+uint64(i))), f))
	}
	return means
}

// with returns the view with other shares.
func with(view strategy.View, means ...protocol.Mean) strategy.View {
	view.Shares = sharesOf(means...)
	return view
}

// bump is largest at the point whose coordinates are all at, and 1 there.
func bump(at float64) func([]float64) float64 {
	return func(x []float64) float64 {
		square := 0.0
		for _, v := range x {
			square += (v - at) * (v - at)
		}
		return math.Exp(-square / 0.15)
	}
}

func scaled(f func([]float64) float64, factor float64) func([]float64) float64 {
	return func(x []float64) float64 { return factor * f(x) }
}

func (l *lab) considered(view strategy.View) *mixture {
	l.t.Helper()
	o, err := l.strategy.mixtureOf(view, 1, random.SeedOf(1))
	if err != nil {
		l.t.Fatal(err)
	}
	return o
}

func (l *lab) checkInSpace(design task.Design) {
	l.t.Helper()
	if design.IsZero() {
		l.t.Fatal("no design")
	}
	x := l.task.Space.Encode(design)
	for _, v := range x {
		if !(v >= 0 && v <= 1) {
			l.t.Fatalf("%v is outside of the space", design)
		}
	}
	if back := l.task.Space.Decode(x); !back.Equal(design) {
		l.t.Fatalf("%v is not a design of the space, which has %v", design, back)
	}
}
