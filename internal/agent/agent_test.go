package agent

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/strategy"
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
		if _, err := New(cfg, nil, epochStart); err == nil || !strings.HasPrefix(err.Error(), "Config.") {
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
		{"tell a constraint NaN", tell(running.ID, strategy.Outcome{Constraints: map[string]task.Reading{"c": task.Number(math.NaN())}}), ErrBadOutcome},
		{"tell an infinite metric", tell(running.ID, strategy.Outcome{Metrics: map[string]float64{"m": math.Inf(1)}}), ErrBadOutcome},
		{"tell a metric without a name", tell(running.ID, strategy.Outcome{Metrics: map[string]float64{"": 1}}), ErrBadOutcome},
		{"tell a metric that would move the cursor", tell(running.ID, strategy.Outcome{Metrics: map[string]float64{"\x1b[2J": 1}}), ErrBadOutcome},
		{"tell too many metrics", tell(running.ID, strategy.Outcome{Metrics: manyMetrics(strategy.MaxMetrics + 1)}), ErrBadOutcome},
		{"fail an unknown trial", func() error { return d.agent.Fail(d.now, 99, "") }, ErrUnknownTrial},
		{"fail a trial that is done", func() error { return d.agent.Fail(d.now, 1, "") }, ErrFinished},
		{"return an unknown trial", func() error { return d.agent.Requeue(d.now, 99) }, ErrUnknownTrial},
		{"return a trial that is done", func() error { return d.agent.Requeue(d.now, 1) }, nil},
		{"return a failed trial", func() error { return d.agent.Requeue(d.now, failed.ID) }, nil},
		{"import NaN behind a good one", load(good, Past{Design: running.Design, Outcome: strategy.Outcome{Value: math.NaN()}}), ErrBadOutcome},
		{"import a foreign design", load(good, foreign), nil},
		{"import no design", load(good, Past{Design: task.Design{}, Outcome: strategy.Outcome{Value: 1}}), nil},
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

func TestCancelWithdrawsRequests(t *testing.T) {
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

func TestImportAddsPastTrials(t *testing.T) {
	d := newBowl(t)
	space := d.cfg.Task.Space
	var past []Past
	for a := range 6 {
		design, err := space.NewDesign(task.IntValue(int64(a)), task.ChoiceValue("left"))
		if err != nil {
			t.Fatal(err)
		}
		past = append(past, Past{Design: design, Outcome: strategy.Outcome{Value: bowl(design)}})
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

// Gossip of a share that arrived already, an unknown exchange, a word to
// nobody: all of it must leave the agent at rest.
func TestNoiseLeavesTheAgentAtRest(t *testing.T) {
	d := newBowl(t)
	d.run(3, bowl)
	before := d.snapshot()
	d.agent.Joined("someone", "")
	d.agent.Direct(d.now, "someone", "auction", []byte("bid"))
	d.agent.Direct(d.now, "someone", "presence", []byte("?"))
	d.agent.Tick(d.now)
	if r := d.agent.Ready(); !isEmpty(r) || !strings.HasPrefix(d.snapshot(), before[:20]) || slices.Contains([]bool{r.Wake.IsZero()}, true) {
		t.Errorf("left to do: %+v", r)
	}
}
