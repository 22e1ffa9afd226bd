package peerprior

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/exchange/posteriormean"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
)

// exchange drives a Sharing as an agent does that works at once.
type exchange struct {
	*lab
	sharing   *latest.Latest
	published []protocol.Mean
}

func newExchange(l *lab) *exchange { return &exchange{lab: l, sharing: NewSharing(l.task)} }

// step carries out what comes of an input on this view, work on that of later.
func (e *exchange) step(view, later strategy.View, in strategy.Input) {
	e.t.Helper()
	for range 10 {
		var next strategy.Input
		for _, out := range e.sharing.Step(view, in) {
			switch out := out.(type) {
			case strategy.Publish:
				if out.Ephemeral || out.Slot != 0 || out.TTL != protocol.MaxTTL {
					e.t.Errorf("published as %+v", out)
				}
				e.published = append(e.published, e.decode(out.Payload))
			case strategy.Work:
				if next != nil {
					e.t.Fatal("two computations at once")
				}
				result, err := out.Run(e.t.Context(), later, random.SeedOf(1))
				next = strategy.WorkDone{Name: out.Name, Result: result, Err: err}
			default:
				e.t.Fatalf("unexpected output %T", out)
			}
		}
		if next == nil {
			return
		}
		view, in = later, next
	}
	e.t.Fatal("the exchange works without end")
}

func TestOneShareForEachObservation(t *testing.T) {
	for _, model := range []string{exact, linear} {
		e := newExchange(newLab(t, "maximize", plane, model))
		x := e.designs(6, random.SeedOf(1))
		for n := range len(x) + 1 {
			view := e.view(x[:n], bump(0.3))
			in := strategy.Input(strategy.Start{})
			if n > 0 {
				in = strategy.TrialsEnded{}
			}
			e.step(view, view, in)
			if want := max(n-posteriormean.MinObservations+1, 0); len(e.published) != want {
				t.Fatalf("%s: %d shares after %d observations, want %d", model, len(e.published), n, want)
			}
			if n >= posteriormean.MinObservations && e.published[len(e.published)-1].Observations != n {
				t.Errorf("the share after %d observations is stamped %d", n, e.published[len(e.published)-1].Observations)
			}
			// Nothing comes of what tells nothing new.
			before := len(e.published)
			for _, in := range []strategy.Input{strategy.TrialsEnded{}, strategy.Received{}, strategy.Timer{}, strategy.Stop{}, strategy.Replayed{}} {
				e.step(view, view, in)
			}
			if len(e.published) != before {
				t.Errorf("%s: shared again without a new observation", model)
			}
		}
	}
}

// A restart finds no state and shares what the observations say now.
func TestRestartSharesAgain(t *testing.T) {
	l := newLab(t, "minimize", plane, exact)
	view := l.view(l.designs(5, random.SeedOf(1)), bump(0.3))
	before, after := newExchange(l), newExchange(l)
	before.step(view, view, strategy.TrialsEnded{})
	after.step(view, view, strategy.Replayed{Data: []byte("a note of another version")})
	if len(after.published) != 0 {
		t.Error("shares before it is started")
	}
	after.step(view, view, strategy.Start{})
	if len(before.published) != 1 || len(after.published) != 1 {
		t.Fatalf("%d shares, after the restart %d", len(before.published), len(after.published))
	}
	if a, b := encode(t, before.published[0]), encode(t, after.published[0]); !bytes.Equal(a, b) {
		t.Error("the share after a restart differs")
	}
}

func encode(t testing.TB, m protocol.Mean) []byte {
	t.Helper()
	payload, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// While a mean is computed observations arrive. The work sees them when it runs
// late, and otherwise they have a share of their own.
func TestObservationsDuringTheWork(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	x := l.designs(5, random.SeedOf(1))
	early, late := l.view(x[:3], bump(0.3)), l.view(x, bump(0.3))
	for _, c := range []struct {
		seen strategy.View
		want []int
	}{{early, []int{3, 5}}, {late, []int{5}}} {
		s := NewSharing(l.task)
		work := s.Step(early, strategy.Start{})
		if len(work) != 1 {
			t.Fatalf("%d outputs", len(work))
		}
		if again := s.Step(late, strategy.TrialsEnded{}); len(again) != 0 {
			t.Errorf("asks for %v while it computes", again)
		}
		result, err := work[0].(strategy.Work).Run(t.Context(), c.seen, random.SeedOf(1))
		var got []int
		for range 5 {
			outs := s.Step(late, strategy.WorkDone{Result: result, Err: err})
			more := false
			for _, out := range outs {
				switch out := out.(type) {
				case strategy.Publish:
					got = append(got, l.decode(out.Payload).Observations)
				case strategy.Work:
					result, err = out.Run(t.Context(), late, random.SeedOf(1))
					more = true
				}
			}
			if !more {
				break
			}
		}
		if len(got) != len(c.want) || got[0] != c.want[0] || got[len(got)-1] != c.want[len(c.want)-1] {
			t.Errorf("the shares are stamped %v, want %v", got, c.want)
		}
	}
}

func TestFailedWorkIsTriedWithTheNextObservation(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	x := l.designs(5, random.SeedOf(1))
	s := NewSharing(l.task)
	s.Step(l.view(x[:4], bump(0.3)), strategy.Start{})
	if outs := s.Step(l.view(x[:4], bump(0.3)), strategy.WorkDone{Err: errors.New("no memory")}); len(outs) != 0 {
		t.Errorf("after a failure: %v", outs)
	}
	if outs := s.Step(l.view(x, bump(0.3)), strategy.TrialsEnded{}); len(outs) != 1 {
		t.Errorf("with the next observation: %v", outs)
	}
}

func TestEqualOutputsAreNotShared(t *testing.T) {
	e := newExchange(newLab(t, "maximize", plane, exact))
	x := e.designs(5, random.SeedOf(1))
	flat := e.view(x[:4], func([]float64) float64 { return 7 })
	e.step(flat, flat, strategy.Start{})
	if len(e.published) != 0 {
		t.Fatalf("shared %+v", e.published)
	}
	uneven := e.view(x, func(p []float64) float64 {
		if &p[0] == &x[4][0] {
			return 8
		}
		return 7
	})
	e.step(uneven, uneven, strategy.TrialsEnded{})
	if len(e.published) != 1 {
		t.Errorf("%d shares once an output differs", len(e.published))
	}
	fitless := e.view(x, bump(0.3))
	fitless.Posterior = nil
	if result, ok, err := posteriormean.Of(e.task, fitless); ok || err != nil {
		t.Errorf("without a posterior: %v, %v", result, err)
	}
}

// Values beyond the bounds of a share are no share, and no endless work.
func TestValuesBeyondAllBoundsAreNotShared(t *testing.T) {
	e := newExchange(newLab(t, "maximize", plane, exact))
	view := e.view(e.designs(5, random.SeedOf(1)), scaled(bump(0.3), 1e200))
	e.step(view, view, strategy.Start{})
	if len(e.published) != 0 {
		t.Errorf("shared %+v", e.published)
	}
}

func TestDecodeRejects(t *testing.T) {
	l := newLab(t, "maximize", plane, exact)
	good := l.peersOf(1, 5, bump(0.3), 1)[0]
	s := NewSharing(l.task)
	for name, change := range map[string]func(m *protocol.Mean){
		"too few features": func(m *protocol.Mean) { m.Values, m.ExplainedWeights = m.Values[1:], m.ExplainedWeights[1:] },
		"too many features": func(m *protocol.Mean) {
			m.Values, m.ExplainedWeights = append(m.Values, 0), append(m.ExplainedWeights, 0)
		},
		"too many lengthscales": func(m *protocol.Mean) { m.Lengthscales = append(m.Lengthscales, 1) },
	} {
		m := good
		m.Values, m.ExplainedWeights = append([]float64(nil), good.Values...), append([]float64(nil), good.ExplainedWeights...)
		change(&m)
		payload, err := m.Encode()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := s.Decode(payload); !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	payload := encode(t, good)
	if _, err := s.Decode(payload[:len(payload)/2]); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("half a payload: %v", err)
	}
	if _, err := s.Decode(nil); !errors.Is(err, protocol.ErrMalformed) {
		t.Errorf("no payload: %v", err)
	}
}

// The payload holds no output and no coordinate of a design as such. That is not
// to say that none can be worked out of it.
func TestPayloadHoldsNothingMeasured(t *testing.T) {
	for _, goal := range []string{"maximize", "minimize"} {
		l := newLab(t, goal, plane, exact)
		for n := posteriormean.MinObservations; n < 12; n++ {
			x := l.designs(n, random.SeedOf(uint64(n)))
			f := func(p []float64) float64 { return 0.1234567 + math.Sin(5*p[0]) + p[1] }
			payload := encode(t, l.mean(l.view(x, f)))
			for _, p := range x {
				for _, v := range []float64{f(p), -f(p), p[0], p[1]} {
					for form, secret := range map[string][]byte{
						"float64": binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)),
						"float32": binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v))),
					} {
						if bytes.Contains(payload, secret) {
							t.Errorf("%d observations: %v is in the payload as %s", n, v, form)
						}
					}
				}
			}
		}
	}
}

// TestLearnedLengthscalesOfFeaturesStay: a mean over the shared features has the task's
// lengthscales, and so what a node has learned for its own model is not in the share.
func TestLearnedLengthscalesOfFeaturesStay(t *testing.T) {
	for model, want := range map[string]int{exact: 2, linear: 0} {
		l := newLab(t, "maximize", plane, model)
		view := l.view(l.designs(8, random.SeedOf(1)), bump(0.3))
		strategytest.Fit(t, &view, random.SeedOf(2).Stream("fit", 0))
		if learned := view.Posterior.Hyperparameters().Lengthscales; len(learned) != 2 {
			t.Fatalf("%s: learned lengthscales %v, want two", model, learned)
		}
		if shared := l.mean(view).Lengthscales; len(shared) != want {
			t.Errorf("%s: the share has lengthscales %v, want %d", model, shared, want)
		}
	}
}
