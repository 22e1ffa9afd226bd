package continuation_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/continuation"
	"github.com/fbo-node/fbo/internal/exchange/results"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const head = "name: a\ngoal: minimize\nstrategy: {type: ts}\nparameters:\n"

// continued returns the former task, the current one and the continuation.
func continued(t testing.TB, former, current string) (was, now *task.Task, c *task.Continuation) {
	t.Helper()
	was = strategytest.Task(t, all.Strategies(), "%s", head+former)
	now = strategytest.Task(t, all.Strategies(), "%s", head+current+"\ncontinues: "+was.ID().String()+"\n")
	c, err := task.Continue(was, now)
	if err != nil {
		t.Fatal(err)
	}
	return was, now, c
}

func TestTrials(t *testing.T) {
	was, now, c := continued(t,
		"  - {name: x, type: float, low: 0, high: 1}\nconstraints: [{name: size, high: 3}]\n",
		"  - {name: x, type: float, low: 0.5, high: 2}\nconstraints: [{name: size, high: 4}]\n")
	at := func(x float64) task.Design {
		d, err := was.Space.NewDesign(task.FloatValue(x))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	outcome := func(v float64) *strategy.Outcome {
		return &strategy.Outcome{Value: v, Constraints: map[string]task.Reading{"size": task.Number(2)}}
	}
	past, dropped := continuation.Trials(c, now, []strategy.Trial{
		{ID: 1, Design: at(0.7), State: strategy.Done, Outcome: outcome(3)},
		{ID: 2, Design: at(0.2), State: strategy.Done, Outcome: outcome(4)},
		{ID: 3, Design: at(0.8), State: strategy.Failed, Reason: "no memory"},
		{ID: 4, Design: at(0.9), State: strategy.Running},
		{ID: 5, Design: at(0.6), State: strategy.Done, Outcome: &strategy.Outcome{Value: 1}},
	})
	if len(past) != 2 || past[0].Outcome.Value != 3 || past[0].Design.Float("x") != 0.7 || past[1].Failed != "no memory" {
		t.Errorf("carried over: %+v", past)
	}
	want := continuation.Dropped{"x is outside of its new values": 1, "the outcome lacks a constraint of the new task": 1}
	if !reflect.DeepEqual(dropped, want) || dropped.Total() != 2 {
		t.Errorf("dropped %v, want %v", dropped, want)
	}
	_, none, gone := continued(t, "  - {name: x, type: float, low: 0, high: 1}\nconstraints: [{name: size, high: 3}]\n", "  - {name: x, type: float, low: 0, high: 1}\n")
	past, dropped = continuation.Trials(gone, none, []strategy.Trial{{ID: 1, Design: at(0.7), State: strategy.Done, Outcome: outcome(3)}})
	if len(past) != 1 || len(dropped) != 0 || past[0].Outcome.Constraints != nil {
		t.Errorf("without the constraint: %+v, dropped %v", past, dropped)
	}
}

// The shares about designs are mapped, so that they are valid in the new space; all others are
// counted.
func TestShares(t *testing.T) {
	_, now, c := continued(t, "  - {name: x, type: float, low: 0, high: 1}\n  - {name: op, type: bool}\n", "  - {name: op, type: bool}\n  - {name: x, type: float, low: 0, high: 0.5}\n")
	point := func(x float64) protocol.Point { return protocol.Point{Coordinates: []float64{x}, Choices: []int{1}} }
	share := func(value any) agent.FormerShare {
		return agent.FormerShare{Share: strategy.Share{Value: value}, Expires: time.Unix(1, 0)}
	}
	density := func(x float64, release int) protocol.Density {
		return protocol.Density{Observations: 5, Release: release, Components: []protocol.Component{{Weight: 1, Std: 0.2, Center: point(x)}}}
	}
	mapped, dropped := continuation.Shares(c, now, []agent.FormerShare{
		share(density(0.25, 0)), share(density(0.6, 0)), share(density(0.9, 0)), share(density(0.25, 1)),
		share(protocol.NearOptimal{Observations: 3, Point: point(0.5)}), share(protocol.Weights{}),
	})
	want := continuation.Dropped{"x is outside of its new values": 1, "private releases of the former task": 1, "about the features of the former task": 1}
	if len(mapped) != 3 || !reflect.DeepEqual(dropped, want) {
		t.Fatalf("%d mapped, dropped %v, want %v", len(mapped), dropped, want)
	}
	for i, x := range []float64{0.5, 1} {
		d := mapped[i].Value.(protocol.Density)
		if _, err := d.Encode(now.Space); err != nil || d.Components[0].Std != 0.4 || d.Observations != 5 ||
			!reflect.DeepEqual(d.Components[0].Center, point(x)) {
			t.Errorf("density %+v: %v", d, err)
		}
	}
	if n := mapped[2].Value.(protocol.NearOptimal); !reflect.DeepEqual(n.Point, point(1)) {
		t.Errorf("design %+v", n)
	}
}

// Results of designs of the new space are mapped, and others are left out.
func TestSharesWithResults(t *testing.T) {
	was, now, c := continued(t, "  - {name: x, type: float, low: 0, high: 1}\n", "  - {name: x, type: float, low: 0, high: 0.5}\n")
	share := func(at ...float64) agent.FormerShare {
		r := protocol.Results{Observations: 9}
		for _, x := range at {
			r.Results = append(r.Results, protocol.Result{Point: protocol.Point{Coordinates: []float64{x}}, Value: 10 * x})
		}
		payload, err := r.Encode(was.Space, nil)
		if err != nil {
			t.Fatal(err)
		}
		value, err := results.NewSharing(was).Decode(payload)
		if err != nil {
			t.Fatal(err)
		}
		return agent.FormerShare{Share: strategy.Share{Value: value}}
	}
	mapped, dropped := continuation.Shares(c, now, []agent.FormerShare{share(0.25, 0.75, 0.5), share(0.75)})
	if len(mapped) != 1 || dropped.Total() != 1 {
		t.Fatalf("%d mapped, dropped %v", len(mapped), dropped)
	}
	r := mapped[0].Value.(*results.Received)
	obs := r.Objective()
	if want := [][]float64{{0.5}, {1}}; r.Observations != 9 || !reflect.DeepEqual(obs.X, want) || !reflect.DeepEqual(obs.Y, []float64{now.Goal.Sign() * 2.5, now.Goal.Sign() * 5}) {
		t.Errorf("%+v, want designs %v", obs, want)
	}
}

// Whatever density peers publish, its image is one that peers could publish on the new task.
func TestMappedDensitiesAreValid(t *testing.T) {
	was, now, c := continued(t,
		"  - {name: x, type: float, low: 0.001, high: 1, scale: log}\n  - {name: k, type: int, low: 1, high: 9}\n  - {name: op, type: categorical, choices: [a, b, c]}\n",
		"  - {name: x, type: float, low: 0.01, high: 0.02}\n  - {name: k, type: int, low: 4, high: 5}\n  - {name: op, type: categorical, choices: [c, b]}\n")
	rapid.Check(t, func(t *rapid.T) {
		d := protocol.Density{Observations: 1, Components: []protocol.Component{{
			Weight: 1, Std: rapid.Float64Range(protocol.MinSpread, protocol.MaxSpread).Draw(t, "std"),
			Center: protocol.Point{
				Coordinates: []float64{rapid.Float64Range(0, 1).Draw(t, "x"), rapid.Float64Range(0, 1).Draw(t, "k")},
				Choices:     []int{rapid.IntRange(0, 2).Draw(t, "op")},
			},
		}}}
		if _, err := d.Encode(was.Space); err != nil {
			t.Fatal(err)
		}
		mapped, dropped := continuation.Shares(c, now, []agent.FormerShare{{Share: strategy.Share{Value: d}}})
		if len(mapped)+dropped.Total() != 1 {
			t.Fatalf("%d mapped, dropped %v", len(mapped), dropped)
		}
		for _, share := range mapped {
			if _, err := share.Value.(protocol.Density).Encode(now.Space); err != nil {
				t.Fatal(err)
			}
		}
	})
}
