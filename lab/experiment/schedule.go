package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/family"
)

// Bounds of a schedule.
const (
	MaxJoinWithin = 24 * time.Hour
	MaxSlow       = 1000
	MaxChurn      = 0.9
	MaxParallel   = 1000
)

// spell is the mean duration of a disconnection.
const spell = time.Minute

// Schedule defines how the agents of a federation differ in time. With the zero value they hardly
// differ.
type Schedule struct {
	// JoinWithin is the span of time in which agents join, each at a random time. It is at most
	// MaxJoinWithin; 0 means EvaluationTime.
	JoinWithin time.Duration `json:",omitempty"`

	// MaxSlowdown is the largest duration of an agent's evaluations in units of EvaluationTime, 1
	// to MaxSlow. Each agent has its own duration from 1 to MaxSlowdown, uniform in the logarithm.
	// 0 means 1.
	MaxSlowdown float64 `json:",omitempty"`

	// Straggler is an additional factor for the duration of the last agent's evaluations. It is at
	// least 1; Straggler, and Straggler times MaxSlowdown, are at most MaxSlow. 0 means 1.
	Straggler float64 `json:",omitempty"`

	// MinEvaluations is the smallest budget, Plan.Initial to Plan.Evaluations. Each agent's budget
	// is uniform from MinEvaluations to Plan.Evaluations; a newcomer always has Plan.Evaluations. 0
	// means Plan.Evaluations for all.
	MinEvaluations int `json:",omitempty"`

	// Parallel is the number of evaluations that each agent makes at a time, 1 to MaxParallel; 0
	// means 1. An agent requests that many designs at once, and further ones when all its
	// evaluations have ended.
	Parallel int `json:",omitempty"`

	// Asynchronous means that an agent requests a design whenever one of its evaluations ends. The
	// duration of each evaluation is uniform from 0 to 2 times the agent's mean duration.
	Asynchronous bool `json:",omitempty"`

	// Churn is the fraction of time, 0 to MaxChurn, in which each agent is disconnected. A
	// disconnected agent evaluates, but neither sends nor receives. The durations of connections
	// and disconnections are exponentially distributed; a disconnection lasts one minute on
	// average.
	Churn float64 `json:",omitempty"`
}

// complete returns the schedule with defaults. initial and evaluations are those of the plan. It
// returns an error if a value is out of range.
func (s Schedule) complete(initial, evaluations int) (Schedule, error) {
	s.JoinWithin = cmp.Or(s.JoinWithin, EvaluationTime)
	s.MaxSlowdown, s.Straggler = cmp.Or(s.MaxSlowdown, 1), cmp.Or(s.Straggler, 1)
	s.MinEvaluations = cmp.Or(s.MinEvaluations, evaluations)
	s.Parallel = cmp.Or(s.Parallel, 1)
	switch {
	case s.JoinWithin < 0 || s.JoinWithin > MaxJoinWithin:
		return s, scenarioErrorf("join_within", "%v: expected more than 0s, up to %v", s.JoinWithin, MaxJoinWithin)
	case !(s.MaxSlowdown >= 1 && s.MaxSlowdown <= MaxSlow):
		return s, scenarioErrorf("max_slowdown", "%g: expected 1 to %d", s.MaxSlowdown, MaxSlow)
	case !(s.Straggler >= 1 && s.Straggler <= MaxSlow):
		return s, scenarioErrorf("straggler", "%g: expected 1 to %d", s.Straggler, MaxSlow)
	case s.MaxSlowdown*s.Straggler > MaxSlow:
		return s, scenarioErrorf("straggler", "%g with max_slowdown %g: expected a product of at most %d", s.Straggler, s.MaxSlowdown, MaxSlow)
	case s.MinEvaluations < initial || s.MinEvaluations > evaluations:
		return s, scenarioErrorf("min_evals", "%d: expected --initial-designs %d to --evals %d, and 0 for all", s.MinEvaluations, initial, evaluations)
	case s.Parallel < 1 || s.Parallel > MaxParallel:
		return s, fmt.Errorf("--parallel %d: expected 1 to %d", s.Parallel, MaxParallel)
	case s.Asynchronous && s.Parallel == 1:
		return s, errors.New("--asynchronous with --parallel 1: expected --parallel of 2 and more")
	case !(s.Churn >= 0 && s.Churn <= MaxChurn):
		return s, scenarioErrorf("churn", "%g: expected 0 to %g", s.Churn, MaxChurn)
	}
	return s, nil
}

// distinct returns the schedule with 0 in place of default values, which JSON then omits. Plans
// that use the defaults thus have the same header as before these settings existed.
func (s Schedule) distinct(evaluations int) Schedule {
	if s.JoinWithin == EvaluationTime {
		s.JoinWithin = 0
	}
	if s.MaxSlowdown == 1 {
		s.MaxSlowdown = 0
	}
	if s.Straggler == 1 {
		s.Straggler = 0
	}
	if s.Parallel == 1 {
		s.Parallel = 0
	}
	if s.MinEvaluations == evaluations {
		s.MinEvaluations = 0
	}
	return s
}

// start returns the time at which member i joins, for a federation drawn with this seed. A late
// member joins when the others have ended, unless they wait for each other.
func (p Plan) start(i int, m family.Member, seed random.Seed) time.Duration {
	start := time.Duration(seed.Stream("start", uint64(i)).Int64N(int64(p.JoinWithin)))
	if p.Agents > MaxMesh {
		start = start.Truncate(startGrid)
	}
	if m.Late {
		longest := float64(p.Evaluations) * p.MaxSlowdown
		if p.Asynchronous {
			longest *= slowest
		}
		start += p.JoinWithin + EvaluationTime + time.Duration(longest*float64(EvaluationTime)) +
			p.Network.Delay + p.Network.Jitter
	}
	return start
}

// duration returns the mean duration of member i's evaluations. A late member is always the last
// member, so the factor Straggler never makes it join before the others have ended.
func (p Plan) duration(i int, seed random.Seed) time.Duration {
	times := math.Pow(p.MaxSlowdown, seed.Stream("speed", uint64(i)).Float64())
	if i == p.Agents-1 {
		times *= p.Straggler
	}
	return time.Duration(times * float64(EvaluationTime))
}

// slowest is the largest duration of an asynchronous evaluation, divided by the mean duration.
const slowest = 2

// lasts returns a function for the duration of each evaluation of member i; nil if all have the
// same.
func (p Plan) lasts(i int, seed random.Seed) func(trial uint64) time.Duration {
	if !p.Asynchronous {
		return nil
	}
	average, seed := p.duration(i, seed), seed.Derive("lasts", uint64(i))
	return func(trial uint64) time.Duration {
		return 1 + time.Duration(slowest*seed.Stream("trial", trial).Float64()*float64(average))
	}
}

// budget returns the number of evaluations of member i.
func (p Plan) budget(i int, m family.Member, seed random.Seed) int {
	if m.Late {
		return p.Evaluations
	}
	return p.MinEvaluations + seed.Stream("budget", uint64(i)).IntN(p.Evaluations-p.MinEvaluations+1)
}

// offline returns the spans of time in which member i is disconnected. They reach from the first
// join to twice the time in which all members could end if none waited for another.
func (p Plan) offline(i int, seed random.Seed) []sim.Span {
	if p.Churn == 0 {
		return nil
	}
	rng := seed.Stream("churn", uint64(i))
	last := time.Duration(float64(p.Evaluations) * p.MaxSlowdown * (1 + p.Straggler) * float64(EvaluationTime))
	end := 2 * (2*p.JoinWithin + 2*EvaluationTime + last)
	lasting := func(mean time.Duration) time.Duration { return time.Duration(rng.ExpFloat64() * float64(mean)) }
	present := time.Duration(float64(spell) * (1 - p.Churn) / p.Churn)
	var spans []sim.Span
	at := time.Duration(0)
	if rng.Float64() >= p.Churn {
		at = lasting(present)
	}
	for at < end {
		until := at + lasting(spell)
		spans = append(spans, sim.Span{From: at, Until: until})
		at = until + lasting(present)
	}
	return spans
}
