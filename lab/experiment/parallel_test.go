package experiment

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/random"
)

// Without several evaluations at a time plans are those that they were: one at a time is left
// out of the header and of JSON. A change between the two changes the hash.
func TestOneAtATimeIsTheDefault(t *testing.T) {
	one := tiny(t, nil)
	if same := tiny(t, func(p *Plan) { p.Parallel = 1 }); same.Hash() != one.Hash() {
		t.Error("one at a time is another plan")
	}
	n := networkOf(tiny(t, func(p *Plan) { p.Parallel, p.Asynchronous = 4, true }))
	if n.Parallel != 4 || !n.Asynchronous {
		t.Errorf("%+v", n)
	}
	text, err := json.Marshal(networkOf(one))
	var keys map[string]any
	if err != nil || json.Unmarshal(text, &keys) != nil || keys["parallel"] != nil || keys["asynchronous"] != nil {
		t.Errorf("%s, %v", text, err)
	}
}

// Asynchronous evaluations last as long as others on average, and differ; the same again.
func TestAsynchronousEvaluations(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Parallel, p.Asynchronous = 2, true })
	if tiny(t, nil).lasts(0, random.SeedOf(1)) != nil {
		t.Error("evaluations of one at a time differ")
	}
	lasts, again := p.lasts(0, random.SeedOf(1)), p.lasts(0, random.SeedOf(1))
	sum, seen := time.Duration(0), map[time.Duration]bool{}
	for trial := range uint64(400) {
		d := lasts(trial)
		if d <= 0 || d > slowest*EvaluationTime+1 || d != again(trial) {
			t.Fatalf("trial %d lasts %v, then %v", trial, d, again(trial))
		}
		sum, seen[d] = sum+d, true
	}
	if average := sum / 400; average < 9*time.Second || average > 11*time.Second || len(seen) < 399 {
		t.Errorf("on average %v, %d different", average, len(seen))
	}
}

// Every strategy plays its budget with several evaluations at a time, which alter what is found.
func TestPlaysInParallel(t *testing.T) {
	for _, asynchronous := range []bool{false, true} {
		p := tiny(t, func(p *Plan) {
			p.Strategies = specsOf(t, "ts,logei,peer-prior,fts,density,consensus,random")
			p.Parallel, p.Asynchronous, p.Checkpoints = 4, asynchronous, []int{5}
		})
		f, err := p.draw(0)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Strategies {
			r, err := p.play(context.Background(), 0, s, f, 1, func() {})
			if err != nil {
				t.Fatal(s, err)
			}
			for _, m := range r.Members {
				if len(m.Regret) != p.Evaluations || len(m.Recommended) != 2 {
					t.Errorf("%s, asynchronous %v: %d regrets, recommended %v", s, asynchronous, len(m.Regret), m.Recommended)
				}
				for _, regret := range m.Recommended {
					if regret != regret {
						t.Errorf("%s, asynchronous %v: nothing recommended", s, asynchronous)
					}
				}
			}
		}
	}
}
