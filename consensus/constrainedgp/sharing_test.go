package constrainedgp

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/latest"
)

// driver carries out what the exchange asks for, as an agent would.
type driver struct {
	*lab
	exchange  *latest.Latest
	published []strategy.Publish
	works     []strategy.Work
}

func (l *lab) drive() *driver { return &driver{lab: l, exchange: newSharing(l.task, nil)} }

func (d *driver) step(view strategy.View, in strategy.Input) {
	d.t.Helper()
	for _, output := range d.exchange.Step(view, in) {
		switch output := output.(type) {
		case strategy.Publish:
			d.published = append(d.published, output)
		case strategy.Work:
			d.works = append(d.works, output)
		default:
			d.t.Fatalf("unexpected %T", output)
		}
	}
}

// finish runs the oldest work on a view and returns its result to the exchange,
// when the agent has this view or a later one.
func (d *driver) finish(view strategy.View, later ...strategy.View) {
	d.t.Helper()
	if len(d.works) == 0 {
		d.t.Fatal("no work")
	}
	work := d.works[0]
	d.works = d.works[1:]
	result, err := work.Run(d.t.Context(), view, random.SeedOf(3))
	if len(later) > 0 {
		view = later[0]
	}
	d.step(view, strategy.WorkDone{Name: work.Name, Result: result, Err: err})
}

func (d *driver) last() protocol.NearOptimal {
	d.t.Helper()
	if len(d.published) == 0 {
		d.t.Fatal("nothing published")
	}
	p := d.published[len(d.published)-1]
	if p.Slot != 0 || p.TTL != ttl || p.Ephemeral {
		d.t.Errorf("slot %d, TTL %v, ephemeral %t", p.Slot, p.TTL, p.Ephemeral)
	}
	value, err := d.exchange.Decode(p.Payload)
	if err != nil {
		d.t.Fatal(err)
	}
	return value.(protocol.NearOptimal)
}

// After the starting designs every observation brings one share, computed one at
// a time.
func TestSharesAfterEveryObservation(t *testing.T) {
	d := newLab(t, "maximize", plane, "exact", "none").drive()
	x := d.designs(8, 2)
	d.step(d.view(nil, nil), strategy.Start{})
	for count := 1; count <= 2; count++ {
		d.step(d.view(x[:count], bump(0.3)), strategy.TrialsEnded{})
	}
	if len(d.works) != 0 {
		t.Fatal("shares before the starting designs are done")
	}
	three, five := d.view(x[:3], bump(0.3)), d.view(x[:5], bump(0.3))
	d.step(three, strategy.TrialsEnded{})
	d.step(three, strategy.TrialsEnded{})
	d.step(five, strategy.TrialsEnded{})
	if len(d.works) != 1 {
		t.Fatalf("%d works at once", len(d.works))
	}
	d.finish(five) // it sees what came meanwhile
	if got := d.last(); got.Observations != 5 || len(d.works) != 0 {
		t.Errorf("rests on %d observations, %d further works", got.Observations, len(d.works))
	}
	d.step(five, strategy.TrialsEnded{}) // a failed trial is no news
	d.step(five, strategy.Received{})
	if len(d.works) != 0 {
		t.Error("shares without news")
	}
	six, seven := d.view(x[:6], bump(0.3)), d.view(x[:7], bump(0.3))
	d.step(six, strategy.TrialsEnded{})
	d.step(seven, strategy.TrialsEnded{})
	d.finish(six, seven)
	if len(d.works) != 1 || len(d.published) != 2 {
		t.Fatalf("%d works, %d shares", len(d.works), len(d.published))
	}
	d.finish(seven)
	if got := d.last(); got.Observations != 7 || got.Bound != nil {
		t.Errorf("%+v", got)
	}
}

// The design shared is the maximiser of the lower confidence bound, and the bound
// is in the objective's units, larger being better.
func TestSharesTheBestLowerBound(t *testing.T) {
	for _, model := range []string{"exact", "rff"} {
		for _, parameters := range []string{plane, mixed} {
			for _, goal := range []string{"maximize", "minimize"} {
				for _, threshold := range []string{"none", "open"} {
					d := newLab(t, goal, parameters, model, threshold).drive()
					f := func(x []float64) float64 { return 500 + 20*bump(0.3)(x) }
					view := d.view(d.designs(8, 2), f)
					d.step(view, strategy.Start{})
					d.finish(view)
					d.checkBest(view, d.last(), threshold)
				}
			}
		}
	}
}

func (d *driver) checkBest(view strategy.View, n protocol.NearOptimal, threshold string) {
	d.t.Helper()
	lcb := func(x []float64) float64 {
		mean, variance := view.Posterior.Predict(x)
		return mean - designsOf(d.task).Confidence*math.Sqrt(variance)
	}
	best := lcb(n.Point.Encoded(d.task.Space))
	for _, x := range append(d.designs(300, 9), d.strategy.search.Best(view)...) {
		if lcb(x) > best+1e-4 {
			d.t.Errorf("%v has the bound %g, the design shared %g", x, lcb(x), best)
		}
	}
	if threshold == "none" {
		if n.Bound != nil {
			d.t.Errorf("bound %g", *n.Bound)
		}
		return
	}
	units, err := unitsOf(d.task, view)
	if err != nil {
		d.t.Fatal(err)
	}
	if want := units.Level + units.Scale*best; math.Abs(*n.Bound-want) > 1e-3*units.Scale || !(*n.Bound > 450 && *n.Bound < 521) {
		d.t.Errorf("bound %g, want %g", *n.Bound, want)
	}
}

// There is nothing to say without a posterior, while all designs have turned out
// the same, and when the bound is beyond all limits; the next observation brings
// the next try.
func TestNothingToShare(t *testing.T) {
	d := newLab(t, "maximize", plane, "exact", "open").drive()
	x := d.designs(8, 2)
	view := d.view(x[:3], bump(0.3))
	view.Posterior = nil
	d.step(view, strategy.TrialsEnded{})
	d.finish(view)
	same := d.view(x[:4], func([]float64) float64 { return 7 })
	d.step(same, strategy.TrialsEnded{})
	d.finish(same)
	huge := d.view(x[:5], func(x []float64) float64 { return protocol.MaxUnit * (10 + x[0]) })
	d.step(huge, strategy.TrialsEnded{})
	d.finish(huge)
	d.step(huge, strategy.WorkDone{Err: errors.New("the work failed")})
	if len(d.published) != 0 || len(d.works) != 0 {
		t.Fatalf("%d shares, %d works", len(d.published), len(d.works))
	}
	good := d.view(x[:6], bump(0.3))
	d.step(good, strategy.TrialsEnded{})
	d.finish(good)
	if d.last().Observations != 6 {
		t.Errorf("%+v", d.last())
	}
}

// A share has a bound if and only if the threshold is open.
func TestDecodeChecksTheBound(t *testing.T) {
	bound := 1.0
	for threshold, bounded := range map[string]bool{"none": false, "open": true} {
		l := newLab(t, "maximize", mixed, "exact", threshold)
		n := protocol.NearOptimal{Observations: 1, Point: protocol.PointOf(l.task.Space, l.task.Space.Decode(l.designs(1, 1)[0]))}
		for _, with := range []bool{false, true} {
			if n.Bound = nil; with {
				n.Bound = &bound
			}
			payload, err := n.Encode(l.task.Space)
			if err != nil {
				t.Fatal(err)
			}
			value, err := newSharing(l.task, nil).Decode(payload)
			switch _, ok := value.(protocol.NearOptimal); {
			case with == bounded && (err != nil || !ok):
				t.Errorf("%s: %v, %v", threshold, value, err)
			case with != bounded && !errors.Is(err, protocol.ErrMalformed):
				t.Errorf("%s: with a bound %t: %v, %v", threshold, with, value, err)
			}
		}
	}
}

// Whatever bytes come in, Decode refuses them or returns what the strategy can
// use, without a panic.
func TestDecodeOfGarbage(t *testing.T) {
	l := newLab(t, "maximize", mixed, "exact", "none")
	exchange := newSharing(l.task, nil)
	view := l.view(l.designs(5, 2), bump(0.3))
	good, err := protocol.NearOptimal{
		Observations: 3, Point: protocol.PointOf(l.task.Space, l.task.Space.Decode(l.designs(1, 1)[0])),
	}.Encode(l.task.Space)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		payload := rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(rt, "payload")
		if rapid.Bool().Draw(rt, "almost good") {
			payload = append([]byte(nil), good...)
			payload[rapid.IntRange(0, len(good)-1).Draw(rt, "where")] = rapid.Byte().Draw(rt, "byte")
		}
		value, err := exchange.Decode(payload)
		if err != nil {
			if value != nil {
				rt.Fatalf("%v with %v", value, err)
			}
			return
		}
		view := view
		view.Shares = []*strategy.Share{{Share: protocol.Share{Key: protocol.Key{Author: "peer", Kind: protocol.NearOptimalKind}}, Value: value}}
		for _, c := range claimsOf(l.task, view) {
			if mean, variance := view.Posterior.Predict(c.x); math.IsNaN(mean) || math.IsNaN(variance) || c.observations < 1 {
				rt.Fatalf("%+v", c)
			}
		}
	})
}
