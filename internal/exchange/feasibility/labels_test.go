package feasibility

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
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

func newTask(t testing.TB, keys string) *task.Task {
	t.Helper()
	parsed, err := task.Parse("test", fmt.Appendf(nil,
		"name: test\ngoal: minimize\nparameters: [%s]\nconstraints: [{name: gap, high: 1}, {name: ok, type: bool}]\n%s\nstrategy: {type: some}\n", plane, keys),
		[]task.StrategyType{{Name: "some", Constraints: true}})
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// trialsOf are finished trials, each of which is 'f' feasible, 'g' and 'o' infeasible by
// the number or by the truth, 'x' failed and 'r' running. The values are as large as scale.
func trialsOf(spec *task.Task, states string, scale float64) []strategy.Trial {
	rng := random.SeedOf(1).Stream("designs", 0)
	var trials []strategy.Trial
	for i, state := range states {
		trial := strategy.Trial{ID: uint64(i + 1), Design: spec.Space.Decode(acquisition.Sample(spec.Space, rng)), State: strategy.Done}
		gap := -scale
		if state == 'g' {
			gap = 1 + scale
		}
		switch state {
		case 'x':
			trial.State = strategy.Failed
		case 'r':
			trial.State = strategy.Running
		default:
			trial.Outcome = &strategy.Outcome{Value: scale * float64(i), Constraints: map[string]task.Reading{
				"gap": task.Number(gap), "ok": task.Truth(state != 'o'),
			}}
		}
		trials = append(trials, trial)
	}
	return trials
}

func TestWhatIsShared(t *testing.T) {
	for _, c := range []struct {
		keys, states string
		want         string // labels by trial: + feasible, - not, . none; "" no share
		observations int
	}{
		{"", "fg", "", 0},
		{"", "fgo", "+--", 3},
		{"", "fgx", "", 0},
		{"", "frgxof", "+.-.-+", 4},
		{"failures: constraint", "fgx", "+--", 3},
		{"failures: constraint", "xxx", "---", 3},
		{"failures: constraint", "xxr", "", 0},
	} {
		spec := newTask(t, c.keys)
		trials := trialsOf(spec, c.states, 1)
		payload := strategytest.Published(t, NewSharing, strategytest.ViewOf(spec, trials))
		if (payload == nil) != (c.want == "") {
			t.Errorf("%s %s: a share of %d bytes", c.keys, c.states, len(payload))
		}
		if payload == nil {
			continue
		}
		got, err := protocol.DecodeFeasibility(payload, spec.Space)
		if err != nil {
			t.Fatal(err)
		}
		want := protocol.Feasibility{Observations: c.observations}
		for i, sign := range c.want {
			if sign != '.' {
				want.Labels = append(want.Labels, protocol.Label{Point: protocol.PointOf(spec.Space, trials[i].Design), Feasible: sign == '+'})
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s %s: %+v, want %+v", c.keys, c.states, got, want)
		}
	}
}

// Of many labels the newest are sent.
func TestTheNewestLabels(t *testing.T) {
	spec := newTask(t, "")
	states := bytes.Repeat([]byte("o"), 2*protocol.MaxLabels)
	states[protocol.MaxLabels] = 'f'
	trials := trialsOf(spec, string(states), 1)
	got, err := protocol.DecodeFeasibility(strategytest.Published(t, NewSharing, strategytest.ViewOf(spec, trials)), spec.Space)
	if err != nil {
		t.Fatal(err)
	}
	first := protocol.PointOf(spec.Space, trials[protocol.MaxLabels].Design)
	if got.Observations != 2*protocol.MaxLabels || len(got.Labels) != protocol.MaxLabels || !got.Labels[0].Feasible || !reflect.DeepEqual(got.Labels[0].Point, first) {
		t.Errorf("%d labels of %d, the first %+v, want %+v", len(got.Labels), got.Observations, got.Labels[0], first)
	}
}

// Nothing of the objective, nor of the numbers behind the constraints, is in the bytes.
func TestValuesAreNotShared(t *testing.T) {
	spec := newTask(t, "")
	one, other := strategytest.Published(t, NewSharing, strategytest.ViewOf(spec, trialsOf(spec, "fgof", 1))), strategytest.Published(t, NewSharing, strategytest.ViewOf(spec, trialsOf(spec, "fgof", 1e6)))
	if !bytes.Equal(one, other) {
		t.Error("other values with the same labels give another share")
	}
}

// Each new label is shared, failures among them where they count.
func TestEachLabelIsShared(t *testing.T) {
	for keys, want := range map[string]int{"": 3, "failures: constraint": 4} {
		spec := newTask(t, keys)
		s, shares := NewSharing(spec), 0
		trials := trialsOf(spec, "fgoxff", 1)
		for n := range len(trials) + 1 {
			view := strategytest.ViewOf(spec, trials[:n])
			for _, out := range s.Step(view, strategy.TrialsEnded{}) {
				result, err := out.(strategy.Work).Run(t.Context(), view, random.SeedOf(1))
				if err != nil {
					t.Fatal(err)
				}
				shares += len(s.Step(view, strategy.WorkDone{Result: result}))
			}
		}
		if shares != want {
			t.Errorf("%q: %d shares, want %d", keys, shares, want)
		}
	}
}

func shareOf(t testing.TB, spec *task.Task, author string, payload []byte) *strategy.Share {
	t.Helper()
	value, err := NewSharing(spec).Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	return &strategy.Share{Share: protocol.Share{Key: protocol.Key{Author: peer.ID(author), Kind: protocol.FeasibilityKind}}, Value: value}
}

// What is read is what was tried, to within a float32.
func TestWhatPeersSay(t *testing.T) {
	spec := newTask(t, "failures: constraint")
	trials := trialsOf(spec, "fgox", 1)
	view := strategy.View{Task: spec, Shares: []*strategy.Share{shareOf(t, spec, "peer", strategytest.Published(t, NewSharing, strategytest.ViewOf(spec, trials)))}}
	all := Of(view)
	if len(all) != 1 || all[0].Share != view.Shares[0] || all[0].Observations != 4 || !slices.Equal(all[0].Feasible, []bool{true, false, false, false}) {
		t.Fatalf("%+v", all)
	}
	for i, x := range all[0].X {
		if err := spec.Space.Check(spec.Space.Decode(x)); err != nil {
			t.Error(err)
		}
		for k, v := range spec.Space.Encode(trials[i].Design) {
			if math.Abs(v-x[k]) > 1e-7 {
				t.Errorf("design %d: %v, want %v", i, x, trials[i].Design)
			}
		}
	}
	if got := Of(strategy.View{Task: spec}); len(got) != 0 {
		t.Errorf("of nobody: %v", got)
	}
}

// A design is more probably feasible where one was than in the middle, and there more than
// where none was.
func TestLimitFollowsLabels(t *testing.T) {
	spec := newTask(t, "")
	at := func(x float64) []float64 { return []float64{x, 1, 0, 0} }
	p := Peer{X: [][]float64{at(0), at(0.05), at(0.95), at(1)}, Feasible: []bool{true, true, false, false}}
	limit, err := p.Limit(spec)
	if err != nil {
		t.Fatal(err)
	}
	probability := acquisition.LogFeasibility(limit)
	low, middle, high := math.Exp(probability.Value(at(0))), math.Exp(probability.Value(at(0.5))), math.Exp(probability.Value(at(1)))
	if !(low > middle+0.1 && middle > high+0.1) || math.Abs(middle-0.5) > 0.05 {
		t.Errorf("probabilities %.2f, %.2f, %.2f", low, middle, high)
	}
}

func TestDecodeRejects(t *testing.T) {
	spec := newTask(t, "")
	payload := strategytest.Published(t, NewSharing, strategytest.ViewOf(spec, trialsOf(spec, "fgo", 1)))
	other, err := task.Parse("test", []byte("name: a\ngoal: minimize\nparameters: [{name: x, type: float, low: 0, high: 1}]\nconstraints: [{name: ok, type: bool}]\n"),
		[]task.StrategyType{{Name: "some", Constraints: true}})
	if err != nil {
		t.Fatal(err)
	}
	for name, decode := range map[string]func() (any, error){
		"half a payload":           func() (any, error) { return NewSharing(spec).Decode(payload[:len(payload)/2]) },
		"nothing":                  func() (any, error) { return NewSharing(spec).Decode(nil) },
		"a payload of other space": func() (any, error) { return NewSharing(other).Decode(payload) },
	} {
		if value, err := decode(); !errors.Is(err, protocol.ErrMalformed) || value != nil {
			t.Errorf("%s: %v, %v", name, value, err)
		}
	}
}

// Forged labels are as many, of other designs, and some are turned: that of 40 labels none
// is happens once in 2^40 seeds.
func TestForgeKeepsNumberOfLabels(t *testing.T) {
	spec := newTask(t, "")
	payload := strategytest.Published(t, NewSharing, strategytest.ViewOf(spec, trialsOf(spec, string(bytes.Repeat([]byte("f"), 40)), 1)))
	forged, err := forge(spec, protocol.FeasibilityKind, payload, strategy.Forgery{Rand: random.SeedOf(1).Stream("forge", 0)})
	if err != nil {
		t.Fatal(err)
	}
	honest, _ := protocol.DecodeFeasibility(payload, spec.Space)
	got, err := protocol.DecodeFeasibility(forged, spec.Space)
	if err != nil || len(got.Labels) != 40 || got.Observations != 40 {
		t.Fatalf("%+v, %v", got, err)
	}
	feasible := 0
	for i, l := range got.Labels {
		if reflect.DeepEqual(l.Point, honest.Labels[i].Point) {
			t.Errorf("design %d is the same", i)
		}
		if l.Feasible {
			feasible++
		}
	}
	if feasible == 0 || feasible == 40 {
		t.Errorf("%d of 40 forged labels are feasible", feasible)
	}
	if _, err := forge(spec, protocol.FeasibilityKind, payload[:5], strategy.Forgery{Rand: random.SeedOf(1).Stream("forge", 0)}); err == nil {
		t.Error("a malformed payload was forged")
	}
}

// A peer's label stays with its design where the node cannot evaluate that.
func TestLabelsBeyondTheNodesOwnDesigns(t *testing.T) {
	spec := newTask(t, "")
	here, there := trialsOf(spec, "fg", 1)[0].Design, trialsOf(spec, "fg", 1)[1].Design
	own := *spec
	var err error
	if own.Space, err = spec.Space.Within([][]task.Value{here.Values()}); err != nil {
		t.Fatal(err)
	}
	view := strategytest.ViewOf(&own, nil)
	view.Shares = []*strategy.Share{{Value: protocol.Feasibility{Observations: 1,
		Labels: []protocol.Label{{Point: protocol.PointOf(spec.Space, there), Feasible: true}}}}}
	x, want := Of(view)[0].X[0], spec.Space.Encode(there)
	for i := range x {
		if math.Abs(x[i]-want[i]) > 1e-6 {
			t.Fatalf("the label of %v is at %v", want, x)
		}
	}
}
