package evaluator

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/curves"
)

// unread returns steps whose values nothing reads.
func unread(t testing.TB) *steps {
	s := newSteps(Trial{}, nil)
	t.Cleanup(func() { s.end() })
	return s
}

// stored holds what an evaluation reports. It is the Report of a trial.
type stored struct {
	again    bool
	decideAt uint64 // the decision to stop comes at this step; 0: never

	mu      sync.Mutex
	curve   curves.Curve
	batches int
}

func (r *stored) report(steps []curves.Step) (*curves.Stop, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches++
	var err error
	r.curve, err = r.curve.Extend(steps, r.again)
	if last := r.curve.Last().Step; err == nil && r.decideAt > 0 && last >= r.decideAt {
		return &curves.Stop{Rule: "asha", Step: last, Reason: "worse than others"}, nil
	}
	return nil, err
}

func (r *stored) steps() (list []uint64) {
	for _, s := range r.curve {
		list = append(list, s.Step)
	}
	return list
}

func TestStepLines(t *testing.T) {
	many := make([]string, curves.MaxSteps+5)
	for i := range many {
		many[i] = fmt.Sprintf(`{"step": %d, "value": 1}`, i+1)
	}
	for _, c := range []struct {
		name    string
		printed []string
		want    []uint64 // steps
		hints   []string // beginnings
	}{
		{"values", []string{`{"step": 1, "value": 0.5}`, "loss 3", `{"value": 2, "step": 4, "rate": 0.1, "note": "x"}`, "10%\r" + `{"step": 5.0, "value": -1e-3}`}, []uint64{1, 4, 5}, nil},
		{"ordinary objects", []string{`{"step": 1, "loss": 0.5}`, `{"value": 2}`, `{"steps": 1, "value": 2}`, `{"step": 2, "error": "no memory"}`, `{"step": 3, "value": 1, "error": "no memory"}`, `footstep`, `['step': 1]`}, nil, nil},
		{"repeated", []string{`{"step": 1, "value": 0.5}`, `{"step": 1, "value": 0.5}`, `{"step": 2, "value": 0.5}`}, []uint64{1, 2}, nil},
		{"no numbers", []string{`{"step": 1, "value": NaN}`, `{"step": 2, "value": "low"}`, `{"value": null, "step": 3}`, `{"step": 4, "value": 1e999}`, `{"step": 5, "value": 1}`}, []uint64{5},
			[]string{`a value by step is not stored: printed "{\"step\": 1, \"value\": NaN}": the value: "NaN" is not a number; expected a finite number`}},
		{"bad steps", []string{`{"step": 0, "value": 1}`, `{"step": -3, "value": 1}`, `{"step": 1.5, "value": 1}`, `{"step": "one", "value": 1}`, `{"step": 2000000000, "value": 1}`, `{"step": 1, "value": 1}`}, []uint64{1},
			[]string{"a value is not stored at such a step: printed \"{\\\"step\\\": 0, \\\"value\\\": 1}\"; expected whole numbers from 1 to 1000000000"}},
		{"backwards", []string{`{"step": 5, "value": 1}`, `{"step": 3, "value": 2}`, `{"step": 4, "value": 2}`, `{"step": 6, "value": 1}`}, []uint64{5, 6},
			[]string{"a value of an earlier step is not stored: step 3 after step 5; expected increasing steps"}},
		{"Python", []string{`{'step': 5, 'value': 1}`, `{'step': 6, 'value': 1}`}, nil, []string{`a line with a step is not stored: printed "{'step': 5, 'value': 1}": not valid JSON, which has double quotes (in Python: json.dumps)`}},
		{"costs", []string{`{"step": 1, "value": 1, "cost": 2}`, `{"step": 2, "value": 1, "cost": null}`, `{"step": 3, "value": 1, "cost": -1}`, `{"step": 4, "value": 1, "cost": "much"}`}, []uint64{1, 2, 3, 4},
			[]string{`the cost is not stored: -1 is negative; expected a finite number of 0 or more, such as {"value": 0.25, "cost": 3.5}`}},
		{"too many", many, nil, []string{"values by step after the first 1000 are not stored: the last is that of step 1000; expected fewer"}},
	} {
		r := &stored{}
		s := newSteps(Trial{ID: 7}, r.report)
		out := lines{each: s.printed}
		text := strings.Join(c.printed, "\n")
		for len(text) > 0 { // in pieces
			n := min(len(text), 7)
			_, _ = out.Write([]byte(text[:n]))
			text = text[n:]
		}
		out.end()
		hints, some := s.end()
		if c.name == "too many" {
			c.want = r.steps()
			if len(c.want) != curves.MaxSteps {
				t.Errorf("%s: %d values", c.name, len(c.want))
			}
		}
		same := slices.EqualFunc(hints, c.hints, strings.HasPrefix)
		if !slices.Equal(r.steps(), c.want) || !same || some != (len(c.want) > 0) {
			t.Errorf("%s: got steps %v and hints %q, want %v and %q", c.name, r.steps(), hints, c.want, c.hints)
		}
	}
}

// TestReportsAreAccepted: whatever a program prints, each value that is reported extends the curve
// that earlier reports made, and nothing that Extend accepts is left out.
func TestReportsAreAccepted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		again := rapid.Bool().Draw(t, "again")
		trial := Trial{ID: 7, Attempt: 1}
		if again {
			trial.Attempt, trial.Steps = 2, curves.Curve{{Step: 2, Value: 1}, {Step: 5, Value: 2}}
		}
		r := &stored{again: again, curve: slices.Clone(trial.Steps)}
		want := slices.Clone(trial.Steps)
		s := newSteps(trial, r.report)
		for range rapid.IntRange(0, 20).Draw(t, "lines") {
			one := curves.Step{Step: rapid.Uint64Range(0, 9).Draw(t, "step"), Value: float64(rapid.IntRange(0, 2).Draw(t, "value"))}
			if rapid.IntRange(0, 5).Draw(t, "finite") == 0 {
				one.Value = math.NaN()
			}
			s.printed(fmt.Appendf(nil, `{"step": %d, "value": %g}`, one.Step, one.Value), false)
			want, _ = want.Extend([]curves.Step{one}, again)
		}
		s.end()
		if !slices.Equal(r.curve, want) {
			t.Fatalf("stored %v, want %v", r.curve, want)
		}
	})
}

// TestFailedReportEndsReporting: the evaluation goes on, and a hint has the error.
func TestFailedReportEndsReporting(t *testing.T) {
	calls := 0
	s := newSteps(Trial{ID: 7}, func([]curves.Step) (*curves.Stop, error) {
		calls++
		return nil, fmt.Errorf("trial 7 is done")
	})
	s.printed([]byte(`{"step": 1, "value": 1}`), false)
	for !s.dropping() {
	}
	s.printed([]byte(`{"step": 2, "value": 1}`), false)
	if hints, _ := s.end(); calls != 1 || !slices.Equal(hints, []string{"values by step are not stored: trial 7 is done"}) {
		t.Errorf("%d reports, hints %q", calls, hints)
	}
}

func TestAnswersThatStop(t *testing.T) {
	for _, c := range []struct{ line, stopped, failed string }{
		{`{"stopped": true}`, "stopped early, without a reason", ""},
		{`{"stopped": true, "reason": "flat"}`, "stopped early: flat", ""},
		{`{"reason": 5, "stopped": true, "acc": 3}`, "stopped early: 5", ""},
		{`{"step": 3, "value": 1, "stopped": true}`, "stopped early, without a reason", ""},
		{`{"stopped": false, "value": 1}`, "", ""},
		{`{"stopped": true, "value": 1}`, "", ""}, // an outcome counts
		{`{"stopped": true, "error": "no memory"}`, "", `reported the error "no memory"`},
		{`{"stopped": false}`, "", `the key "value" is missing`},
		{`{"stopped": 1, "value": 1}`, "", ""}, // a metric
		{`{"step": 3, "value": 1}`, "", `the outcome is missing: with the key "step" this is a value by step; expected a last line without it`},
	} {
		a, err := parseAnswer(c.line)
		stopped, isStopped := err.(*Stopped)
		switch {
		case c.stopped != "":
			if !isStopped || stopped.Error() != c.stopped {
				t.Errorf("%s: got %v, want %q", c.line, err, c.stopped)
			}
		case c.failed != "":
			if isStopped || err == nil || !strings.Contains(err.Error(), c.failed) {
				t.Errorf("%s: got %v, want %q", c.line, err, c.failed)
			}
		case err != nil || a.Value != 1:
			t.Errorf("%s: %v, %v", c.line, a.Value, err)
		}
	}
}

func TestReadStepsOfWorkers(t *testing.T) {
	for _, c := range []struct {
		line string
		want int    // values
		hint string // beginning
	}{
		{`{"trial": 7, "step": 3, "value": 1}`, 1, ""},
		{`50%{"trial": 7, "step": 3, "value": 1}`, 1, ""},
		{`50%{"trial": 6, "step": 3, "value": 1}`, 0, ""},
		{`{"trial": 6, "step": 3, "value": 1}`, 0, ""}, // late
		{`{"step": 3, "value": 1}`, 0, `a line with a step is not stored: printed "{\"step\": 3, \"value\": 1}"; expected "trial": 7 in it`},
		{`{"trial": 8, "step": 3, "value": 1}`, 0, "a line with a step is not stored"},
		{`{"trial": "7", "step": 3, "value": 1}`, 0, "a line with a step is not stored"},
		{`{'trial': 7, 'step': 3, 'value': 1}`, 0, "a line with a step is not stored"},
		{`{"trial": 7, "step": 3, "value": NaN}`, 0, "a value by step is not stored"},
		{`{"trial": 7, "step": 3.5, "value": 1}`, 0, "a value is not stored at such a step"},
	} {
		r := &stored{}
		s := newSteps(Trial{ID: 7}, r.report)
		if _, isAnswer, err := readWorkerLine(c.line, 7, s); isAnswer || err != nil {
			t.Errorf("%s: an answer, %v", c.line, err)
		}
		hints, _ := s.end()
		if got := strings.Join(hints, "\n"); len(r.curve) != c.want || (got == "") != (c.hint == "") || !strings.HasPrefix(got, c.hint) {
			t.Errorf("%s: got %v, %q; want %d, %q", c.line, r.curve, got, c.want, c.hint)
		}
	}
}

func BenchmarkStepLine(b *testing.B) {
	for name, line := range map[string]string{"step": `{"step": 3, "value": 0.41}`, "text": "epoch 3: loss 0.41, accuracy 0.9"} {
		b.Run(name, func(b *testing.B) {
			s := newSteps(Trial{}, (&stored{}).report)
			defer s.end()
			for b.Loop() {
				s.printed([]byte(line), false)
			}
		})
	}
}
