package agent

import (
	"math"
	"time"

	"github.com/fbo-node/fbo/strategy"
)

// Budget holds the limits of a run. The zero Budget means that there is no run.
type Budget struct {
	Evals    int       // evaluations in all; 0: no limit
	Cost     float64   // of all evaluations; 0: no limit
	Begun    time.Time // beginning of the run
	Deadline time.Time // no evaluation starts later; zero: no limit
	Parallel int       // number of evaluations at once
}

// Progress is how much of its budget a node has used on a task.
type Progress struct {
	// Evals is the number of evaluations with an outcome or stopped early, without imported ones.
	Evals    int     `json:"evaluations"`
	MaxEvals int     `json:"max_evaluations,omitempty"` // of the run; 0: no limit
	MaxCost  float64 `json:"max_cost,omitempty"`        // of the run; 0: no limit
	// Cost is nil if no evaluation has a cost and the run has no limit of it.
	Cost *strategy.Spending `json:"cost,omitempty"`
	// SecondsLeft is an estimate of the time until no evaluation starts; 0 if it is unknown.
	SecondsLeft float64 `json:"seconds_left,omitempty"`
}

// minTimed is the number of ended evaluations from which the remaining time is estimated.
const minTimed = 3

// Progress returns the progress of a run. The estimate assumes that an evaluation takes the mean
// duration of those that have ended, and at least as long as the present run needed for each until now.
// With several limits the first one counts.
func (b Budget) Progress(trials []strategy.Trial, now time.Time) Progress {
	p := Progress{MaxEvals: b.Evals, MaxCost: b.Cost}
	spending := strategy.SpendingOf(trials)
	if spending.Known > 0 || b.Cost > 0 {
		p.Cost = &spending
	}
	var sum time.Duration
	var elapsed []time.Duration // of running evaluations
	here, last := 0, b.Begun    // evaluations that this run has ended
	for i := range trials {
		t := &trials[i]
		switch {
		case t.Why.Source == strategy.Imported:
		case t.State == strategy.Running:
			elapsed = append(elapsed, now.Sub(t.Started))
		case t.State == strategy.Done || t.State == strategy.StoppedEarly:
			p.Evals++
			sum += t.Finished.Sub(t.Started)
			if !t.Started.Before(b.Begun) {
				here++
				if t.Finished.After(last) {
					last = t.Finished
				}
			}
		}
	}
	if b.Begun.IsZero() {
		return p
	}
	left := math.Inf(1)
	if b.Evals > 0 || b.Cost > 0 {
		if p.Evals < minTimed {
			return p
		}
		toStart := math.Inf(1)
		if b.Evals > 0 {
			toStart = max(float64(b.Evals-p.Evals-len(elapsed)), 0)
		}
		if b.Cost > 0 && spending.Mean > 0 {
			toStart = min(toStart, max(math.Ceil((b.Cost-spending.Spent)/spending.Mean), 0))
		}
		mean := sum.Seconds() / float64(p.Evals)
		left = toStart * mean
		for _, e := range elapsed {
			left += max(mean-e.Seconds(), 0)
		}
		left /= float64(max(b.Parallel, 1))
		if here >= minTimed {
			left = max(left, toStart*last.Sub(b.Begun).Seconds()/float64(here))
		}
	}
	if !b.Deadline.IsZero() {
		left = min(left, max(b.Deadline.Sub(now).Seconds(), 0))
	}
	if !math.IsInf(left, 1) {
		p.SecondsLeft = left
	}
	return p
}
