package latest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/strategy"
)

const ttl = time.Hour

// agent drives an exchange. Its shares are numbers of observations; it says nothing of a
// multiple of silent, and fails at a multiple of broken.
type agent struct {
	t              *rapid.T
	exchange       *Latest
	from           int
	silent, broken int
	observations   int

	work      *strategy.Work // asked for and not done
	asked     int            // observations when it was
	told      int            // observations behind the newest share or silence
	failed    int            // observations at the last failure
	published []string
}

func (a *agent) compute(_ context.Context, view strategy.View, _ random.Seed) ([]byte, error) {
	switch {
	case view.Observations%a.broken == 0:
		return nil, errors.New("broken")
	case view.Observations%a.silent == 0:
		return nil, nil
	}
	return fmt.Append(nil, view.Observations), nil
}

func (a *agent) step(in strategy.Input) {
	for _, out := range a.exchange.Step(strategy.View{Observations: a.observations}, in) {
		switch out := out.(type) {
		case strategy.Work:
			if a.work != nil {
				a.t.Fatal("two works at once")
			}
			if a.observations < a.from || a.observations <= a.asked {
				a.t.Fatalf("work on %d observations after one on %d; the first share is due with %d", a.observations, a.asked, a.from)
			}
			a.work, a.asked = &out, a.observations
		case strategy.Publish:
			if out.TTL != ttl || out.Slot != 0 || out.Ephemeral {
				a.t.Fatalf("published %+v", out)
			}
			a.published = append(a.published, string(out.Payload))
		default:
			a.t.Fatalf("%T", out)
		}
	}
}

// finish runs the work on what there is by now.
func (a *agent) finish() {
	work, before := a.work, len(a.published)
	a.work = nil
	result, err := work.Run(a.t.Context(), strategy.View{Observations: a.observations}, random.SeedOf(1))
	// The work has seen what came while it waited, which is no reason for another.
	if err == nil {
		a.asked, a.told = a.observations, a.observations
	} else {
		a.failed = a.observations
	}
	a.step(strategy.WorkDone{Name: work.Name, Result: result, Err: err})
	var want []string
	if err == nil && a.observations%a.silent != 0 {
		want = []string{fmt.Sprint(a.observations)}
	}
	if got := a.published[before:]; fmt.Sprint(got) != fmt.Sprint(want) {
		a.t.Fatalf("after work on %d observations, with error %v: published %q, want %q", a.observations, err, got, want)
	}
}

// Whatever happens in whatever order, there is one work at a time, none on what is known
// already, and nothing that the work has seen remains unsaid but what failed.
func TestEachObservationIsSharedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := &agent{t: t, from: rapid.IntRange(0, 4).Draw(t, "from"),
			silent: rapid.IntRange(2, 9).Draw(t, "silent"), broken: rapid.IntRange(2, 9).Draw(t, "broken")}
		a.exchange = New(Spec{Kind: "test", From: a.from, TTL: ttl, Compute: a.compute})
		a.step(strategy.Start{})
		t.Repeat(map[string]func(*rapid.T){
			"an outcome": func(*rapid.T) { a.observations++; a.step(strategy.TrialsEnded{}) },
			"a failed trial": func(*rapid.T) {
				before := len(a.published)
				a.step(strategy.TrialsEnded{})
				if len(a.published) > before {
					t.Fatal("a share without work")
				}
			},
			"work done": func(t *rapid.T) {
				if a.work == nil {
					t.Skip("none runs")
				}
				a.finish()
			},
			"anything else": func(t *rapid.T) {
				before, working := len(a.published), a.work
				a.step(rapid.SampledFrom([]strategy.Input{strategy.Replayed{}, strategy.Received{}, strategy.Timer{}, strategy.Direct{}, strategy.Stop{}}).Draw(t, "input"))
				if len(a.published) > before || a.work != working {
					t.Fatal("it is answered")
				}
			},
			"": func(*rapid.T) {
				if news := a.observations > max(a.told, a.failed); a.work == nil && news && a.observations >= a.from {
					t.Fatalf("nothing is done about %d observations, shared are %d", a.observations, a.told)
				}
			},
		})
	})
}

// A result that comes while there are newer observations leads to the next work at once.
func TestNewsDuringWork(t *testing.T) {
	e := New(Spec{Kind: "test", TTL: ttl, Compute: func(_ context.Context, view strategy.View, _ random.Seed) ([]byte, error) {
		return fmt.Append(nil, view.Observations), nil
	}})
	out := e.Step(strategy.View{Observations: 1}, strategy.TrialsEnded{})
	if len(out) != 1 {
		t.Fatalf("%v", out)
	}
	result, err := out[0].(strategy.Work).Run(t.Context(), strategy.View{Observations: 1}, random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	if out := e.Step(strategy.View{Observations: 2}, strategy.TrialsEnded{}); len(out) != 0 {
		t.Fatalf("while the work runs: %v", out)
	}
	out = e.Step(strategy.View{Observations: 2}, strategy.WorkDone{Name: "test", Result: result})
	if len(out) != 2 {
		t.Fatalf("%v", out)
	}
	if share, ok := out[0].(strategy.Publish); !ok || string(share.Payload) != "1" {
		t.Errorf("%+v", out[0])
	}
	if _, ok := out[1].(strategy.Work); !ok {
		t.Errorf("%+v", out[1])
	}
}

func TestNameAndDecodeAreThoseOfTheSpec(t *testing.T) {
	e := New(Spec{Kind: "test", Decode: func(payload []byte) (any, error) { return len(payload), errors.New("too long") }})
	if value, err := e.Decode([]byte("four")); e.Name() != "test" || value != 4 || err == nil {
		t.Errorf("%s, %v, %v", e.Name(), value, err)
	}
}
