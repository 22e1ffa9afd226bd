package hyper

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func newTask(t *testing.T, shared bool) *task.Task {
	t.Helper()
	surrogateKeys := task.Settings{}
	if shared {
		surrogateKeys["hyperparameters"] = "shared"
	}
	made, err := task.New(task.Spec{Name: "wave", Goal: task.Minimize, Surrogate: surrogateKeys,
		Parameters: []task.Parameter{{Name: "x", Kind: task.Float, High: 1}, {Name: "c", Kind: task.Categorical, Choices: []string{"a", "b", "c"}}},
	}, []task.StrategyType{{Name: "any", Extensions: []task.SurrogateExtension{Extension().SurrogateExtension}}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func newExchange(t *testing.T) *Exchange {
	t.Helper()
	e, err := New(newTask(t, true))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// viewOf is that of an agent with so many outcomes.
func viewOf(t *testing.T, outcomes int) strategy.View {
	t.Helper()
	var x [][]float64
	for i := range outcomes {
		x = append(x, []float64{float64(i) / 8, 1, 0, 0})
	}
	return strategytest.View(newTask(t, true), x, func(x []float64) float64 { return math.Sin(20 * x[0]) })
}

// outputs splits what a step has said.
func outputs(t *testing.T, all []strategy.Output) (work *strategy.Work, payload []byte, learned *LearnedPrior) {
	t.Helper()
	for _, out := range all {
		switch out := out.(type) {
		case strategy.Work:
			work = &out
		case strategy.Publish:
			if out.TTL != protocol.MaxTTL || out.Slot != 0 || out.Ephemeral {
				t.Errorf("%+v", out)
			}
			payload = out.Payload
		case strategy.Result:
			value := out.Value.(LearnedPrior)
			learned = &value
		default:
			t.Errorf("%T", out)
		}
	}
	return work, payload, learned
}

// One outcome says nothing. From two on an agent tells what peers can read, of a function
// of short waves that its lengthscale is shorter than the standard one.
func TestWhatIsTold(t *testing.T) {
	e := newExchange(t)
	if work, _, learned := outputs(t, e.Step(viewOf(t, 1), strategy.TrialsEnded{})); work != nil || learned == nil || learned.Prior() != nil {
		t.Errorf("after one outcome: work %v, result %v", work, learned)
	}
	work, _, _ := outputs(t, e.Step(viewOf(t, 8), strategy.TrialsEnded{}))
	if work == nil {
		t.Fatal("nothing is computed after eight outcomes")
	}
	result, err := work.Run(t.Context(), viewOf(t, 8), random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	_, payload, _ := outputs(t, e.Step(viewOf(t, 8), strategy.WorkDone{Name: work.Name, Result: result}))
	value, err := e.Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	said := value.(Statement)
	if len(said.Mean) != 3 || said.Mean[0] > e.standard.Location[0]-0.3 || said.Precision[0] < 0.5 {
		t.Errorf("%+v, the standard prior is %+v", said, e.standard)
	}
	if math.Abs(said.Mean[1]-e.standard.Location[1]) > 0.9 || said.Precision[1] > 0.2 { // half of the prior's spread and precision: the floor, and the chance of draws
		t.Errorf("of a parameter that never changed: %+v", said)
	}
}

// What peers say becomes the prior, with each word and at the start.
func TestWhatIsLearned(t *testing.T) {
	e := newExchange(t)
	view := strategy.View{}
	for range 3 {
		said := Statement{Mean: slices.Clone(e.standard.Location), Precision: []float64{3, 3, 3}}
		said.Mean[0] = -2.5
		view.Shares = append(view.Shares, &strategy.Share{Value: said}, &strategy.Share{Value: "of another kind"})
	}
	for _, in := range []strategy.Input{strategy.Start{}, strategy.TrialsEnded{}, strategy.Received{}} {
		_, _, learned := outputs(t, e.Step(view, in))
		if learned == nil {
			t.Fatalf("%T brings no result", in)
		}
		prior := learned.Prior()
		if prior == nil || prior.Location[0] > -2 || prior.Spread[0] > 1.2 || len(prior.Location) != 3 {
			t.Errorf("%T: %+v", in, prior)
		}
	}
}

func TestStatementsThatAreRefused(t *testing.T) {
	e := newExchange(t)
	h := protocol.Hyperparameters{Means: slices.Clone(e.standard.Location), Precisions: []float64{0, 1, surrogate.MaxPrecision}}
	h.Means[0] += surrogate.MaxSpreads * e.standard.Spread[0]
	payload, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Decode(payload); err != nil {
		t.Errorf("at the bounds: %v", err)
	}
	h.Means[0] += 0.01
	beyond, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	fewer, err := protocol.Hyperparameters{Means: []float64{0, 0}, Precisions: []float64{0, 0}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, payload := range map[string][]byte{"beyond": beyond, "a parameter less": fewer, "nothing": nil, "garbage": {0xff}} {
		if _, err := e.Decode(payload); !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Honest observations, however extreme, make statements that peers accept.
func TestExtremesAreAccepted(t *testing.T) {
	definition := newTask(t, true)
	model, err := surrogate.New(definition)
	if err != nil {
		t.Fatal(err)
	}
	e, x := newExchange(t), []float64{0.5, 1, 0, 0}
	for name, obs := range map[string]surrogate.Observations{
		"equal outputs":  {X: [][]float64{x, {0.1, 0, 1, 0}, {0.2, 0, 1, 0}}, Y: []float64{1, 1, 1}},
		"one design":     {X: [][]float64{x, x, x}, Y: []float64{-1e300, 0, 1e300}},
		"jump":           {X: [][]float64{x, {0.5 + 1e-12, 1, 0, 0}, x}, Y: []float64{0, 1e9, 0}},
		"one and a half": {X: [][]float64{x, {0.9, 0, 0, 1}}, Y: []float64{0, 1e-300}},
	} {
		said, err := model.(surrogate.PriorFitter).Evidence(t.Context(), obs, random.SeedOf(1).Stream("evidence", 0))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		payload, err := protocol.Hyperparameters{Means: said.Mean, Precisions: said.Precision}.Encode()
		if err != nil {
			t.Errorf("%s: %+v: %v", name, said, err)
			continue
		}
		if _, err := e.Decode(payload); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A strategy with the addition has the exchange, and says so.
func TestWithExchangeAddsHyperparameters(t *testing.T) {
	alone := strategy.Registration{Describe: func(*task.Task) string { return "luck" }}
	definition := newTask(t, true)
	got := alone.WithExchange(addition())
	list, err := got.Disclosure(definition).Exchanges(strategy.Env{Task: definition})
	if err != nil || len(list) != 1 || list[0].Name() != protocol.HyperparametersKind {
		t.Fatalf("%v, %v", list, err)
	}
	if text := got.Summary(definition) + got.Disclosure(definition).Reveals(definition); strings.Contains(text, "nothing is shared") || !strings.Contains(text, "smooth") {
		t.Errorf("%s", text)
	}
	work, _, _ := outputs(t, list[0].Step(viewOf(t, 8), strategy.TrialsEnded{}))
	result, err := work.Run(t.Context(), viewOf(t, 8), random.SeedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	_, payload, _ := outputs(t, list[0].Step(viewOf(t, 8), strategy.WorkDone{Result: result}))
	forged, err := got.Disclosure(definition).Forge(definition, protocol.HyperparametersKind, payload, strategy.Forgery{Rand: random.SeedOf(1).Stream("lies", 0)})
	if err != nil || slices.Equal(forged, payload) {
		t.Fatalf("%v", err)
	}
	if _, err := list[0].Decode(forged); err != nil {
		t.Errorf("a forged statement is refused: %v", err)
	}
}
