package optprior

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/privacy/coarsen"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

const spread = 0.2

func envOf(t testing.TB, spec *task.Task, n byte) strategy.Env {
	t.Helper()
	key := fbotest.Key(t, int(n))
	return strategy.Env{Task: spec, Key: key}
}

func newCoarse(t testing.TB, env strategy.Env, spread float64) *latest.Latest {
	t.Helper()
	e, err := NewCoarse(env, spread)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// viewOf is what an agent knows that has evaluated f, of which smaller is better, at this
// many designs, with fixed hyperparameters.
func viewOf(t testing.TB, spec *task.Task, count int, f func(x []float64) float64) strategy.View {
	t.Helper()
	rng := random.SeedOf(1).Stream("designs", 0)
	x := make([][]float64, count)
	for i := range x {
		x[i] = acquisition.Sample(spec.Space, rng)
		spec.Space.Snap(x[i])
	}
	view := strategytest.View(spec, x, f)
	strategytest.Condition(t, &view, 1e-3)
	return view
}

// bowl has its minimum where the first two numbers are at.
func bowl(at float64) func(x []float64) float64 {
	return func(x []float64) float64 { return (x[0]-at)*(x[0]-at) + (x[1]-at)*(x[1]-at) }
}

// payloads drives an exchange as an agent does that works at once.
func payloads(t testing.TB, e *latest.Latest, view strategy.View, in strategy.Input, seed uint64) (published [][]byte) {
	t.Helper()
	for range 10 {
		var next strategy.Input
		for _, out := range e.Step(view, in) {
			switch out := out.(type) {
			case strategy.Publish:
				if out.Ephemeral || out.Slot != 0 || out.TTL != TTL {
					t.Errorf("published as %+v", out)
				}
				published = append(published, out.Payload)
			case strategy.Work:
				result, err := out.Run(t.Context(), view, random.SeedOf(seed))
				if err != nil {
					t.Error(err)
				}
				next = strategy.WorkDone{Name: out.Name, Result: result, Err: err}
			default:
				t.Fatalf("unexpected output %T", out)
			}
		}
		if next == nil {
			return published
		}
		in = next
	}
	t.Fatal("the exchange works without end")
	return nil
}

// A share is the coarse maximiser of the posterior mean, on how many observations it rests,
// and nothing else: the rest is the same for all agents.
func TestCoarseShare(t *testing.T) {
	for _, parameters := range []string{plane, mixed} {
		spec := newTask(t, parameters)
		for n := range byte(5) {
			env := envOf(t, spec, n)
			view := viewOf(t, spec, 8+int(n), bowl(0.1+0.2*float64(n)))
			published := payloads(t, newCoarse(t, env, spread), view, strategy.Start{}, uint64(n))
			if len(published) != 1 {
				t.Fatalf("%d shares", len(published))
			}
			best := search.New(spec).Optimum(t.Context(), view, random.SeedOf(99))
			top, _ := view.Posterior.Predict(spec.Space.Encode(best))
			rng := random.SeedOf(2).Stream("designs", 0)
			for range 300 {
				x := acquisition.Sample(spec.Space, rng)
				spec.Space.Snap(x)
				if mean, _ := view.Posterior.Predict(x); mean > top+1e-6 {
					t.Fatalf("mean %g at %v, %g at what is recommended", mean, x, top)
				}
			}
			grid, err := coarsen.New(env.Key, spec.Space)
			if err != nil {
				t.Fatal(err)
			}
			want := protocol.Density{Observations: 8 + int(n), Components: []protocol.Component{{
				Weight: 1,
				Std:    float64(float32(math.Hypot(spread, grid.Deviation()))),
				Center: grid.Coarse(protocol.PointOf(spec.Space, best)),
			}}}
			got, err := protocol.DecodeDensity(published[0], spec.Space)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("shared %+v, want %+v", got, want)
			}
			if bare, err := want.Encode(spec.Space); err != nil || !bytes.Equal(bare, published[0]) {
				t.Errorf("the payload is %x, of these fields alone %x (%v)", published[0], bare, err)
			}
		}
	}
}

// Results of another level and size whose best place is the same are the same share.
func TestCoarseShareHidesResults(t *testing.T) {
	spec := newTask(t, plane)
	env := envOf(t, spec, 1)
	f := bowl(0.3)
	plain := payloads(t, newCoarse(t, env, spread), viewOf(t, spec, 9, f), strategy.Start{}, 1)
	other := payloads(t, newCoarse(t, env, spread), viewOf(t, spec, 9, func(x []float64) float64 { return 1000 + 7*f(x) }), strategy.Start{}, 1)
	if len(plain) != 1 || !reflect.DeepEqual(plain, other) {
		t.Errorf("shared %x and %x", plain, other)
	}
}

// What is said again of the same observations is the same, byte for byte, after a restart
// too, whatever the seed of the search.
func TestCoarseShareIsRepeated(t *testing.T) {
	spec := newTask(t, mixed)
	env := envOf(t, spec, 3)
	view := viewOf(t, spec, 7, bowl(0.6))
	first := payloads(t, newCoarse(t, env, spread), view, strategy.Start{}, 1)
	for seed := range uint64(4) {
		restarted := newCoarse(t, env, spread)
		if again := payloads(t, restarted, view, strategy.Start{}, seed); len(first) != 1 || !reflect.DeepEqual(again, first) {
			t.Errorf("first %x, after a restart %x", first, again)
		}
		if more := payloads(t, restarted, view, strategy.TrialsEnded{}, seed); len(more) != 0 {
			t.Errorf("without a new observation: %x", more)
		}
	}
}

func TestCoarseSharesComeAfterTheStart(t *testing.T) {
	spec := newTask(t, plane)
	e := newCoarse(t, envOf(t, spec, 1), spread)
	for count := range 6 {
		view := viewOf(t, spec, count, bowl(0.3))
		published := payloads(t, e, view, strategy.TrialsEnded{}, 1)
		if want := count >= spec.Strategy.InitialDesigns; (len(published) == 1) != want {
			t.Errorf("%d shares after %d observations, with %d starting designs", len(published), count, spec.Strategy.InitialDesigns)
		}
	}
	blind := viewOf(t, spec, 7, bowl(0.3))
	blind.Posterior = nil
	if published := payloads(t, e, blind, strategy.TrialsEnded{}, 1); len(published) != 0 {
		t.Errorf("without a posterior: %x", published)
	}
}

// All spreads that a task may have can be shared: what the grid adds to the widest is beyond
// what travels.
func TestCoarseSpreads(t *testing.T) {
	spec := newTask(t, plane)
	view := viewOf(t, spec, 5, bowl(0.3))
	for _, wanted := range []float64{protocol.MinSpread, 0.2, 9.9999, protocol.MaxSpread} {
		e := newCoarse(t, envOf(t, spec, 1), wanted)
		published := payloads(t, e, view, strategy.Start{}, 1)
		if len(published) != 1 {
			t.Errorf("spread %g: %d shares", wanted, len(published))
			continue
		}
		if _, err := newCoarse(t, envOf(t, spec, 2), wanted).Decode(published[0]); err != nil {
			t.Errorf("spread %g: %v", wanted, err)
		}
	}
}

// An exact density, or one that says where else the optimum may be, is not taken for a
// coarse one.
func TestCoarseDecodeRefuses(t *testing.T) {
	spec := newTask(t, mixed)
	e := newCoarse(t, envOf(t, spec, 1), spread)
	published := payloads(t, e, viewOf(t, spec, 5, bowl(0.3)), strategy.Start{}, 1)
	if len(published) != 1 {
		t.Fatalf("%d shares", len(published))
	}
	d, err := protocol.DecodeDensity(published[0], spec.Space)
	if err != nil {
		t.Fatal(err)
	}
	if value, err := e.Decode(published[0]); err != nil || !reflect.DeepEqual(value, d) {
		t.Errorf("%+v, %v", value, err)
	}
	with := func(components ...protocol.Component) []byte {
		payload, err := protocol.Density{Observations: 5, Components: components}.Encode(spec.Space)
		if err != nil {
			t.Fatal(err)
		}
		return payload
	}
	c := d.Components[0]
	exact, wider, half := c, c, c
	exact.Std, wider.Std, half.Weight = spread, float64(math.Nextafter32(float32(c.Std), 1)), 0.5
	for name, payload := range map[string][]byte{
		"that of the exact form":   with(exact),
		"a spread a little wider":  with(wider),
		"two components":           with(half, half),
		"half a payload":           published[0][:len(published[0])/2],
		"nothing":                  nil,
		"of a task of other kinds": mustEncode(t, newTask(t, plane), c.Std),
	} {
		if value, err := e.Decode(payload); !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, value, err)
		}
	}
}

func mustEncode(t testing.TB, spec *task.Task, spread float64) []byte {
	t.Helper()
	payload, err := around(spec, spread, make([]float64, spec.Space.Dim())).Encode(spec.Space)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// What is forged is a share all the same, of another place.
func TestForge(t *testing.T) {
	spec := newTask(t, mixed)
	e := newCoarse(t, envOf(t, spec, 1), spread)
	published := payloads(t, e, viewOf(t, spec, 5, bowl(0.3)), strategy.Start{}, 1)
	forged, err := Forge(spec, protocol.DensityKind, published[0], strategy.Forgery{Rand: random.SeedOf(1).Stream("forge", 0)})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(forged, published[0]) {
		t.Error("forged as it was")
	}
	if _, err := e.Decode(forged); err != nil {
		t.Error(err)
	}
	if _, err := Forge(spec, protocol.DensityKind, []byte("no payload"), strategy.Forgery{Rand: random.SeedOf(1).Stream("forge", 0)}); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("%v", err)
	}
}

// What is accepted is one normal of the task's width around a point of the space; anything
// else is malformed.
func FuzzCoarseDecode(f *testing.F) {
	spec := newTask(f, mixed)
	e, err := NewCoarse(envOf(f, spec, 1), spread)
	if err != nil {
		f.Fatal(err)
	}
	grid, err := coarsen.New(envOf(f, spec, 1).Key, spec.Space)
	if err != nil {
		f.Fatal(err)
	}
	wide := float64(float32(math.Hypot(spread, grid.Deviation())))
	f.Add(mustEncode(f, spec, wide))
	f.Add(mustEncode(f, spec, spread))
	f.Fuzz(func(t *testing.T, payload []byte) {
		value, err := e.Decode(payload)
		if err != nil {
			if !errors.Is(err, protocol.ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		d := value.(protocol.Density)
		if len(d.Components) != 1 || d.Components[0].Std != wide {
			t.Fatalf("accepted %+v", d)
		}
		m := NewMixture(NewLayout(spec.Space), spec.Space, d)
		if v := LogPrior([]*Mixture{m}, 0.9, 5).Value(d.Components[0].Center.Encoded(spec.Space)); !(v > 0) {
			t.Fatalf("%g at the centre of %+v", v, d)
		}
	})
}
