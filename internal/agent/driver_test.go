package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

// testTasks are small and finite, so that a maximiser does not depend on the
// last bit of some CPU. A %s takes the keys of the strategy.
var testTasks = map[string]string{
	"bowl": `
name: bowl
goal: minimize
parameters:
  - {name: a, type: int, low: 0, high: 20}
  - {name: b, type: categorical, choices: [left, right, middle]}
surrogate: {type: exact, features: 16}
strategy: {%s}`,
	"shared": `
name: shared
goal: minimize
parameters:
  - {name: a, type: int, low: 0, high: 20}
  - {name: b, type: categorical, choices: [left, right, middle]}
surrogate: {type: exact, features: 16, hyperparameters: shared}
strategy: {%s}`,
	"latent": `
name: latent
goal: minimize
parameters:
  - {name: a, type: int, low: 0, high: 20}
  - {name: b, type: categorical, choices: [left, right, middle]}
surrogate: {type: shared-latent, features: 16}
strategy: {%s}`,
	"cup": `
name: cup
goal: minimize
parameters:
  - {name: a, type: int, low: 0, high: 20}
  - {name: b, type: categorical, choices: [left, right, middle]}
surrogate: {type: rff, features: 16}
strategy: {%s}`,
	"square": `
name: square
goal: minimize
parameters:
  - {name: x, type: float, low: 0, high: 1}
  - {name: y, type: float, low: 0, high: 1}
strategy: {%s}`,
	"coin": `
name: coin
goal: maximize
parameters:
  - {name: side, type: categorical, choices: [heads, tails]}
surrogate: {type: rff, features: 16}
strategy: {%s}`,
}

const concurrent = "type: fts, initial_designs: 2"

func newTask(t testing.TB, name, strategyKeys string) *task.Task {
	t.Helper()
	text, ok := testTasks[name]
	if !ok {
		t.Fatalf("there is no test task %q", name)
	}
	parsed, err := all.Strategies().Parse(name, fmt.Appendf(nil, text, strategyKeys))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// bowl is what the tests measure: best at a=13 on the left.
func bowl(d task.Design) float64 {
	value := float64((d.Int("a") - 13) * (d.Int("a") - 13))
	if d.Choice("b") != "left" {
		value += 25
	}
	return value / 10
}

var epochStart = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func configOf(t testing.TB, spec *task.Task, n byte) Config {
	return Config{Task: spec, Strategies: all.Strategies(), Key: fbotest.Key(t, int(n)), Seed: random.SeedOf(uint64(n))}
}

// driver does for one agent what a node does, in memory: it keeps the journal
// as encoded records, runs work at once, and holds every Ready against the
// promises of the package.
type driver struct {
	t       testing.TB
	cfg     Config
	now     time.Time
	agent   *Agent
	journal [][]byte // every record ever written
	hold    bool     // keep work instead of running it
	held    []Work

	published []protocol.Share // since it was last emptied
	sent      []Direct         // the same
	answers   []Answer
	events    []Event
	records   []Record // of this run
	shown     int      // of the records, in a transcript
	wake      time.Time
	stamps    map[protocol.Stamp][32]byte // of a whole life
	requests  uint64
}

func newDriver(t testing.TB, cfg Config) *driver {
	d := &driver{t: t, cfg: cfg, now: epochStart, stamps: map[protocol.Stamp][32]byte{}}
	d.start()
	return d
}

// start makes an agent of the journal; what the old one had not written is lost.
func (d *driver) start() {
	d.t.Helper()
	d.held, d.records, d.published, d.sent, d.answers, d.shown = nil, nil, nil, nil, nil, 0
	var err error
	if d.agent, err = New(d.cfg, decodeAll(d.t, d.journal), d.now); err != nil {
		d.t.Fatal(err)
	}
	d.carryOut()
}

func decodeAll(t testing.TB, journal [][]byte) []Record {
	t.Helper()
	records := make([]Record, len(journal))
	for i, data := range journal {
		var err error
		if records[i], err = DecodeRecord(data); err != nil {
			t.Fatalf("record %d: %v", i+1, err)
		}
	}
	return records
}

// compact keeps what a journal keeps: of the records with one key the last.
func compact(t testing.TB, journal [][]byte) [][]byte {
	last := map[string]int{}
	records := decodeAll(t, journal)
	for i, r := range records {
		last[r.Key()] = i
	}
	var kept [][]byte
	for i, r := range records {
		if r.Key() == "" || last[r.Key()] == i {
			kept = append(kept, journal[i])
		}
	}
	return kept
}

func isEmpty(r Ready) bool {
	r.Wake = time.Time{}
	return reflect.DeepEqual(r, Ready{})
}

func (d *driver) carryOut() {
	d.t.Helper()
	for range 1000 {
		r := d.agent.Ready()
		d.wake = r.Wake
		if isEmpty(r) {
			return
		}
		for _, record := range r.Records {
			data, err := record.Encode()
			if err != nil {
				d.t.Fatal(err)
			}
			d.journal = append(d.journal, data)
			d.records = append(d.records, record)
		}
		d.check(r)
		d.published = append(d.published, r.Publish...)
		d.sent = append(d.sent, r.Send...)
		d.answers = append(d.answers, r.Answers...)
		d.events = append(d.events, r.Events...)
		if d.hold {
			d.held = append(d.held, r.Work...)
			continue
		}
		for _, work := range r.Work {
			d.agent.Done(d.now, work.ID, work.Run(context.Background()))
		}
	}
	d.t.Fatal("the agent never comes to rest")
}

// check holds a Ready against what is promised about order.
func (d *driver) check(r Ready) {
	d.t.Helper()
	for _, share := range r.Publish {
		if !slices.ContainsFunc(d.records, func(r Record) bool { return r.Epoch != nil && r.Epoch.Epoch == share.Epoch }) {
			d.t.Errorf("share %v %v: its epoch is not in the journal", share.Kind, share.Stamp)
		}
		if digest, ok := d.stamps[share.Stamp]; ok && digest != share.Digest {
			d.t.Errorf("stamp %v stands on two shares", share.Stamp)
		}
		d.stamps[share.Stamp] = share.Digest
		sent := slices.ContainsFunc(r.Records, func(r Record) bool {
			return r.Sent != nil && bytes.Equal(r.Sent.Envelope, share.Envelope)
		})
		if want := share.Kind != "presence" && share.Kind != protocol.ReceiptKind; sent != want {
			d.t.Errorf("share %v %v: journaled %v, want %v", share.Kind, share.Stamp, sent, want)
		}
	}
	for _, answer := range r.Answers {
		if answer.Err != nil {
			continue
		}
		if !slices.ContainsFunc(d.records, func(r Record) bool {
			return r.Trial != nil && r.Trial.ID == answer.Trial.ID || r.Offer != nil && r.Offer.ID == answer.Trial.ID
		}) {
			d.t.Errorf("trial %d is given to an evaluator and not in the journal", answer.Trial.ID)
		}
	}
}

// finish runs the work that was held back, the oldest first.
func (d *driver) finish() {
	for len(d.held) > 0 {
		work := d.held[0]
		d.held = d.held[1:]
		d.agent.Done(d.now, work.ID, work.Run(context.Background()))
		d.carryOut()
	}
}

// pass lets time pass, with a Tick at every Wake.
func (d *driver) pass(span time.Duration) {
	d.t.Helper()
	end := d.now.Add(span)
	for range 10000 {
		if d.wake.IsZero() || d.wake.After(end) {
			d.now = end
			return
		}
		d.now = later(d.now, d.wake)
		d.agent.Tick(d.now)
		d.carryOut()
	}
	d.t.Fatal("the agent wants to be woken without end")
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// ask returns the answer, which must come at once.
func (d *driver) ask() strategy.Trial {
	d.t.Helper()
	d.requests++
	d.agent.Ask(d.now, d.requests)
	d.carryOut()
	answer := d.answers[len(d.answers)-1]
	if answer.Request != d.requests || answer.Err != nil {
		d.t.Fatalf("asked %d, the last answer is %+v", d.requests, answer)
	}
	return answer.Trial
}

func (d *driver) tell(id uint64, value float64) {
	d.t.Helper()
	if err := d.agent.Tell(d.now, id, strategy.Outcome{Value: value}); err != nil {
		d.t.Fatal(err)
	}
	d.carryOut()
}

// run evaluates n trials.
func (d *driver) run(n int, f func(task.Design) float64) {
	d.t.Helper()
	for range n {
		trial := d.ask()
		d.tell(trial.ID, f(trial.Design))
	}
}

// receive hands over a share as a network does: opened from its bytes.
func (d *driver) receive(share protocol.Share) ShareResult {
	d.t.Helper()
	opened, err := protocol.Open(share.Envelope)
	if err != nil {
		d.t.Fatal(err)
	}
	result, _ := d.agent.Receive(d.now, opened, 0)
	d.carryOut()
	return result
}

func (d *driver) self() peer.ID { return d.agent.self }

// take returns what was published since the last call.
func (d *driver) take() []protocol.Share {
	published := d.published
	d.published = nil
	return published
}

// exchange carries everything published between all agents until nothing is
// left; peers learn of a newcomer by its presence.
func exchange(all ...*driver) {
	for range 100 {
		quiet := true
		for _, from := range all {
			for _, share := range from.take() {
				quiet = false
				for _, to := range all {
					if to != from {
						to.receive(share)
					}
				}
			}
		}
		if quiet {
			return
		}
	}
}

// show is a text that is the same for equal trials only.
func show(trials []strategy.Trial) string {
	data, err := json.Marshal(trials)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// snapshot is everything about an agent that an error must leave alone.
func (d *driver) snapshot() string {
	a := d.agent
	return fmt.Sprintf("%s|%v|%v|%v|%v|%v|%v|%v|%+v|%v|%v", show(a.Trials()), a.trials.nearest, a.epoch, a.sequence, a.asks,
		a.offers, a.suggesting, slices.Sorted(maps.Keys(a.work)), a.ready, a.Digest(), a.Counts())
}
