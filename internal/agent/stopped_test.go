package agent

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
)

// Why a run has ended is in the journal, over restarts, until there is another trial.
func TestStoppedIsKeptUntilTheNextTrial(t *testing.T) {
	d := newBowl(t)
	d.run(4, bowl)
	if d.agent.StopReason() != nil {
		t.Errorf("no run has ended, but the stop reason is %+v", d.agent.StopReason())
	}
	d.agent.RecordStop(d.now, 0.25, 0.5)
	d.carryOut()
	want := Stopped{Observations: 4, RegretBound: 0.25, StopRegret: 0.5, Time: d.now}
	same := func(when string, got *Stopped) {
		t.Helper()
		if got == nil || got.Observations != want.Observations || got.RegretBound != want.RegretBound || got.StopRegret != want.StopRegret || !got.Time.Equal(want.Time) {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
	}
	same("at once", d.agent.StopReason())
	d.journal = compact(t, d.journal)
	d.start()
	same("after a restart", d.agent.StopReason())
	h, err := ReadHistory(decodeAll(t, d.journal), all.Strategies())
	if err != nil {
		t.Fatal(err)
	}
	same("in the history", h.Stopped)

	d.run(1, bowl)
	d.start()
	if h, err = ReadHistory(decodeAll(t, compact(t, d.journal)), all.Strategies()); err != nil || h.Stopped != nil || d.agent.StopReason() != nil {
		t.Errorf("after another trial: %+v and %+v, %v", h.Stopped, d.agent.StopReason(), err)
	}
}

// The bound is a function of the view and the seed, and knows nothing before an outcome.
func TestRegretBoundOfAnAgent(t *testing.T) {
	d := newBowl(t)
	bound := func() float64 {
		t.Helper()
		b, err := d.agent.RegretBound(t.Context(), d.agent.View(d.now))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if b := bound(); !math.IsInf(b, 1) {
		t.Errorf("before any outcome %g", b)
	}
	d.run(6, bowl)
	if b := bound(); !(b > 0) || math.IsInf(b, 1) || bound() != b {
		t.Errorf("after six outcomes %g, then %g", b, bound())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.agent.RegretBound(ended, d.agent.View(d.now)); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	if _, err := d.agent.RegretBound(t.Context(), strategy.View{}); err != nil {
		t.Errorf("of an empty view: %v", err)
	}
}
