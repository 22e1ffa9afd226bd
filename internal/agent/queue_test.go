package agent

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/all"
	"github.com/fbo-node/fbo/task"
)

func designsOf(t *testing.T, spec *task.Task, texts ...string) (designs []task.Design) {
	t.Helper()
	for _, text := range texts {
		design, err := spec.Space.UnmarshalDesign([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		designs = append(designs, design)
	}
	return designs
}

// TestFirstDesignsThatWereTried: whatever a trial has had, with any source and
// end, is not evaluated again.
func TestFirstDesignsThatWereTried(t *testing.T) {
	spec := newTask(t, "bowl", concurrent)
	designs := designsOf(t, spec, `{"a":1,"b":"left"}`, `{"a":2,"b":"left"}`, `{"a":3,"b":"left"}`)
	cfg := configOf(t, spec, 1)
	cfg.Enqueue = designs
	d := newDriver(t, cfg)
	if _, err := d.agent.Import(d.now, []Past{{Design: designs[1], Outcome: strategy.Outcome{Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	trial := d.ask()
	if !trial.Design.Equal(designs[0]) || trial.Why.Source != strategy.Enqueued {
		t.Errorf("first %v, %v", trial.Design, trial.Why)
	}
	if err := d.agent.Fail(d.now, trial.ID, "no luck"); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	if trial = d.ask(); !trial.Design.Equal(designs[2]) {
		t.Errorf("second %v", trial.Design)
	}
	d.tell(trial.ID, 1)
	if trial = d.ask(); trial.Why.Source == strategy.Enqueued {
		t.Errorf("third %v, %v: all of the list have been tried", trial.Design, trial.Why)
	}
}

// TestPreparedTrials: a design of the user has a trial before any client asks, which the next clients get in
// order, before queued designs, also after a restart.
func TestPreparedTrials(t *testing.T) {
	spec := newTask(t, "bowl", concurrent)
	designs := designsOf(t, spec, `{"a":1,"b":"left"}`, `{"a":2,"b":"left"}`)
	d := newDriver(t, configOf(t, spec, 1))
	if _, err := d.agent.Enqueue(d.now, designs[1]); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		id, err := d.agent.Prepare(d.now, designs[0])
		if err != nil || id != uint64(i+1) {
			t.Fatalf("trial %d, %v", id, err)
		}
		d.carryOut()
	}
	if first := d.agent.Trials()[0]; first.State != strategy.Waiting || first.Attempts != 0 || !first.Design.Equal(designs[0]) {
		t.Errorf("prepared %v with %d attempts", first, first.Attempts)
	}
	if trial := d.ask(); trial.ID != 1 || trial.State != strategy.Running || trial.Attempts != 1 {
		t.Errorf("first %v with %d attempts", trial, trial.Attempts)
	}
	d.tell(1, 1)
	d.journal = compact(t, d.journal)
	d.start()
	for _, want := range []uint64{2, 3, 4} {
		if trial := d.ask(); trial.ID != want {
			t.Errorf("%v, expected trial %d", trial, want)
		}
	}
	other := designsOf(t, newTask(t, "coin", concurrent), `{"side":"heads"}`)
	if _, err := d.agent.Prepare(d.now, other[0]); err == nil {
		t.Error("a design of another task is accepted")
	}
	for range MaxQueued {
		if _, err := d.agent.Prepare(d.now, designs[0]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.agent.Prepare(d.now, designs[0]); !errors.Is(err, ErrQueueFull) {
		t.Errorf("one more than fit: %v", err)
	}
}

func TestFirstDesignsAreChecked(t *testing.T) {
	spec, other := newTask(t, "bowl", concurrent), newTask(t, "coin", concurrent)
	cfg := configOf(t, spec, 1)
	cfg.Enqueue = append(designsOf(t, spec, `{"a":1,"b":"left"}`), designsOf(t, other, `{"side":"heads"}`)...)
	if _, err := New(cfg, nil, epochStart); err == nil || !strings.Contains(err.Error(), "Config.Enqueue, design 2: ") {
		t.Errorf("got %v", err)
	}
}

// TestFirstDesignsWithEveryStrategy: more of them than there are starting designs,
// alone, and then the strategy goes on.
func TestFirstDesignsWithEveryStrategy(t *testing.T) {
	for _, keys := range []string{
		"type: peer-prior, initial_designs: 1", "type: fts, initial_designs: 1", "type: ts, initial_designs: 1", "type: logei, initial_designs: 1",
		"type: ucb, initial_designs: 1", "type: mes, initial_designs: 1", "type: constrained-gp, initial_designs: 1", "type: density, initial_designs: 1",
		"type: consensus, mode: asynchronous, rounds: 9, initial_designs: 1",
	} {
		t.Run(keys, func(t *testing.T) {
			spec := newTask(t, "bowl", keys)
			cfg := configOf(t, spec, 1)
			cfg.Enqueue = designsOf(t, spec, `{"a":1,"b":"left"}`, `{"a":2,"b":"left"}`, `{"a":3,"b":"left"}`)
			d := newDriver(t, cfg)
			for i := range 5 {
				trial := d.ask()
				if first := trial.Why.Source == strategy.Enqueued; first != (i < 3) || first && !trial.Design.Equal(cfg.Enqueue[i]) ||
					trial.Why.Source == strategy.Initial {
					t.Errorf("trial %d: %v, %v", trial.ID, trial.Design, trial.Why)
				}
				d.tell(trial.ID, bowl(trial.Design))
			}
		})
	}
}

// failRun starts an agent anew and lets n trials fail. It returns their designs and reasons.
func failRun(t *testing.T, d *driver, n int) (designs []string) {
	t.Helper()
	d.start()
	for range n {
		trial := d.ask()
		designs = append(designs, trial.Design.Key()+" "+trial.Why.String())
		if err := d.agent.Fail(d.now, trial.ID, "the command exited with code 2"); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
	}
	return designs
}

// TestMistypedCommandCostsNoStartingDesigns checks that a run after one in which all has failed
// begins with the same designs, and that the trials keep their numbers.
func TestMistypedCommandCostsNoStartingDesigns(t *testing.T) {
	for _, keys := range []string{"type: peer-prior", "type: logei", "type: fts, initial_designs: 5", "type: density, initial_designs: 4"} {
		t.Run(keys, func(t *testing.T) {
			spec := newTask(t, "bowl", keys)
			start := spec.Strategy.InitialDesigns
			cfg := configOf(t, spec, 1)
			cfg.Enqueue = designsOf(t, spec, `{"a":1,"b":"left"}`)
			d := newDriver(t, cfg)
			first := failRun(t, d, start+2)
			for range 2 { // two times the command is still wrong
				again := failRun(t, d, start+2)
				if !slices.Equal(again[:start], first[:start]) {
					t.Errorf("starting designs\n%q, then\n%q", first[:start], again[:start])
				}
				if slices.Contains(first, again[start]) {
					t.Errorf("the random design %s is repeated", again[start])
				}
			}
			d.start()
			var designs []string
			for i := range start + 1 {
				trial := d.ask()
				if want := uint64(3*(start+2) + i + 1); trial.ID != want {
					t.Errorf("trial %d, want %d", trial.ID, want)
				}
				designs = append(designs, trial.Design.Key()+" "+trial.Why.String())
				d.tell(trial.ID, bowl(trial.Design))
				if i == 1 { // what was set aside stays so
					d.start()
				}
			}
			if !slices.Equal(designs[:start], first[:start]) {
				t.Errorf("with outcomes the starting designs are\n%q, want\n%q", designs[:start], first[:start])
			}
			if got := d.agent.View(d.now); got.SetAside != 3*(start+2) || len(got.Trials) != start+1 || len(d.agent.Trials()) != 4*start+7 {
				t.Errorf("%d trials are set aside, %d seen, %d exist", got.SetAside, len(got.Trials), len(d.agent.Trials()))
			}
			failed := failRun(t, d, 1)
			d.start()
			if got := d.agent.View(d.now); len(got.Trials) != start+2 || slices.Contains(first, failed[0]) {
				t.Errorf("a failure after outcomes is set aside: %d trials, %s", len(got.Trials), failed)
			}
		})
	}
}

// TestFailuresThatCountAreNotSetAside checks that observed and imported failures stay.
func TestFailuresThatCountAreNotSetAside(t *testing.T) {
	spec := newTask(t, "bowl", concurrent)
	d := newDriver(t, configOf(t, spec, 1))
	if _, err := d.agent.Import(d.now, []Past{{Design: designsOf(t, spec, `{"a":1,"b":"left"}`)[0], Failed: "it diverged"}}); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	d.start()
	if got := d.agent.View(d.now); len(got.Trials) != 1 || got.SetAside != 0 {
		t.Errorf("of an imported failure %d are seen, %d set aside", len(got.Trials), got.SetAside)
	}
	spec = newTask(t, "bowl", "type: peer-prior")
	spec.Failures = task.ConstrainFailures
	d = newDriver(t, configOf(t, spec, 1))
	failRun(t, d, 2)
	d.start()
	if got := d.agent.View(d.now); len(got.Trials) != 2 || got.SetAside != 0 {
		t.Errorf("where failures count %d are seen, %d set aside", len(got.Trials), got.SetAside)
	}
}

// TestQueueAnswersAWaitingAsk: an enqueued design goes to a request that waits for a choice, and
// Config.Enqueue comes first.
func TestQueueAnswersAWaitingAsk(t *testing.T) {
	spec := newTask(t, "bowl", concurrent)
	designs := designsOf(t, spec, `{"a":1,"b":"left"}`, `{"a":2,"b":"left"}`)
	d := newDriver(t, configOf(t, spec, 1))
	d.hold = true // of the work that chooses a design
	d.agent.Ask(d.now, 77)
	d.carryOut()
	if _, err := d.agent.Enqueue(d.now, designs[1]); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	i := slices.IndexFunc(d.answers, func(a Answer) bool { return a.Request == 77 })
	if i < 0 || !d.answers[i].Trial.Design.Equal(designs[1]) || d.answers[i].Trial.Why.Source != strategy.Enqueued {
		t.Fatalf("answers %+v, expected the enqueued design", d.answers)
	}
	if queue := d.agent.Queue(); len(queue) != 0 {
		t.Errorf("the queue still has %v", queue)
	}
}

func TestQueueLimitsAndErrors(t *testing.T) {
	spec := newTask(t, "square", "type: fts, initial_designs: 2")
	d := newDriver(t, configOf(t, spec, 1))
	for i := range MaxQueued + 1 {
		design := designsOf(t, spec, fmt.Sprintf(`{"x":%g,"y":0.5}`, float64(i)/2000))[0]
		_, err := d.agent.Enqueue(d.now, design)
		if (i < MaxQueued) != (err == nil) || i == MaxQueued && !errors.Is(err, ErrQueueFull) {
			t.Fatalf("design %d: %v", i, err)
		}
	}
	if err := d.agent.Withdraw(MaxQueued + 1); !errors.Is(err, ErrNotQueued) {
		t.Errorf("withdraw: %v", err)
	}
	foreign := designsOf(t, newTask(t, "coin", concurrent), `{"side":"heads"}`)[0]
	if _, err := d.agent.Enqueue(d.now, foreign); err == nil || errors.Is(err, ErrQueueFull) {
		t.Errorf("a design of another task: %v", err)
	}
	d.carryOut()
	d.start()
	if n := len(d.agent.Queue()); n != MaxQueued {
		t.Errorf("after a restart %d designs are queued, expected %d", n, MaxQueued)
	}
	d.agent.Keep(d.now)
	if _, err := d.agent.Enqueue(d.now, foreign); !errors.Is(err, ErrKeeping) {
		t.Errorf("a keeper: %v", err)
	}
}

// annotated has one annotation of each kind, all with a text.
func annotated(text string) strategy.Annotations {
	return strategy.Annotations{
		Attributes: map[string]string{"commit": text}, Tags: []string{text},
		Files: []strategy.File{{Path: text, SHA256: strings.Repeat("ab", 32)}}, Notes: []strategy.Note{{Text: text, Author: text}},
	}
}

// TestAnnotationsReachNoStrategyAndNoShare: annotations are in the journal and the history, and in
// nothing that the agent sends or gives its strategy.
func TestAnnotationsReachNoStrategyAndNoShare(t *testing.T) {
	const secret = "a secret of the user"
	d := newDriver(t, configOf(t, newTask(t, "bowl", "type: peer-prior, initial_designs: 1"), 1))
	for range 4 {
		trial := d.ask()
		if err := d.agent.Annotate(d.now, trial.ID, strategy.Adding(annotated(secret))); err != nil {
			t.Fatal(err)
		}
		if err := d.agent.Tell(d.now, trial.ID, strategy.Outcome{Value: bowl(trial.Design), Annotations: strategy.Annotations{Attributes: map[string]string{"told": secret}}}); err != nil {
			t.Fatal(err)
		}
		d.carryOut()
	}
	if len(d.published) == 0 {
		t.Fatal("nothing was published")
	}
	for _, share := range d.published {
		if bytes.Contains(share.Payload, []byte(secret)) {
			t.Errorf("share %+v has the note", share)
		}
	}
	for _, trial := range d.agent.View(d.now).Trials {
		if strategy.HasAnnotations(trial.Annotations) || trial.Outcome != nil && strategy.HasAnnotations(trial.Outcome.Annotations) {
			t.Errorf("the strategy gets the annotations of trial %d", trial.ID)
		}
	}
	d.journal = compact(t, d.journal)
	h, err := ReadHistory(decodeAll(t, d.journal), all.Strategies())
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range h.Trials {
		want, err := strategy.Adding(annotated(secret)).Apply(strategy.Annotations{Attributes: map[string]string{"told": secret}}, d.now)
		if err != nil {
			t.Fatal(err)
		}
		want.Notes[0].Time = trial.Notes[0].Time
		if !strategy.SameAnnotations(trial.Annotations, want) {
			t.Errorf("the history has %+v of trial %d, expected %+v", trial.Annotations, trial.ID, want)
		}
	}
	if err := d.agent.Annotate(d.now, 99, strategy.AnnotationChange{}); !errors.Is(err, ErrUnknownTrial) {
		t.Errorf("unknown trial: %v", err)
	}
}

// TestTellWithAnnotations: a report is accepted as a whole or not at all, and a repeated one adds no
// note twice.
func TestTellWithAnnotations(t *testing.T) {
	d := newDriver(t, configOf(t, newTask(t, "bowl", concurrent), 1))
	trial := d.ask()
	bad := strategy.Outcome{Value: 1, Annotations: strategy.Annotations{Tags: []string{"fine"}, Attributes: map[string]string{"a": "\xff"}}}
	if err := d.agent.Tell(d.now, trial.ID, bad); !errors.Is(err, strategy.ErrBadAnnotation) {
		t.Fatalf("got %v", err)
	}
	if now := d.agent.Trials()[0]; now.State != strategy.Running || strategy.HasAnnotations(now.Annotations) {
		t.Fatalf("a refused report has changed the trial: %+v", now)
	}
	good := strategy.Outcome{Value: 1, Annotations: annotated("a")}
	for range 2 {
		if err := d.agent.Tell(d.now, trial.ID, good); err != nil {
			t.Fatal(err)
		}
	}
	good.Value = 2
	good.Annotations = annotated("b")
	if err := d.agent.Tell(d.now, trial.ID, good); !errors.Is(err, ErrFinished) {
		t.Errorf("another value: %v", err)
	}
	d.carryOut()
	d.start()
	now := d.agent.Trials()[0]
	if len(now.Notes) != 1 || now.Attributes["commit"] != "a" || len(now.Tags) != 1 || now.Tags[0] != "a" || len(now.Files) != 1 || strategy.HasAnnotations(now.Outcome.Annotations) {
		t.Errorf("got %+v", now)
	}
}

// TestRepairKeepsAnnotationsAndTheQueue: behind a gap a trial gets another number, and keeps its
// annotations; its design is no longer queued.
func TestRepairKeepsAnnotationsAndTheQueue(t *testing.T) {
	spec := newTask(t, "bowl", concurrent)
	designs := designsOf(t, spec, `{"a":1,"b":"left"}`, `{"a":2,"b":"left"}`, `{"a":3,"b":"left"}`)
	d := newDriver(t, configOf(t, spec, 1))
	before := len(d.journal)
	for _, design := range designs {
		if _, err := d.agent.Enqueue(d.now, design); err != nil {
			t.Fatal(err)
		}
	}
	d.carryOut()
	for range 2 {
		d.tell(d.ask().ID, 1)
	}
	if err := d.agent.Annotate(d.now, 2, strategy.Adding(annotated("kept"))); err != nil {
		t.Fatal(err)
	}
	d.carryOut()
	var damaged []Record
	for _, r := range decodeAll(t, d.journal) {
		if r.Trial != nil && r.Trial.ID == 1 || r.Tell != nil && r.Tell.ID == 1 {
			continue // lost
		}
		damaged = append(damaged, r)
	}
	repaired, err := Repair(damaged, before, all.Strategies())
	if err != nil {
		t.Fatal(err)
	}
	h := repaired.History
	if len(h.Trials) != 1 || h.Trials[0].Attributes["commit"] != "kept" || len(h.Trials[0].Notes) != 1 || !h.Trials[0].Design.Equal(designs[1]) {
		t.Errorf("trials %+v, expected the second with its note", h.Trials)
	}
	if len(h.Queue) != 2 || !h.Queue[0].Design.Equal(designs[0]) || !h.Queue[1].Design.Equal(designs[2]) {
		t.Errorf("queue %+v, expected the designs without a trial", h.Queue)
	}
}

// TestDefaultComesFirst: the task's default is evaluated before enqueued and starting designs, once,
// also over restarts. The journal has the description of the latest start.
func TestDefaultComesFirst(t *testing.T) {
	bare := newTask(t, "bowl", concurrent)
	file := strings.Replace(string(bare.File()), `{"`, `{"description":"first","default":{"a":3,"b":"left"},"`, 1)
	spec, err := all.Strategies().Parse("test", []byte(file))
	if err != nil || spec.ID() != bare.ID() {
		t.Fatalf("%v, %s", err, file)
	}
	designs := designsOf(t, spec, `{"a":3,"b":"left"}`, `{"a":1,"b":"left"}`)
	config := configOf(t, spec, 1)
	config.Enqueue = []task.Design{designs[1], designs[0]}
	d := newDriver(t, config)
	for i, want := range []string{"the task's default", "given by the user", "own sample"} {
		trial := d.ask()
		if trial.Why.String() != want || i < 2 && !trial.Design.Equal(designs[i]) {
			t.Errorf("trial %v, expected %q", trial, want)
		}
		d.tell(trial.ID, 1)
		if i == 0 { // it is not evaluated again
			d.carryOut()
			d.start()
		}
	}
	h, err := ReadHistory(decodeAll(t, d.journal), all.Strategies())
	if err != nil || h.Task.About.Description != "first" || !h.Task.About.Default.Equal(designs[0]) {
		t.Errorf("history: %v, %+v", err, h.Task.About)
	}
	d.cfg.Task = bare
	d.start()
	if h, err = ReadHistory(decodeAll(t, compact(t, d.journal)), all.Strategies()); err != nil || h.Task.About.Description != "" {
		t.Errorf("without a description: %v, %+v", err, h.Task.About)
	}
}
