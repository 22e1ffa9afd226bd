package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

const evaluation = 10 * time.Second

func newTask(t testing.TB, strategy string) *task.Task {
	t.Helper()
	return strategytest.Task(t, all.Strategies(), `
name: sim
goal: minimize
parameters: [{name: x, type: float, low: 0, high: 1}]
surrogate: {features: 32}
strategy: {type: %s}`, strategy)
}

func valley(d task.Design, _ uint64) float64 { return math.Pow(d.Float("x")-0.3, 2) }

func scenario(t testing.TB, kind string, members, evaluations int) sim.Scenario {
	s := sim.Scenario{Task: newTask(t, kind), Seed: random.SeedOf(1), Network: sim.Network{Delay: 50 * time.Millisecond}}
	for range members {
		s.Members = append(s.Members, sim.Member{Objective: valley, Evaluations: evaluations, Duration: evaluation})
	}
	return s
}

func run(t testing.TB, s sim.Scenario) sim.Result {
	t.Helper()
	result, err := sim.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// text is the same for equal results only, but for what they cost.
func text(t testing.TB, r sim.Result) string {
	t.Helper()
	for i := range r.Members {
		r.Members[i].Computing = 0
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestResultDoesNotDependOnWorkers(t *testing.T) {
	for _, r := range all.Strategies() {
		if !r.Shares() || r.Private || r.Roster {
			continue
		}
		kind := r.Name
		s := scenario(t, kind, 4, 8)
		s.Network.Jitter, s.Network.Loss = time.Second, 0.3
		s.Recommend = []int{5, 8}
		s.Workers = 1
		one := text(t, run(t, s))
		s.Workers = 3
		if again := text(t, run(t, s)); again != one {
			t.Errorf("%s: with 3 workers\n%s\nwith one\n%s", kind, again, one)
		}
		s.Seed = random.SeedOf(2)
		if other := text(t, run(t, s)); other == one {
			t.Errorf("%s: another seed gives the same", kind)
		}
	}
}

func TestEveryTrialIsEvaluatedOnce(t *testing.T) {
	s := scenario(t, "ts", 3, 7)
	var calls atomic.Int64
	for i := range s.Members {
		s.Members[i].Parallel = 1 + i
		s.Members[i].Objective = func(d task.Design, trial uint64) float64 {
			calls.Add(1)
			return valley(d, trial) + float64(trial)
		}
	}
	result := run(t, s)
	if calls.Load() != 21 {
		t.Errorf("%d calls for 21 trials", calls.Load())
	}
	for i, m := range result.Members {
		if len(m.Trials) != 7 || m.PeerInformedTrials != 0 || m.Shares != 0 {
			t.Errorf("member %d: %d trials, %d from peers, %d shares", i, len(m.Trials), m.PeerInformedTrials, m.Shares)
		}
		for _, trial := range m.Trials {
			if trial.State != strategy.Done || trial.Outcome.Value < float64(trial.ID) {
				t.Errorf("member %d: %+v", i, trial)
			}
		}
	}
}

// receptions counts whom a member has shares of, at each of its outcomes.
func receptions(t *testing.T, s sim.Scenario, member int) (received []int) {
	t.Helper()
	s.Watch = func(i int, view strategy.View) {
		if i != member {
			return
		}
		authors := map[string]bool{}
		for _, share := range view.Shares {
			if share.Kind != "presence" {
				authors[share.Author.String()] = true
			}
		}
		received = append(received, len(authors))
	}
	run(t, s)
	return received
}

func TestWhoIsHeardWhen(t *testing.T) {
	all := func(s *sim.Scenario) {}
	for name, test := range map[string]struct {
		change func(s *sim.Scenario)
		want   []int // of member 0 at its outcomes; draws are shared from the third on
	}{
		"at once":      {all, []int{0, 0, 0, 3, 3, 3, 3, 3}},
		"slow network": {func(s *sim.Scenario) { s.Network.Delay = 25 * time.Second }, []int{0, 0, 0, 0, 0, 3, 3, 3}},
		"by degree":    {func(s *sim.Scenario) { s.Network.Degree = 2 }, []int{0, 0, 0, 2, 2, 2, 2, 2}},
		"alone for a time": {func(s *sim.Scenario) {
			s.Members[0].Offline = []sim.Span{{Until: 55 * time.Second}}
			s.Network.Resync = time.Second
		}, []int{0, 0, 0, 0, 0, 3, 3, 3}},
		"away for a time, found again at once": {func(s *sim.Scenario) {
			s.Members[0].Offline = []sim.Span{{From: 5 * time.Second, Until: 15 * time.Second}, {From: 20 * time.Second, Until: 48 * time.Second}}
			s.Network.Resync = time.Hour
		}, []int{0, 0, 0, 0, 3, 3, 3, 3}},
		"cut": {func(s *sim.Scenario) {
			s.Network.Partitions = []sim.Partition{{Span: sim.Span{Until: 55 * time.Second}, Parts: 2}}
			s.Network.Resync = time.Second
		}, []int{0, 0, 0, 1, 1, 3, 3, 3}},
		"by rule": {func(s *sim.Scenario) {
			s.Receives = func(hearer, author int) bool { return hearer != 0 || author == 3 }
		}, []int{0, 0, 0, 1, 1, 1, 1, 1}},
		"late": {func(s *sim.Scenario) { s.Members[0].Start = 200 * time.Second }, []int{3, 3, 3, 3, 3, 3, 3, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenario(t, "fts", 4, 8)
			test.change(&s)
			if got := receptions(t, s, 0); !slices.Equal(got, test.want) {
				t.Errorf("heard %v, want %v", got, test.want)
			}
		})
	}
}

// Members that hear a share have one decoded form of it, and not one each.
func TestDecodedSharesAreShared(t *testing.T) {
	s := scenario(t, "fts", 3, 6)
	forms := map[string]map[*float64]bool{}
	s.Watch = func(_ int, view strategy.View) {
		for _, share := range view.Shares {
			if weights, ok := share.Value.(protocol.Weights); ok {
				key := string(share.Envelope)
				if forms[key] == nil {
					forms[key] = map[*float64]bool{}
				}
				forms[key][&weights.Values[0]] = true
			}
		}
	}
	run(t, s)
	if len(forms) < 3 {
		t.Fatalf("%d shares were seen", len(forms))
	}
	for _, all := range forms {
		if len(all) != 1 {
			t.Errorf("a share has %d decoded forms", len(all))
		}
	}
}

func TestLostSharesComeLater(t *testing.T) {
	s := scenario(t, "fts", 4, 12)
	s.Network.Loss, s.Network.Resync = 0.8, 5*time.Second
	received := receptions(t, s, 0)
	if received[3] == 3 || received[11] != 3 {
		t.Errorf("with four of five deliveries lost, received %v", received)
	}
}

func TestRecommendations(t *testing.T) {
	s := scenario(t, "ts", 2, 9)
	s.Recommend = []int{4, 9}
	for i, m := range run(t, s).Members {
		if len(m.Recommended) != 2 {
			t.Fatalf("member %d recommends after %v", i, m.Recommended)
		}
		if x := m.Recommended[9].Float("x"); math.Abs(x-0.3) > 0.1 {
			t.Errorf("member %d recommends %g, the best is 0.3", i, x)
		}
	}
}

func TestForgedPayloadsAreSent(t *testing.T) {
	s := scenario(t, "fts", 2, 5)
	s.Members[1].Forge = func(kind string, payload []byte) []byte {
		if kind != "weights" {
			t.Errorf("asked to forge %q", kind)
		}
		return []byte("no weights")
	}
	if _, err := sim.Run(context.Background(), s); err == nil || !strings.Contains(err.Error(), "malformed") {
		t.Errorf("a payload that nobody can read: %v", err)
	}
}

func TestScenariosThatCannotRun(t *testing.T) {
	for want, change := range map[string]func(s *sim.Scenario){
		"Task is missing":           func(s *sim.Scenario) { s.Task = nil },
		"Members is empty":          func(s *sim.Scenario) { s.Members = nil },
		"Workers is -1":             func(s *sim.Scenario) { s.Workers = -1 },
		"member 1 has no Objective": func(s *sim.Scenario) { s.Members[1].Objective = nil },
		"member 0 has no Constraints": func(s *sim.Scenario) {
			spec := *s.Task
			spec.Constraints = []task.Constraint{{Output: "size", Low: 1, High: 2}}
			s.Task = &spec
		},
		"Duration is 0s": func(s *sim.Scenario) { s.Members[0].Duration = 0 },
		"Loss is 1":      func(s *sim.Scenario) { s.Network.Loss = 1 },
		"Resync is 1ns":  func(s *sim.Scenario) { s.Network.Resync = 1 },
		"into 1 parts":   func(s *sim.Scenario) { s.Network.Partitions = []sim.Partition{{Parts: 1}} },
	} {
		s := scenario(t, "ts", 2, 2)
		change(&s)
		if _, err := sim.Run(context.Background(), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}

func TestCancelledRunsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := scenario(t, "ts", 2, 100)
	s.Watch = func(int, strategy.View) { cancel() }
	if _, err := sim.Run(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// Two agents with one kind of objective, on a network that loses a tenth.
func ExampleRun() {
	t, err := all.Strategies().Parse("example", []byte(`
name: example
goal: minimize
parameters: [{name: n, type: int, low: 0, high: 9}]
strategy: {type: peer-prior}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	member := sim.Member{
		Objective:   func(d task.Design, _ uint64) float64 { return math.Abs(float64(d.Int("n")) - 6) },
		Evaluations: 8,
		Duration:    time.Minute,
	}
	result, err := sim.Run(context.Background(), sim.Scenario{
		Task:    t,
		Members: []sim.Member{member, member},
		Network: sim.Network{Delay: time.Second, Loss: 0.1},
		Seed:    random.SeedOf(1),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, m := range result.Members {
		best := math.Inf(1)
		for _, trial := range m.Trials {
			best = min(best, trial.Outcome.Value)
		}
		fmt.Printf("member %d: %d trials, best %g\n", i, len(m.Trials), best)
	}
	// Output:
	// member 0: 8 trials, best 0
	// member 1: 8 trials, best 0
}

// brittle is a strategy that panics in its third trial.
type brittle struct{ strategy.Strategy }

func (b brittle) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	if trial == 3 {
		panic("boom")
	}
	return b.Strategy.Suggest(ctx, view, trial, seed)
}

// speechless is an exchange that panics at the first outcome.
type speechless struct{ strategy.Exchange }

func (s speechless) Step(view strategy.View, in strategy.Input) []strategy.Output {
	if _, ok := in.(strategy.TrialsEnded); ok {
		panic("boom")
	}
	return s.Exchange.Step(view, in)
}

// A panic that a node would survive ends a simulation, and its error has the stack.
func TestAPanicEndsTheSimulation(t *testing.T) {
	own := scenario(t, "ts", 1, 5)
	registration, err := all.Strategies().Of(own.Task)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := registration.NewStrategy(own.Task)
	if err != nil {
		t.Fatal(err)
	}
	own.Members[0].Strategy = brittle{inner}
	mute := scenario(t, "ts", 2, 5)
	mute.Members[1].Wrap = func(e strategy.Exchange) strategy.Exchange { return speechless{e} }
	for who, s := range map[string]sim.Scenario{"the strategy": own, "the exchange": mute} {
		_, err := sim.Run(t.Context(), s)
		if err == nil || !strings.Contains(err.Error(), who) || !strings.Contains(err.Error(), "panicked: boom") || !strings.Contains(err.Error(), "sim_test.go") {
			t.Errorf("%s: %v", who, err)
		}
	}
}
