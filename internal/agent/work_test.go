package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/recoverpanic"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/strategy/search"
	"github.com/fbo-node/fbo/task"
)

// choosing is a strategy of functions; without a function it chooses at random.
type choosing struct {
	search.Search
	suggest   func(ctx context.Context, trial uint64)
	recommend func()
}

func (c choosing) Suggest(ctx context.Context, view strategy.View, trial uint64, seed random.Seed) (strategy.Suggestion, error) {
	if c.suggest != nil {
		c.suggest(ctx, trial)
	}
	if err := ctx.Err(); err != nil {
		return strategy.Suggestion{}, err
	}
	return c.Start(view, trial, seed)
}

func (c choosing) Recommend(context.Context, strategy.View, random.Seed) task.Design {
	c.recommend()
	return task.Design{}
}

// brittle is an exchange of functions, named brittle.
type brittle struct {
	decode func(payload []byte)
	step   func(in strategy.Input) []strategy.Output
}

func (brittle) Name() string { return "brittle" }

func (b brittle) Decode(payload []byte) (any, error) {
	if b.decode != nil {
		b.decode(payload)
	}
	return payload, nil
}

func (b brittle) Step(_ strategy.View, in strategy.Input) []strategy.Output { return b.step(in) }

// fitting is a surrogate with a function in front of what it does.
type fitting struct {
	surrogate.Model
	before func(step string, observations int)
}

func (f fitting) Fit(ctx context.Context, obs surrogate.Observations, previous *surrogate.Hyperparameters, rng *rand.Rand) (surrogate.Hyperparameters, error) {
	f.before("fit", len(obs.Y))
	return f.Model.Fit(ctx, obs, previous, rng)
}

func (f fitting) Condition(obs surrogate.Observations, h surrogate.Hyperparameters, previous surrogate.Posterior) (surrogate.Posterior, error) {
	f.before("condition", len(obs.Y))
	return f.Model.Condition(obs, h, previous)
}

// warned returns those so far; each that a panic caused must have its stack.
func (d *driver) warned() (messages []string) {
	d.t.Helper()
	for _, e := range d.events {
		if e.Type == Warning {
			messages = append(messages, e.Message)
			if strings.Contains(e.Message, "panicked") != strings.Contains(e.Stack, "work_test.go") {
				d.t.Errorf("%s: the stack is %q", e.Message, e.Stack)
			}
		}
	}
	return messages
}

// checkWarned demands one warning, which says this.
func (d *driver) checkWarned(says ...string) {
	d.t.Helper()
	got := d.warned()
	if len(got) != 1 {
		d.t.Fatalf("warnings %q, want one", got)
	}
	for _, part := range says {
		if !strings.Contains(got[0], part) {
			d.t.Errorf("the warning %q does not say %q", got[0], part)
		}
	}
}

// The trial whose choice panicked is chosen alone, says so, and stays; the run goes on.
func TestAPanicOfTheStrategyEndsNoRun(t *testing.T) {
	cfg := configOf(t, newTask(t, "bowl", "type: logei, initial_designs: 2"), 1)
	panics := true
	cfg.Strategy = choosing{search.New(cfg.Task), func(_ context.Context, trial uint64) {
		if trial == 3 && panics {
			panics = false
			panic("boom")
		}
	}, func() { panic("bang") }}
	d := newDriver(t, cfg)
	d.run(2, bowl)
	if trial := d.ask(); trial.ID != 3 || trial.Why.String() != "random start, alone, since the strategy failed" {
		t.Fatalf("after the panic: trial %d, %s", trial.ID, trial.Why)
	}
	d.checkWarned("trial 3", "the strategy panicked: boom")
	d.tell(3, 1)
	d.run(1, bowl)
	var p *recoverpanic.Panic
	if _, err := d.agent.Recommend(t.Context(), d.agent.View(d.now)); !errors.As(err, &p) || p.Value != "bang" {
		t.Errorf("Recommend: %v", err)
	}
	before := show(d.agent.Trials())
	d.start()
	if after := show(d.agent.Trials()); after != before {
		t.Errorf("after a restart: %s, before: %s", after, before)
	}
	d.run(1, bowl)
}

func TestAPanicOfTheSurrogateFailsOneLesson(t *testing.T) {
	for _, step := range []string{"fit", "condition"} {
		cfg := configOf(t, newTask(t, "bowl", "type: logei, initial_designs: 2"), 1)
		model, err := surrogate.New(cfg.Task)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Model = fitting{model, func(now string, observations int) {
			if now == step && observations == 3 {
				panic("boom")
			}
		}}
		d := newDriver(t, cfg)
		d.run(3, bowl)
		d.checkWarned("3 observations", "the surrogate panicked: boom")
		for _, r := range d.records {
			if r.Fit != nil && r.Fit.Observations == 3 {
				t.Errorf("%s: the failed fit is in the journal", step)
			}
		}
		d.run(2, bowl)
		if known, all := d.agent.Modelled(); known != 5 || !all {
			t.Errorf("%s: the model knows %d of 5", step, known)
		}
	}
}

// withBrittle makes an agent of one more exchange.
func withBrittle(t *testing.T, b brittle) *driver {
	cfg := configOf(t, newTask(t, "bowl", concurrent), 1)
	registration, err := all.Strategies().Of(cfg.Task)
	if err != nil {
		t.Fatal(err)
	}
	exchanges, err := NewExchanges(registration, strategy.Env{Task: cfg.Task, Key: cfg.Key})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Exchanges = append(exchanges, b)
	return newDriver(t, cfg)
}

// An exchange whose Step panics gets no further input, is no longer woken, and nobody
// waits for it; a restart begins it anew.
func TestAPanicOfAStepEndsTheExchange(t *testing.T) {
	var inputs []strategy.Input
	d := withBrittle(t, brittle{step: func(in strategy.Input) []strategy.Output {
		inputs = append(inputs, in)
		switch in.(type) {
		case strategy.Start:
			return []strategy.Output{strategy.SetTimer{Name: "later", After: time.Hour}}
		case strategy.Direct:
			panic("boom")
		}
		return nil
	}})
	d.run(1, bowl)
	seen := len(inputs)
	for range 3 {
		d.agent.Direct(d.now, "mallory", "brittle", []byte("?"))
		d.carryOut()
	}
	d.checkWarned(`the exchange "brittle" panicked: boom`, "until the next start")
	d.run(2, bowl)
	d.pass(2 * time.Hour)
	if len(inputs) != seen+1 {
		t.Errorf("after the panic the exchange got %d inputs", len(inputs)-seen-1)
	}
	if got := d.receive(say(t, d, fbotest.Key(t, 9), "brittle", 0, protocol.Stamp{Epoch: 1, Sequence: 1}, time.Hour, []byte("word"))); got != Accepted {
		t.Errorf("a share of the stopped exchange is %v", got)
	}
	d.agent.strategy = &patient{exchange: "brittle", limit: time.Hour}
	d.events = nil
	d.agent.Ask(d.now, 99)
	d.carryOut()
	if answer := d.answers[len(d.answers)-1]; answer.Request != 99 || answer.Err != nil {
		t.Errorf("who waits for the exchange gets %+v", answer)
	}
	d.checkWarned("without a result of exchange brittle: it has stopped")
	d.events = nil
	d.start()
	d.run(1, bowl)
	if _, ok := inputs[len(inputs)-1].(strategy.TrialsEnded); !ok || len(d.warned()) > 0 {
		t.Errorf("after a restart: the last input is %T, warnings %q", inputs[len(inputs)-1], d.warned())
	}
}

// Whoever waits when the exchange panics is not left waiting.
func TestAPanicOfAStepEndsTheWaitingForIt(t *testing.T) {
	d := withBrittle(t, brittle{step: func(in strategy.Input) []strategy.Output {
		if _, ok := in.(strategy.Direct); ok {
			panic("boom")
		}
		return nil
	}})
	d.agent.strategy = &patient{exchange: "brittle", limit: time.Hour}
	d.agent.Ask(d.now, 1)
	d.carryOut()
	if len(d.answers) > 0 {
		t.Fatalf("answers %+v", d.answers)
	}
	d.agent.Direct(d.now, "mallory", "brittle", nil)
	d.carryOut()
	if len(d.answers) != 1 || d.answers[0].Err != nil {
		t.Errorf("answers %+v", d.answers)
	}
}

// A payload that makes Decode panic is malformed, by which its sender is blamed, and
// the user is told once.
func TestAPanicOfDecodeMakesTheShareMalformed(t *testing.T) {
	d := withBrittle(t, brittle{
		decode: func(payload []byte) {
			if string(payload) == "bomb" {
				panic("boom")
			}
		},
		step: func(strategy.Input) []strategy.Output { return nil },
	})
	for n := range byte(5) {
		share := say(t, d, fbotest.Key(t, 10+int(n)), "brittle", 0, protocol.Stamp{Epoch: 1, Sequence: 1}, time.Hour, []byte("bomb"))
		result, err := d.agent.Receive(d.now, share, 0)
		d.carryOut()
		if result != Malformed || !errors.Is(err, protocol.ErrMalformed) {
			t.Errorf("%v, %v", result, err)
		}
	}
	d.checkWarned(`the exchange "brittle" panicked: boom`)
	own := say(t, d, fbotest.Key(t, 1), "brittle", 0, protocol.Stamp{Epoch: 1, Sequence: 1}, time.Hour, []byte("bomb"))
	if result, err := d.agent.Receive(d.now, own, 0); result != Stale || err != nil {
		t.Errorf("the own share: %v, %v", result, err)
	}
	good := say(t, d, fbotest.Key(t, 10), "brittle", 0, protocol.Stamp{Epoch: 1, Sequence: 2}, time.Hour, []byte("word"))
	if result := d.receive(good); result != Accepted {
		t.Errorf("a good share after it: %v", result)
	}
}

// The exchange is told of a panic of its Work as of any other error.
func TestAPanicOfAWorkIsItsError(t *testing.T) {
	var done []strategy.WorkDone
	d := withBrittle(t, brittle{step: func(in strategy.Input) []strategy.Output {
		switch in := in.(type) {
		case strategy.Start:
			return []strategy.Output{strategy.Work{Name: "sum", Run: func(context.Context, strategy.View, random.Seed) (any, error) {
				panic("boom")
			}}}
		case strategy.WorkDone:
			done = append(done, in)
		}
		return nil
	}})
	d.checkWarned("brittle: sum", `the exchange "brittle" panicked: boom`)
	if len(done) != 1 || done[0].Name != "sum" || done[0].Result != nil || done[0].Err == nil {
		t.Errorf("the exchange is told %+v", done)
	}
	d.run(3, bowl)
}

// A Work whose context ended has no result: nothing is journaled, answered or told, and
// it begins again with the next input.
func TestACancelledWorkHasNoResult(t *testing.T) {
	var told []strategy.Input
	d := withBrittle(t, brittle{step: func(in strategy.Input) []strategy.Output {
		told = append(told, in)
		if _, ok := in.(strategy.TrialsEnded); ok && len(told) < 5 {
			return []strategy.Output{strategy.Work{Name: "sum", Run: func(ctx context.Context, _ strategy.View, _ random.Seed) (any, error) {
				return 1, ctx.Err()
			}}}
		}
		return nil
	}})
	d.run(1, bowl)
	d.hold = true
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	cut := func(works int) {
		t.Helper()
		if len(d.held) != works {
			t.Fatalf("%d works, want %d", len(d.held), works)
		}
		journal, answers, events, steps := len(d.journal), len(d.answers), len(d.events), len(told)
		for _, work := range d.held {
			d.agent.Done(d.now, work.ID, work.Run(cancelled))
		}
		d.held = nil
		d.carryOut()
		if len(d.held) > 0 || len(d.journal) != journal || len(d.answers) != answers || len(d.events) != events || len(told) != steps {
			t.Fatalf("works %d, journal +%d, answers +%d, events +%d, steps +%d", len(d.held), len(d.journal)-journal, len(d.answers)-answers, len(d.events)-events, len(told)-steps)
		}
	}
	d.agent.Ask(d.now, 50)
	d.carryOut()
	cut(1) // the choice of a design
	d.agent.Tick(d.now)
	d.carryOut()
	d.finish()
	trial := d.answers[len(d.answers)-1].Trial
	d.tell(trial.ID, 1)
	cut(1) // what the outcome teaches
	d.agent.Tick(d.now)
	d.carryOut()
	work := d.held[0]
	d.held = nil
	d.agent.Done(d.now, work.ID, work.Run(t.Context()))
	d.carryOut()
	cut(2) // the shares of both exchanges
	d.agent.Tick(d.now)
	d.carryOut()
	d.finish()
	if done, ok := told[len(told)-1].(strategy.WorkDone); !ok || done.Result != 1 {
		t.Errorf("in the end the exchange is told %+v", told[len(told)-1])
	}
	if known, all := d.agent.Modelled(); known != 2 || !all || !d.agent.Settled() {
		t.Errorf("in the end the model knows %d, settled %t", known, d.agent.Settled())
	}
	if len(d.warned()) > 0 {
		t.Errorf("warnings %q", d.warned())
	}
}

// A panic while the strategy is made ends the start of the agent with an error.
func TestAPanicOfTheConstructor(t *testing.T) {
	cfg := configOf(t, newTask(t, "bowl", "type: consensus, initial_designs: 2"), 1)
	cfg.Task.Strategy.Settings = nil
	_, err := New(cfg, nil, epochStart)
	var p *recoverpanic.Panic
	if !errors.As(err, &p) || !strings.Contains(err.Error(), "the making of the strategy panicked") {
		t.Errorf("%v", err)
	}
}

// Each exchange of a task needs a name of its own, or records and shares get mixed up.
func TestNamesOfExchanges(t *testing.T) {
	for want, list := range map[string][]strategy.Exchange{
		"is nil":             {nil},
		`the name "brittle"`: {brittle{}, brittle{}},
	} {
		cfg := configOf(t, newTask(t, "bowl", concurrent), 1)
		cfg.Exchanges = list
		if _, err := New(cfg, nil, epochStart); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// What peers would refuse does not leave the agent, and its user is told.
func TestUnacceptableSharesAreNotSent(t *testing.T) {
	for says, publish := range map[string]strategy.Publish{
		"slot 7":         {Slot: 7, Payload: []byte("word"), TTL: time.Hour},
		"panicked: boom": {Payload: []byte("bomb"), TTL: time.Hour},
	} {
		d := withBrittle(t, brittle{
			decode: func(payload []byte) {
				if string(payload) == "bomb" {
					panic("boom")
				}
			},
			step: func(in strategy.Input) []strategy.Output {
				if _, ok := in.(strategy.Direct); ok {
					return []strategy.Output{publish}
				}
				return nil
			},
		})
		d.agent.Direct(d.now, "somebody", "brittle", nil)
		d.carryOut()
		if sent := d.agent.Counts().Sent["brittle"]; sent != 0 {
			t.Errorf("%s: %d shares sent", says, sent)
		}
		warned := d.warned()
		if len(warned) == 0 || !strings.Contains(strings.Join(warned, "\n"), says) {
			t.Errorf("warnings %q do not say %q", warned, says)
		}
	}
}
