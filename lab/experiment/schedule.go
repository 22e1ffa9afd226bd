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

// spell is how long an agent is away at a time, on average.
const spell = time.Minute

// Schedule defines how the agents of a federation differ in time. With its zero value they hardly
// differ.
type Schedule struct {
	// JoinWithin is the span in which agents join, each at random, up to
	// MaxJoinWithin; 0 means EvaluationTime.
	JoinWithin time.Duration `json:",omitempty"`

	// MaxSlowdown is how many times EvaluationTime an agent's evaluations last at most, 1
	// to MaxSlow: each has a number of its own from 1 to this, its logarithm uniform.
	// 0 means 1.
	MaxSlowdown float64 `json:",omitempty"`

	// Straggler is how many times as long the evaluations of the last agent last beside
	// that, 1 to MaxSlow by itself and times MaxSlowdown; 0 means 1.
	Straggler float64 `json:",omitempty"`

	// MinEvaluations is the smallest budget, Plan.Initial to Plan.Evaluations: each
	// agent's is uniform from this to that. A newcomer has all. 0 means that all do.
	MinEvaluations int `json:",omitempty"`

	// Parallel is how many evaluations each agent makes at a time, 1 to MaxParallel; 0 means 1.
	// Agents request that many designs at once, and further ones when all evaluations have ended.
	Parallel int `json:",omitempty"`

	// Asynchronous has agents ask for a design whenever an evaluation ends. Each evaluation
	// lasts 0 to 2 times as long as the agent's do on average, uniform.
	Asynchronous bool `json:",omitempty"`

	// Churn is the part of the time, 0 to MaxChurn, that each agent is disconnected: it evaluates,
	// but neither sends nor receives. Connected and disconnected spells are exponential,
	// disconnected ones with a mean of one minute.
	Churn float64 `json:",omitempty"`
}

// complete is for plans with this number of evaluations, the first initial of them random.
func (s Schedule) complete(initial, evaluations int) (Schedule, error) {
	s.JoinWithin = cmp.Or(s.JoinWithin, EvaluationTime)
	s.MaxSlowdown, s.Straggler = cmp.Or(s.MaxSlowdown, 1), cmp.Or(s.Straggler, 1)
	s.MinEvaluations = cmp.Or(s.MinEvaluations, evaluations)
	s.Parallel = cmp.Or(s.Parallel, 1)
	switch {
	case s.JoinWithin < 0 || s.JoinWithin > MaxJoinWithin:
		return s, scenarioErrorf("join_within", "%v: accepted is more than 0s, up to %v", s.JoinWithin, MaxJoinWithin)
	case !(s.MaxSlowdown >= 1 && s.MaxSlowdown <= MaxSlow):
		return s, scenarioErrorf("max_slowdown", "%g: accepted is 1 to %d", s.MaxSlowdown, MaxSlow)
	case !(s.Straggler >= 1 && s.Straggler <= MaxSlow):
		return s, scenarioErrorf("straggler", "%g: accepted is 1 to %d", s.Straggler, MaxSlow)
	case s.MaxSlowdown*s.Straggler > MaxSlow:
		return s, scenarioErrorf("straggler", "%g with max_slowdown %g: accepted is a product of at most %d", s.Straggler, s.MaxSlowdown, MaxSlow)
	case s.MinEvaluations < initial || s.MinEvaluations > evaluations:
		return s, scenarioErrorf("min_evals", "%d: accepted are --initial-designs %d to --evals %d, and 0 for all", s.MinEvaluations, initial, evaluations)
	case s.Parallel < 1 || s.Parallel > MaxParallel:
		return s, fmt.Errorf("--parallel %d: accepted are 1 to %d", s.Parallel, MaxParallel)
	case s.Asynchronous && s.Parallel == 1:
		return s, errors.New("--asynchronous with --parallel 1: accepted is --parallel of 2 and more")
	case !(s.Churn >= 0 && s.Churn <= MaxChurn):
		return s, scenarioErrorf("churn", "%g: accepted is 0 to %g", s.Churn, MaxChurn)
	}
	return s, nil
}

// distinct is the schedule with 0 for what is as it is by default, which JSON leaves
// out: plans have the header that they had before there was the choice.
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

// start is when member i of a federation drawn with this seed joins; a late one when
// the others have ended, unless they wait for each other.
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

// duration is how long an evaluation of member i lasts. A late member is the last
// one, so that its slowness never makes it come before the others have ended.
func (p Plan) duration(i int, seed random.Seed) time.Duration {
	times := math.Pow(p.MaxSlowdown, seed.Stream("speed", uint64(i)).Float64())
	if i == p.Agents-1 {
		times *= p.Straggler
	}
	return time.Duration(times * float64(EvaluationTime))
}

// slowest is how many times as long as on average an asynchronous evaluation lasts at most.
const slowest = 2

// lasts returns how long the evaluations of member i last, trial by trial; nil where all
// last as long.
func (p Plan) lasts(i int, seed random.Seed) func(trial uint64) time.Duration {
	if !p.Asynchronous {
		return nil
	}
	average, seed := p.duration(i, seed), seed.Derive("lasts", uint64(i))
	return func(trial uint64) time.Duration {
		return 1 + time.Duration(slowest*seed.Stream("trial", trial).Float64()*float64(average))
	}
}

// budget is how many evaluations member i has.
func (p Plan) budget(i int, m family.Member, seed random.Seed) int {
	if m.Late {
		return p.Evaluations
	}
	return p.MinEvaluations + seed.Stream("budget", uint64(i)).IntN(p.Evaluations-p.MinEvaluations+1)
}

// offline lists when member i is away: from the first join until twice the time in which all could
// have ended if none waited for another.
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
