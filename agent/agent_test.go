package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func newBowl(t testing.TB) *driver {
	return newDriver(t, configOf(t, newTask(t, "bowl", concurrent), 1))
}

func TestConfigIsChecked(t *testing.T) {
	foreign, _, err := crypto.GenerateKeyPair(crypto.Secp256k1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"no task":           func(c *Config) { c.Task = nil },
		"no key":            func(c *Config) { c.Key = nil },
		"another key":       func(c *Config) { c.Key = foreign },
		"negative lease":    func(c *Config) { c.Lease = -1 },
		"negative attempts": func(c *Config) { c.MaxAttempts = -1 },
	} {
		cfg := configOf(t, newTask(t, "bowl", concurrent), 1)
		change(&cfg)
		if _, err := New(cfg, nil, epochStart); err == nil || !strings.HasPrefix(err.Error(), "agent: Config.") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestErrorsChangeNothing(t *testing.T) {
	d := newBowl(t)
	d.run(2, bowl)
	failed := d.ask()
	if err := d.agent.Fail(d.now, failed.ID, "broke"); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	running := d.ask()
	space := d.cfg.Task.Space
	good := Past{Design: running.Design, Outcome: strategy.Outcome{Value: 1}}
	other := newTask(t, "coin", concurrent).Space
	foreign := Past{Design: other.Decode(make([]float64, other.Dim())), Outcome: strategy.Outcome{Value: 1}}
	tell := func(id uint64, o strategy.Outcome) func() error {
		return func() error { return d.agent.Tell(d.now, id, o) }
	}
	load := func(past ...Past) func() error {
		return func() error { _, err := d.agent.Import(d.now, past); return err }
	}
	for _, c := range []struct {
		name string
		do   func() error
		want error // nil: any
	}{
		{"tell trial 0", tell(0, strategy.Outcome{}), ErrUnknownTrial},
		{"tell a trial to come", tell(running.ID+1, strategy.Outcome{}), ErrUnknownTrial},
		{"tell the last number", tell(math.MaxUint64, strategy.Outcome{}), ErrUnknownTrial},
		{"tell another outcome", tell(1, strategy.Outcome{Value: -1}), ErrFinished},
		{"tell another metric", tell(1, withMetric(d.agent.Trials()[0])), ErrFinished},
		{"tell a failed trial", tell(failed.ID, strategy.Outcome{Value: 1}), ErrFinished},
		{"tell NaN", tell(running.ID, strategy.Outcome{Value: math.NaN()}), ErrBadOutcome},
		{"tell infinity", tell(running.ID, strategy.Outcome{Value: math.Inf(-1)}), ErrBadOutcome},
		{"tell a constraint NaN", tell(running.ID, strategy.Outcome{Constraints: map[string]float64{"c": math.NaN()}}), ErrBadOutcome},
		{"tell an infinite metric", tell(running.ID, strategy.Outcome{Metrics: map[string]float64{"m": math.Inf(1)}}), ErrBadOutcome},
		{"tell a metric without a name", tell(running.ID, strategy.Outcome{Metrics: map[string]float64{"": 1}}), ErrBadOutcome},
		{"tell a metric that would move the cursor", tell(running.ID, strategy.Outcome{Metrics: map[string]float64{"\x1b[2J": 1}}), ErrBadOutcome},
		{"tell too many metrics", tell(running.ID, strategy.Outcome{Metrics: manyMetrics(strategy.MaxMetrics + 1)}), ErrBadOutcome},
		{"fail an unknown trial", func() error { return d.agent.Fail(d.now, 99, "") }, ErrUnknownTrial},
		{"fail a trial that is done", func() error { return d.agent.Fail(d.now, 1, "") }, ErrFinished},
		{"return an unknown trial", func() error { return d.agent.Return(d.now, 99) }, ErrUnknownTrial},
		{"return a trial that is done", func() error { return d.agent.Return(d.now, 1) }, nil},
		{"return a failed trial", func() error { return d.agent.Return(d.now, failed.ID) }, nil},
		{"import NaN behind a good one", load(good, Past{running.Design, strategy.Outcome{Value: math.NaN()}}), ErrBadOutcome},
		{"import a foreign design", load(good, foreign), nil},
		{"import no design", load(good, Past{task.Design{}, strategy.Outcome{Value: 1}}), nil},
	} {
		before := d.snapshot()
		err := c.do()
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
		if after := d.snapshot(); after != before {
			t.Errorf("%s: before %s\nafter %s", c.name, before, after)
		}
		if r := d.agent.Ready(); !isEmpty(r) {
			t.Errorf("%s: left %+v to do", c.name, r)
		}
	}
	if err := space.Check(running.Design); err != nil {
		t.Fatal(err)
	}
	d.tell(running.ID, bowl(running.Design))
}

func manyMetrics(n int) map[string]float64 {
	metrics := map[string]float64{}
	for i := range n {
		metrics[fmt.Sprint("m", i)] = float64(i)
	}
	return metrics
}

func withMetric(trial strategy.Trial) strategy.Outcome {
	outcome := *trial.Outcome
	outcome.Metrics = manyMetrics(1)
	return outcome
}

func TestTellAndFailTwice(t *testing.T) {
	d := newBowl(t)
	one, two := d.ask(), d.ask()
	outcome := func() strategy.Outcome {
		return strategy.Outcome{Value: 2, Constraints: map[string]float64{"memory": 3}, Metrics: manyMetrics(strategy.MaxMetrics)}
	}
	if err := d.agent.Tell(d.now, one.ID, outcome()); err != nil {
		t.Fatal(err)
	}
	if err := d.agent.Tell(d.now, two.ID, strategy.Outcome{Value: 1, Constraints: map[string]float64{}}); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	three := d.ask()
	if err := d.agent.Fail(d.now, three.ID, "once"); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	for _, when := range []string{"at once", "after a restart"} {
		before := d.snapshot()
		if err := errors.Join(
			d.agent.Tell(d.now, one.ID, outcome()),
			d.agent.Tell(d.now, two.ID, strategy.Outcome{Value: 1, Constraints: map[string]float64{}}),
			d.agent.Tell(d.now, two.ID, strategy.Outcome{Value: 1}),
			d.agent.Fail(d.now, three.ID, "twice"),
		); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if d.snapshot() != before {
			t.Errorf("%s: something changed", when)
		}
		d.start()
	}
}

// What a caller does with its map afterwards is its own business.
func TestOutcomesAreCopied(t *testing.T) {
	d := newBowl(t)
	trial := d.ask()
	constraints, metrics := map[string]float64{"memory": 3}, map[string]float64{"accuracy": 3}
	if err := d.agent.Tell(d.now, trial.ID, strategy.Outcome{Value: 2, Constraints: constraints, Metrics: metrics}); err != nil {
		t.Fatal(err)
	}
	past, pastMetrics := map[string]float64{"memory": 4}, map[string]float64{"accuracy": 4}
	if _, err := d.agent.Import(d.now, []Past{{trial.Design, strategy.Outcome{Value: 5, Constraints: past, Metrics: pastMetrics}}}); err != nil {
		t.Fatal(err)
	}
	constraints["memory"], past["memory"], metrics["accuracy"], pastMetrics["accuracy"] = 99, 99, 99, 99
	d.carryOut()
	for i, want := range []float64{3, 4} {
		if got := d.agent.Trials()[i].Outcome; got.Constraints["memory"] != want || got.Metrics["accuracy"] != want {
			t.Errorf("trial %d: %+v, want %v", i+1, got, want)
		}
	}
}

func TestLeaseEnds(t *testing.T) {
	cfg := configOf(t, newTask(t, "bowl", concurrent), 1)
	cfg.Lease = 42 * time.Second
	d := newDriver(t, cfg)
	early := d.ask()
	d.pass(20 * time.Second)
	late, told := d.ask(), d.ask()
	d.tell(told.ID, 1)
	d.pass(22*time.Second - 1)
	if got := d.agent.Trials()[early.ID-1].State; got != strategy.Running {
		t.Fatalf("before its lease ends the trial is %s", got)
	}
	d.pass(1)
	trials := d.agent.Trials()
	if got := trials[early.ID-1]; got.State != strategy.Failed || !strings.Contains(got.Reason, "42s") {
		t.Errorf("the early trial is %+v", got)
	}
	if got := trials[late.ID-1].State; got != strategy.Running {
		t.Errorf("the late trial is %s", got)
	}
	d.pass(time.Hour)
	if got := d.agent.Trials()[late.ID-1].State; got != strategy.Failed {
		t.Errorf("an hour later the late trial is %s", got)
	}
	if got := d.agent.Trials()[told.ID-1].State; got != strategy.Done {
		t.Errorf("the told trial is %s", got)
	}
}

// A lease that has ended unseen, while the clock stood still, is seen at the
// next Tick, and until then Wake stays in the past.
func TestWakeNeverGetsLost(t *testing.T) {
	cfg := configOf(t, newTask(t, "bowl", concurrent), 1)
	cfg.Lease = time.Second
	d := newDriver(t, cfg)
	trial := d.ask()
	d.now = d.now.Add(2 * time.Second)
	d.requests++
	d.agent.Ask(d.now, d.requests) // before the Tick that is due
	d.carryOut()
	for range 3 {
		d.agent.Digest()
		if wake := d.agent.Ready().Wake; wake.IsZero() || wake.After(trial.Started.Add(cfg.Lease)) {
			t.Fatalf("Wake is %v, the lease ended at %v", wake, trial.Started.Add(cfg.Lease))
		}
	}
}

func TestAttemptsAreCounted(t *testing.T) {
	for _, limit := range []int{1, 2, 5} {
		cfg := configOf(t, newTask(t, "bowl", concurrent), 1)
		cfg.MaxAttempts = limit
		d := newDriver(t, cfg)
		first := d.ask()
		for attempt := 2; attempt <= limit; attempt++ {
			d.start() // a crash
			d.start() // and one before anybody asked, which counts nothing
			again := d.ask()
			if again.ID != first.ID || again.Attempts != attempt || !again.Design.Equal(first.Design) {
				t.Fatalf("limit %d: attempt %d is %+v", limit, attempt, again)
			}
		}
		d.start()
		if got := d.agent.Trials()[0]; got.State != strategy.Failed || got.Attempts != limit {
			t.Errorf("limit %d: after the last attempt %+v", limit, got)
		}
		if next := d.ask(); next.ID != 2 {
			t.Errorf("limit %d: the next trial is %+v", limit, next)
		}
	}
}

func TestReturnAndStopCountNoAttempt(t *testing.T) {
	d := newBowl(t)
	first := d.ask()
	for range 5 {
		if err := d.agent.Return(d.now, first.ID); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
		if err := d.agent.Return(d.now, first.ID); err == nil {
			t.Error("a trial that nobody runs was handed back")
		}
		if again := d.ask(); again.ID != first.ID || again.Attempts != 1 {
			t.Fatalf("after Return: %+v", again)
		}
		d.agent.Stop(d.now)
		d.carryOut()
		d.start()
		if again := d.ask(); again.ID != first.ID || again.Attempts != 1 {
			t.Fatalf("after Stop: %+v", again)
		}
	}
}

func TestAWaitingTrialTakesAnOutcomeOrAFailure(t *testing.T) {
	d := newBowl(t)
	one, two := d.ask(), d.ask()
	d.start()
	d.tell(one.ID, 3)
	if err := d.agent.Fail(d.now, two.ID, "gone"); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	if next := d.ask(); next.ID != 3 {
		t.Errorf("an ended trial is offered again: %+v", next)
	}
}

func TestCancel(t *testing.T) {
	d := newBowl(t)
	d.hold = true
	d.agent.Ask(d.now, 7)
	d.agent.Ask(d.now, 8)
	d.agent.Ask(d.now, 9)
	d.carryOut()
	d.agent.Cancel(7)
	d.agent.Cancel(9)
	d.agent.Cancel(1000)
	d.finish()
	if len(d.answers) != 1 || d.answers[0].Request != 8 || d.answers[0].Trial.ID != 1 {
		t.Fatalf("answers %+v", d.answers)
	}
	d.agent.Cancel(8) // too late
	d.agent.Ask(d.now, 10)
	d.carryOut()
	d.agent.Cancel(10)
	d.finish()
	if got := len(d.agent.Trials()); got != 1 || len(d.answers) != 1 {
		t.Errorf("%d trials, %d answers: a trial was started for nobody", got, len(d.answers))
	}
}

func TestParallelAsksDiffer(t *testing.T) {
	d := newBowl(t)
	d.run(4, bowl)
	d.hold = true
	for range 6 {
		d.requests++
		d.agent.Ask(d.now, d.requests)
	}
	d.carryOut()
	d.finish()
	seen := map[string]bool{}
	for _, trial := range d.agent.Trials() {
		if seen[trial.Design.Key()] {
			t.Errorf("design %v twice", trial.Design)
		}
		seen[trial.Design.Key()] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d designs, want 10", len(seen))
	}
	for i, answer := range d.answers[4:] {
		if answer.Request != uint64(5+i) {
			t.Errorf("answer %d is for request %d", i, answer.Request)
		}
	}
}

func TestImport(t *testing.T) {
	d := newBowl(t)
	space := d.cfg.Task.Space
	var past []Past
	for a := range 6 {
		design, err := space.NewDesign(task.IntValue(int64(a)), task.ChoiceValue("left"))
		if err != nil {
			t.Fatal(err)
		}
		past = append(past, Past{design, strategy.Outcome{Value: bowl(design)}})
	}
	past = append(past, past[0]) // measured twice, which is no mistake
	d.hold = true
	d.agent.Ask(d.now, 1) // a suggestion that is under way loses its number
	d.carryOut()
	for i, want := range []int{7, 0, 0} {
		added, err := d.agent.Import(d.now, past)
		if err != nil || added != want {
			t.Errorf("import %d: %d added, %v", i, added, err)
		}
		d.carryOut()
		d.finish()
		if i == 1 {
			d.start()
			d.finish()
		}
	}
	added, err := d.agent.Import(d.now, append(past, past[1]))
	if err != nil || added != 1 {
		t.Errorf("with one more: %d added, %v", added, err)
	}
	trials := d.agent.Trials()
	if len(trials) != 9 || trials[7].Why.Source == strategy.Imported {
		t.Errorf("%d trials; the asked one: %+v", len(trials), trials[7])
	}
	if best := d.agent.Best(); best == nil || best.ID != 6 {
		t.Errorf("best %+v", best)
	}
}

func TestEpochGrowsByOneWithEachStart(t *testing.T) {
	d := newBowl(t)
	for want := uint64(1); want < 8; want++ {
		if got := d.agent.Epoch(); got != want {
			t.Fatalf("epoch %d, want %d", got, want)
		}
		d.run(1, bowl)
		if want%3 == 0 {
			d.journal = compact(t, d.journal)
		}
		d.start()
	}
}

// Hyperparameters are restored and not learned anew.
func TestFitsAreRestored(t *testing.T) {
	d := newBowl(t)
	d.run(5, bowl)
	d.start()
	for _, r := range d.records {
		if r.Fit != nil {
			t.Errorf("a restart without news fitted anew: %+v", r.Fit)
		}
	}
}

func TestAFailedDesignIsNotProposedAgain(t *testing.T) {
	// Three of the 63 designs fail, then all get asked for.
	broken := func(design task.Design) bool { return design.Int("a") > 11 && design.Choice("b") == "left" }
	d := newDriver(t, configOf(t, newTask(t, "cup", concurrent), 1))
	failed := map[string]bool{}
	for range 75 {
		trial := d.ask()
		if failed[trial.Design.Key()] {
			t.Fatalf("trial %d: %v (%s) has failed before", trial.ID, trial.Design, trial.Why)
		}
		if !broken(trial.Design) {
			d.tell(trial.ID, bowl(trial.Design))
			continue
		}
		failed[trial.Design.Key()] = true
		if err := d.agent.Fail(d.now, trial.ID, "broken"); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
	}
	if len(failed) == 0 {
		t.Error("no design failed; the test shows nothing")
	}
}

// When all designs of a space have failed there is none to propose.
func TestAskEndsWhenEverythingHasFailed(t *testing.T) {
	d := newDriver(t, configOf(t, newTask(t, "coin", concurrent), 1))
	for range 2 {
		if err := d.agent.Fail(d.now, d.ask().ID, "broken"); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
	}
	d.agent.Ask(d.now, 99)
	d.carryOut()
	if last := d.answers[len(d.answers)-1]; last.Request != 99 || last.Err == nil {
		t.Errorf("answer %+v, want an error", last)
	}
}

func TestReadHistory(t *testing.T) {
	d := newBowl(t)
	d.run(4, bowl)
	d.start()
	d.ask()
	h, err := ReadHistory(decodeAll(t, compact(t, d.journal)), all.Strategies())
	if err != nil {
		t.Fatal(err)
	}
	if h.Task.ID() != d.cfg.Task.ID() || h.Epoch != 2 || show(h.Trials) != show(d.agent.Trials()) || h.Best.ID != d.agent.Best().ID {
		t.Errorf("history %+v", h)
	}
	if _, err := ReadHistory(nil, all.Strategies()); err == nil {
		t.Error("an empty journal has a history")
	}
}

func TestJournalOfAnotherTaskIsRefused(t *testing.T) {
	d := newBowl(t)
	d.run(2, bowl)
	cfg := configOf(t, newTask(t, "bowl", "type: ts"), 1)
	if _, err := New(cfg, decodeAll(t, d.journal), d.now); err == nil {
		t.Error("no error")
	}
}

// A reason may be the last line of some program, in any encoding.
func TestAnyReasonSurvives(t *testing.T) {
	d := newBowl(t)
	trial := d.ask()
	if err := d.agent.Fail(d.now, trial.ID, "caf\xe9 \x00"); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	before := d.agent.Trials()[0].Reason
	d.start()
	if after := d.agent.Trials()[0].Reason; after != before {
		t.Errorf("reason %q became %q", before, after)
	}
}

// A trial is what the user sees as JSON, with its why.
func TestTrialsSurviveJSON(t *testing.T) {
	d := newBowl(t)
	d.run(3, bowl)
	data, err := json.Marshal(d.agent.Trials()[2])
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"id":3`, `"parameters":{"a":`, `"source":"own"`, `"state":"done"`, `"outcome":{"value":`} {
		if !strings.Contains(string(data), part) {
			t.Errorf("%s does not contain %s", data, part)
		}
	}
}

// Gossip of a share that arrived already, an unknown exchange, a word to
// nobody: all of it must leave the agent at rest.
func TestNoiseLeavesTheAgentAtRest(t *testing.T) {
	d := newBowl(t)
	d.run(3, bowl)
	before := d.snapshot()
	d.agent.Joined("someone")
	d.agent.Direct(d.now, "someone", "auction", []byte("bid"))
	d.agent.Direct(d.now, "someone", "presence", []byte("?"))
	d.agent.Tick(d.now)
	if r := d.agent.Ready(); !isEmpty(r) || !strings.HasPrefix(d.snapshot(), before[:20]) || slices.Contains([]bool{r.Wake.IsZero()}, true) {
		t.Errorf("left to do: %+v", r)
	}
}
