package sharedlatent

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/exchange/sharedlatent/latent"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

func newTask(t testing.TB, model string) *task.Task {
	t.Helper()
	made, err := strategy.Set{{
		StrategyType: task.StrategyType{Name: "none"},
		New:          func(*task.Task) (strategy.Strategy, error) { return nil, nil },
		Describe:     func(*task.Task) string { return "waits" },
	}}.With(Extension()).NewTask(task.Spec{Name: "latent", Goal: task.Maximize, Surrogate: task.Settings{"type": model}, Strategy: task.Strategy{Type: "none"},
		Parameters: []task.Parameter{{Name: "x", Kind: task.Float, Low: 0, High: 1}, {Name: "c", Kind: task.Categorical, Choices: []string{"a", "b", "c"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func viewOf(t testing.TB, on *task.Task, count int) strategy.View {
	t.Helper()
	var x [][]float64
	for i := range count {
		x = append(x, []float64{float64(i) / float64(count), 1, 0, 0})
	}
	view := strategytest.View(on, x, func(x []float64) float64 { return math.Sin(9 * x[0]) })
	strategytest.Fit(t, &view, rand.New(rand.NewPCG(1, 1)))
	return view
}

// payloadOf is what a node states by way of its exchange.
func payloadOf(t testing.TB, view strategy.View) []byte {
	t.Helper()
	e, err := New(view.Task)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range e.Step(view, strategy.TrialsEnded{}) {
		work, ok := out.(strategy.Work)
		if !ok {
			continue
		}
		result, err := work.Run(t.Context(), view, [32]byte{})
		if err != nil {
			t.Fatal(err)
		}
		for _, out := range e.Step(view, strategy.WorkDone{Result: result}) {
			if published, ok := out.(strategy.Publish); ok {
				return published.Payload
			}
		}
	}
	t.Fatal("nothing is published")
	return nil
}

// A statement has as many rows as observations at first, survives the wire, and teaches a
// newcomer the function.
func TestStatementImprovesPredictionsOfNewcomer(t *testing.T) {
	on := newTask(t, Word)
	payload := payloadOf(t, viewOf(t, on, 12))
	e, err := New(on)
	if err != nil {
		t.Fatal(err)
	}
	value, err := e.Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	said := value.(latent.Statement)
	if said.Observations != 12 || len(said.Rows) != 12 {
		t.Errorf("12 observations make a statement after %d with %d rows", said.Observations, len(said.Rows))
	}
	model, err := modelOf(on)
	if err != nil {
		t.Fatal(err)
	}
	view := viewOf(t, on, 4)
	informed, err := model.ConditionOnPeers(t.Context(), PeerFactors{said}, strategy.Observed(on, view.Trials, task.Objective), view.Posterior)
	if err != nil {
		t.Fatal(err)
	}
	errorOf := func(p surrogate.Posterior) (sum float64) {
		units := p.(surrogate.Scaled).Units()
		for i := range 30 {
			x := float64(i) / 30
			mean, _ := p.Predict([]float64{x, 1, 0, 0})
			sum += math.Abs(units.Output(mean)-math.Sin(9*x)) / 30
		}
		return sum
	}
	own, taught := errorOf(view.Posterior), errorOf(informed)
	t.Logf("mean error %.3g alone, %.3g taught", own, taught)
	if !(taught < own/2) {
		t.Errorf("the mean error is %.3g by four own observations and %.3g with a statement of 12", own, taught)
	}
}

func TestOneObservationStatesNothing(t *testing.T) {
	on := newTask(t, Word)
	e, err := New(on)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range e.Step(viewOf(t, on, 1), strategy.TrialsEnded{}) {
		if _, ok := out.(strategy.Work); ok {
			t.Error("work after one observation")
		}
	}
}

// A strategy with the addition has the exchange, and says so.
func TestWithExchangeAddsLatentFactors(t *testing.T) {
	plain := strategy.Registration{Describe: func(*task.Task) string { return "waits" }}
	on := newTask(t, Word)
	r := plain.WithExchange(addition())
	if text := r.Summary(on); !strings.HasSuffix(text, addition().Described) || strings.Contains(text, "nothing is shared") {
		t.Errorf("described as %q", text)
	}
	if text := r.Disclosure(on).Reveals(on); !strings.HasPrefix(text, "Peers receive") {
		t.Errorf("reveals %q", text)
	}
	payload := payloadOf(t, viewOf(t, on, 4))
	forged, err := r.Disclosure(on).Forge(on, protocol.LatentKind, payload, strategy.Forgery{Rand: rand.New(rand.NewPCG(1, 1))})
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(on)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Decode(forged); err != nil || string(forged) == string(payload) {
		t.Errorf("forged: %v", err)
	}
	if _, err := New(newTask(t, "rff")); err == nil {
		t.Error("an exchange of a surrogate that does not listen")
	}
}

// With pending designs the mean stays and the variance shrinks. The posterior itself does not change.
func TestWithPending(t *testing.T) {
	on := newTask(t, Word)
	m, err := modelOf(on)
	if err != nil {
		t.Fatal(err)
	}
	view := viewOf(t, on, 5)
	obs := strategy.Observed(on, view.Trials, task.Objective)
	said, err := m.state(t.Context(), obs, view.Posterior)
	if err != nil {
		t.Fatal(err)
	}
	informed, err := m.ConditionOnPeers(t.Context(), PeerFactors{said}, obs, view.Posterior)
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{0.93, 0, 1, 0}
	mean, variance := informed.Predict(x)
	given, err := informed.(surrogate.Pending).WithPending([][]float64{x, {0.5, 1, 0, 0}, x})
	if err != nil {
		t.Fatal(err)
	}
	got, left := given.Predict(x)
	if math.Abs(got-mean) > 1e-6 || !(left < variance/2) {
		t.Errorf("mean %g, variance %g; with pending designs %g and %g", mean, variance, got, left)
	}
	if again, after := informed.Predict(x); again != mean || after != variance {
		t.Error("the posterior itself has changed")
	}
	if _, err := m.ConditionOnPeers(t.Context(), PeerFactors{said}, obs, informed); err == nil {
		t.Error("a posterior that is conditioned on peers is conditioned on them again")
	}
}

// Whatever peers send is refused as malformed or can be gathered.
func FuzzDecode(f *testing.F) {
	on := newTask(f, Word)
	e, err := New(on)
	if err != nil {
		f.Fatal(err)
	}
	model, err := modelOf(on)
	if err != nil {
		f.Fatal(err)
	}
	spec := model.spec
	f.Add(payloadOf(f, viewOf(f, on, 4)))
	f.Fuzz(func(t *testing.T, data []byte) {
		value, err := e.Decode(data)
		if err != nil {
			if !errors.Is(err, protocol.ErrMalformed) {
				t.Fatalf("error %v does not wrap ErrMalformed", err)
			}
			return
		}
		gathered, err := spec.Gather([]latent.Statement{value.(latent.Statement)})
		if err != nil {
			t.Fatal(err)
		}
		p, err := spec.Condition(gathered, spec.PriorMode(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance := p.Predict([]float64{0.5, 1, 0, 0})
		if math.IsNaN(mean) || math.IsInf(mean, 0) || !(variance >= 0) {
			t.Fatalf("mean %v, variance %v", mean, variance)
		}
	})
}
