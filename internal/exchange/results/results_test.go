package results

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

const plane = "{name: x, type: float, low: 0, high: 1}, {name: c, type: categorical, choices: [red, green, blue]}"

func newTask(t testing.TB, goal, constraints string) *task.Task {
	t.Helper()
	parsed, err := task.Parse("test", fmt.Appendf(nil, "name: test\ngoal: %s\nparameters: [%s]\n%s\nstrategy: {type: some}\n", goal, plane, constraints),
		[]task.StrategyType{{Name: "some", Constraints: true}})
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

const limited = "constraints: [{name: ok, type: bool}, {name: gap, high: 1}]"

// trialsOf returns trials: 'd' done, 'x' failed, 'r' running, 's' stopped early, 'h' done with a value
// beyond the format. The value of trial i is i in units of scale.
func trialsOf(spec *task.Task, states string, scale float64) []strategy.Trial {
	rng := random.SeedOf(1).Stream("designs", 0)
	var trials []strategy.Trial
	for i, state := range states {
		trial := strategy.Trial{ID: uint64(i + 1), Design: spec.Space.Decode(acquisition.Sample(spec.Space, rng))}
		switch state {
		case 'x':
			trial.State = strategy.Failed
		case 'r':
			trial.State = strategy.Running
		case 's':
			trial.State, trial.Stop = strategy.StoppedEarly, &strategy.EarlyStop{}
		default:
			value := scale * float64(i)
			if state == 'h' {
				value = 1e200
			}
			trial.State, trial.Outcome = strategy.Done, &strategy.Outcome{Value: value}
			if len(spec.Constraints) > 0 {
				trial.Outcome.Constraints = map[string]task.Reading{"gap": task.Number(float64(-i)), "ok": task.Truth(i%2 == 0)}
			}
		}
		trials = append(trials, trial)
	}
	return trials
}

func TestWhatIsShared(t *testing.T) {
	for _, c := range []struct {
		constraints, states string
		want                []int // indices of the trials in the share; nil: no share
	}{
		{"", "r", nil},
		{"", "h", nil},
		{"", "d", []int{0}},
		{"", "drxsdh", []int{0, 2, 4}},
		{limited, "ddx", []int{0, 1, 2}},
	} {
		spec := newTask(t, "minimize", c.constraints)
		trials := trialsOf(spec, c.states, 1)
		payload := strategytest.Published(t, NewSharing, strategytest.ViewOf(spec, trials))
		if (payload == nil) != (c.want == nil) {
			t.Errorf("%s: a share of %d bytes", c.states, len(payload))
		}
		if payload == nil {
			continue
		}
		got, err := protocol.DecodeResults(payload, spec.Space, spec.Constraints)
		if err != nil {
			t.Fatal(err)
		}
		want := protocol.Results{Observations: len(c.want)}
		for _, i := range c.want {
			r := protocol.Result{Point: protocol.PointOf(spec.Space, trials[i].Design), Failed: c.states[i] == 'x'}
			if !r.Failed {
				r.Value = float64(i)
				if c.constraints != "" { // the constraints of a task are in alphabetical order
					r.Constraints = []float64{float64(-i), float64((i + 1) % 2)}
				}
			}
			want.Results = append(want.Results, r)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", c.states, got, want)
		}
	}
}

// Of many results the newest half of the maximum is sent, and the best of the others.
func TestNewestAndBestResults(t *testing.T) {
	for goal, first := range map[string]float64{"minimize": 0, "maximize": 100} {
		spec := newTask(t, goal, "")
		trials := trialsOf(spec, strings.Repeat("d", protocol.MaxResults+100), 1)
		got, err := protocol.DecodeResults(strategytest.Published(t, NewSharing, strategytest.ViewOf(spec, trials)), spec.Space, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Observations != len(trials) || len(got.Results) != protocol.MaxResults {
			t.Fatalf("%s: %d results of %d", goal, len(got.Results), got.Observations)
		}
		if a, b, c := got.Results[0].Value, got.Results[newestResults].Value, got.Results[protocol.MaxResults-1].Value; a != first || b != 200 || c != 299 {
			t.Errorf("%s: the first results are %g and %g, the last is %g; want %g, 200, 299", goal, a, b, c, first)
		}
	}
}

func received(t testing.TB, spec *task.Task, author string, payload []byte) *strategy.Share {
	t.Helper()
	value, err := NewSharing(spec).Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	return &strategy.Share{Share: protocol.Share{Key: protocol.Key{Author: peer.ID(author), Kind: protocol.ResultsKind}}, Value: value}
}

// A receiver computes the same observations as the author, up to the rounding of designs.
func TestReceivedObservations(t *testing.T) {
	for _, goal := range []string{"minimize", "maximize"} {
		spec := newTask(t, goal, limited)
		view := strategytest.ViewOf(spec, trialsOf(spec, "dxdd", 1))
		want := view.Observed(task.Objective)
		peers := Of(strategy.View{Task: spec, Shares: []*strategy.Share{received(t, spec, "peer", strategytest.Published(t, NewSharing, view))}})
		if len(peers) != 1 || peers[0].Observations != 4 {
			t.Fatalf("%+v", peers)
		}
		got := peers[0].Objective()
		if !reflect.DeepEqual(got.Y, want.Y) || len(got.X) != len(want.X) {
			t.Fatalf("%s: %v, want %v", goal, got, want)
		}
		for i, x := range got.X {
			for k := range x {
				if math.Abs(x[k]-want.X[i][k]) > 1e-7 {
					t.Errorf("design %d is %v, want %v", i, x, want.X[i])
				}
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	spec, other := newTask(t, "minimize", limited), newTask(t, "minimize", "")
	payload := strategytest.Published(t, NewSharing, strategytest.ViewOf(spec, trialsOf(spec, "ddd", 1)))
	for name, decode := range map[string]func() (any, error){
		"half a payload":          func() (any, error) { return NewSharing(spec).Decode(payload[:len(payload)/2]) },
		"nothing":                 func() (any, error) { return NewSharing(spec).Decode(nil) },
		"a payload of other task": func() (any, error) { return NewSharing(other).Decode(payload) },
	} {
		if value, err := decode(); !errors.Is(err, protocol.ErrMalformed) || value != nil {
			t.Errorf("%s: %v, %v", name, value, err)
		}
	}
}

func TestForgedResultsAreDecoded(t *testing.T) {
	for _, constraints := range []string{"", limited} {
		spec := newTask(t, "minimize", constraints)
		payload := strategytest.Published(t, NewSharing, strategytest.ViewOf(spec, trialsOf(spec, "dxdd", 1)))
		for name, attack := range map[string]strategy.Forgery{
			"random": {}, "corner": {Corner: true}, "extreme": {Extreme: true},
		} {
			attack.Rand = random.SeedOf(1).Stream("forge", 0)
			forged, err := forge(spec, protocol.ResultsKind, payload, attack)
			if err != nil {
				t.Fatal(name, err)
			}
			got, err := protocol.DecodeResults(forged, spec.Space, spec.Constraints)
			if err != nil || len(got.Results) != 4 {
				t.Fatalf("%s: %+v, %v", name, got, err)
			}
			corner := reflect.DeepEqual(got.Results[0].Point, got.Results[1].Point)
			if corner != (name != "random") {
				t.Errorf("%s: designs %v and %v", name, got.Results[0].Point, got.Results[1].Point)
			}
			if huge := math.Abs(got.Results[0].Value) == protocol.MaxUnit; huge != attack.Extreme {
				t.Errorf("%s: value %g", name, got.Results[0].Value)
			}
		}
		if _, err := forge(spec, protocol.ResultsKind, payload[:5], strategy.Forgery{Rand: random.SeedOf(1).Stream("forge", 0)}); err == nil {
			t.Error("a malformed payload was forged")
		}
	}
}
