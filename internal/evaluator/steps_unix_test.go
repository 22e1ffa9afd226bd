//go:build unix

package evaluator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/curves"
)

func TestCommandReportsValuesByStep(t *testing.T) {
	for name, supervisor := range map[string][]string{"alone": nil, "supervised": supervisorLine()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command, design := helper(t, "script", `{"step": 1, "value": 0.5}`, "loading", `{"step": 4, "value": 0.25}`, `{"value": 3, "acc": 1}`)
			command.Supervisor = supervisor
			r := &stored{}
			got, err := command.Evaluate(t.Context(), Trial{ID: 1, Design: design, Attempt: 1}, r.report)
			if err != nil || got.Value != 3 || len(got.Hints) > 0 {
				t.Errorf("got %v, %v", got, err)
			}
			if want := (curves.Curve{{Step: 1, Value: 0.5}, {Step: 4, Value: 0.25}}); !slices.Equal(r.curve, want) {
				t.Errorf("reported %v, want %v", r.curve, want)
			}
		})
	}
}

// TestCommandStops: the command and its children end, whatever the command prints and however it ends.
func TestCommandStops(t *testing.T) {
	const step = `{"step": 3, "value": 0.5}`
	for _, c := range []struct {
		name string
		args []string
		slow bool // ends only when killed
	}{
		{"at once", []string{step, "/sleep"}, false},
		{"with an outcome", []string{"/until-stopped", "3"}, false},
		{"failing", []string{"/until-stopped", "/fail"}, false},
		{"stubborn", []string{"/stubborn", step, "/sleep"}, true},
	} {
		for name, supervisor := range map[string][]string{"": nil, " supervised": supervisorLine()} {
			t.Run(c.name+name, func(t *testing.T) {
				t.Parallel()
				args := c.args
				if args[0] == "/until-stopped" { // which prints that it is ready
					args = append([]string{step}, args...)
				}
				command, design := helper(t, append([]string{"script"}, args...)...)
				command.Supervisor = supervisor
				var decided time.Time
				r := &stored{decideAt: 3}
				report := func(steps []curves.Step) (*curves.Stop, error) {
					if args[1] == "/until-stopped" {
						waitForOutput(t, command.dir, 3, "ready")
					}
					defer func() { decided = time.Now() }()
					return r.report(steps)
				}
				_, err := command.Evaluate(t.Context(), Trial{ID: 3, Design: design, Attempt: 1}, report)
				var stopped *Stopped
				if !errors.As(err, &stopped) || stopped.Reason != "worse than others" {
					t.Errorf("got %v", err)
				}
				if took := time.Since(decided); took > time.Minute || c.slow && took < command.Grace {
					t.Errorf("took %v", took)
				}
				if text := outputOf(t, command.dir, 3); !strings.Contains(text, "[fbo: asked to stop after step 3: worse than others]\n") {
					t.Errorf("the output has no note of the stop: %q", text)
				}
			})
		}
	}
}

// TestOutputIsNeverBlocked: a command ends while its values are still being reported. The decision
// then comes too late: the outcome counts.
func TestOutputIsNeverBlocked(t *testing.T) {
	command, design := helper(t, "million")
	release, r := make(chan struct{}), &stored{decideAt: 1}
	s := newSteps(Trial{ID: 1}, func(steps []curves.Step) (*curves.Stop, error) {
		<-release
		return r.report(steps)
	})
	log := command.logs.Writer(1)
	defer log.Close()
	result, err := command.run(t.Context(), Trial{ID: 1, Design: design}, s, log, &tail{limit: maxComplaint})
	if len(s.queue) > curves.MaxSteps {
		t.Errorf("the queue has %d values", len(s.queue))
	}
	close(release)
	result, err = result.with(s, err)
	want := []string{"values by step after the first 1000 are not stored: the last is that of step 1000; expected fewer, such as one in ten steps"}
	if err != nil || result.Value != 3 || !slices.Equal(result.Hints, want) {
		t.Errorf("got %v, %v", result, err)
	}
	if len(r.curve) != curves.MaxSteps || r.curve.Last().Step != curves.MaxSteps || r.batches > 3 {
		t.Errorf("%d values in %d reports", len(r.curve), r.batches)
	}
}

// TestCancelledEvaluationReportsItsValues: none is lost.
func TestCancelledEvaluationReportsItsValues(t *testing.T) {
	command, design := helper(t, "script", `{"step": 1, "value": 0.5}`, `{"step": 2, "value": 0.5}`, "ready", "/sleep")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		waitForOutput(t, command.dir, 3, "ready")
		cancel()
	}()
	r := &stored{}
	_, err := command.Evaluate(ctx, Trial{ID: 3, Design: design}, r.report)
	if !errors.Is(err, context.Canceled) || len(r.curve) != 2 {
		t.Errorf("got %v with the values %v", err, r.curve)
	}
}

func TestLaterAttemptKnowsItsSteps(t *testing.T) {
	earlier := curves.Curve{{Step: 1, Value: 0.5}, {Step: 12, Value: 0.25}}
	command, design := helper(t, "environment")
	command.Env = []string{"FBO_ATTEMPT=9", "FBO_STEP=9", quickExit}
	for _, c := range []struct {
		trial Trial
		want  []string
	}{
		{Trial{ID: 1, Design: design, Attempt: 1}, []string{"FBO_ATTEMPT=1"}},
		{Trial{ID: 2, Design: design, Attempt: 2, Steps: earlier}, []string{"FBO_ATTEMPT=2", "FBO_STEP=12"}},
	} {
		if _, err := command.Evaluate(t.Context(), c.trial, nil); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range strings.Split(outputOf(t, command.dir, c.trial.ID), "\n") {
			if strings.HasPrefix(line, "FBO_ATTEMPT") || strings.HasPrefix(line, "FBO_STEP") {
				got = append(got, line)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("trial %d: got %q, want %q", c.trial.ID, got, c.want)
		}
	}

	// An attempt that begins anew repeats steps, with other values.
	again, _ := helper(t, "script", `{"step": 1, "value": 0.7}`, `{"step": 12, "value": 0.2}`, `{"step": 13, "value": 0.1}`, "0.1")
	r := &stored{again: true, curve: earlier}
	got, err := again.Evaluate(t.Context(), Trial{ID: 1, Design: design, Attempt: 2, Steps: earlier}, r.report)
	if err != nil || len(got.Hints) > 0 || len(r.curve) != 3 || r.curve.Last() != (curves.Step{Step: 13, Value: 0.1}) {
		t.Errorf("got %v, %v with the values %v", got, err, r.curve)
	}
}

// TestCommandStopsItself by its last line.
func TestCommandStopsItself(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{`{"step": 1, "value": 0.5}`, `{"stopped": true, "reason": "flat", "tags": ["dull"]}`}, "stopped early: flat"},
		{[]string{`{"step": 1, "value": 0.5, "stopped": true}`}, "stopped early, without a reason"},
		{[]string{`{"stopped": true}`}, "the command reported that it stopped early, without a value by step; expected lines such as"},
		{[]string{`{"step": 1, "value": 0.5}`, `{"stopped": true}`, "/fail"}, "the command exited with code 3"},
		{[]string{`{"step": 1, "value": 0.5}`}, `the command printed "{\"step\": 1, \"value\": 0.5}": the outcome is missing: with the key "step" this is a value by step; expected a last line without it`},
	} {
		command, design := helper(t, append([]string{"script"}, c.args...)...)
		got, err := command.Evaluate(t.Context(), Trial{ID: 1, Design: design}, (&stored{}).report)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.args, err, c.want)
		}
		if strings.Contains(c.args[len(c.args)-1], "tags") && !slices.Equal(got.Annotations.Tags, []string{"dull"}) {
			t.Errorf("%q: annotations %+v", c.args, got.Annotations)
		}
	}
}

// TestWorkerStops: the worker gets the decision, and one process evaluates all trials unless it exits.
func TestWorkerStops(t *testing.T) {
	const step = `{"trial": #, "step": 3, "value": 0.5}`
	for _, c := range []struct {
		name   string
		script []string
		want   string // of the error; empty: an outcome
		starts int
		hints  int
	}{
		{"as asked", []string{step, "/await-stop", `{"trial": #, "stopped": true, "tags": ["dull"]}`}, "stopped early: worse than others", 1, 0},
		{"with an outcome", []string{step, "/await-stop", `{"trial": #, "value": 2}`}, "", 1, 0},
		{"with more steps", []string{step, "/await-stop", `{"trial": #, "step": 4, "value": 0.5}`, `{"trial": #, "stopped": true}`}, "stopped early: worse than others", 1, 0},
		{"with an error", []string{step, "/await-stop", `{"trial": #, "error": "interrupted"}`}, "stopped early: worse than others", 1, 0},
		{"by its end", []string{step, "/await-stop", "/exit"}, "stopped early: worse than others", 3, 0},
		{"with hints", []string{`{"step": 1, "value": 1}`, `{"trial": #, "step": 2, "value": NaN}`, step, "/await-stop", `{"trial": #, "stopped": true}`}, "stopped early: worse than others", 1, 2},
		{"by itself", []string{`{"trial": #, "step": 1, "value": 1}`, `{"trial": #, "stopped": true, "reason": "flat"}`}, "stopped early: flat", 1, 0},
		{"by itself without a value", []string{`{"trial": #, "stopped": true}`}, "the worker reported that it stopped early, without a value by step; expected lines such as", 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTestWorkers(t, "script", c.script...)
			for trial := uint64(1); trial <= 3; trial++ {
				r := &stored{decideAt: 3}
				got, err := w.evaluateAnd(t, t.Context(), Trial{ID: trial, Attempt: 1}, r.report)
				if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) || err == nil && got.Value != 2 {
					t.Errorf("trial %d: got %v, %v; want %q", trial, got, err, c.want)
				}
				if len(got.Hints) != c.hints || c.name == "as asked" && !slices.Equal(got.Annotations.Tags, []string{"dull"}) {
					t.Errorf("trial %d: hints %q, annotations %+v", trial, got.Hints, got.Annotations)
				}
			}
			w.Close()
			if pids := w.processes(t, 3); len(pids) != c.starts {
				t.Errorf("started %v, want %d", pids, c.starts)
			}
			// Standard error of a trial may be read after its answer.
			if text := outputOf(t, w.dir, 2) + outputOf(t, w.dir, 3); c.name == "as asked" && !strings.Contains(text, `stop {"trial":2,"stop":"worse than others"}`) {
				t.Errorf("the worker has read %q", text)
			}
		})
	}
}

// TestLateStopsOfWorkers: a stop that the worker has not read when it answers costs no later trial.
func TestLateStopsOfWorkers(t *testing.T) {
	w := newTestWorkers(t, "script", `{"trial": #, "step": 3, "value": 0.5}`, `{"trial": #, "value": 2}`)
	for trial := uint64(1); trial <= 20; trial++ {
		got, err := w.evaluateAnd(t, t.Context(), Trial{ID: trial, Attempt: 1}, (&stored{decideAt: 3}).report)
		if err != nil || got.Value != 2 {
			t.Errorf("trial %d: %v, %v", trial, got, err)
		}
	}
}

func TestWorkerRequestOfLaterAttempt(t *testing.T) {
	w := newTestWorkers(t, "script", `{"trial": #, "value": 2}`)
	steps := curves.Curve{{Step: 12, Value: 0.25}}
	for _, c := range []struct {
		trial Trial
		want  string
	}{
		{Trial{ID: 1, Attempt: 1}, `{"trial":1,"parameters":{"learning_rate":0.25,"batch":1,"optimizer":"sgd"}}`},
		{Trial{ID: 2, Attempt: 2}, `{"trial":2,"parameters":{"learning_rate":0.25,"batch":2,"optimizer":"sgd"},"attempt":2}`},
		{Trial{ID: 3, Attempt: 1, Steps: steps}, `{"trial":3,"parameters":{"learning_rate":0.25,"batch":3,"optimizer":"sgd"},"step":12}`},
	} {
		if _, err := w.evaluateAnd(t, t.Context(), c.trial, nil); err != nil {
			t.Fatal(err)
		}
		waitForOutput(t, w.dir, c.trial.ID, "request "+c.want+"\n")
	}
}
