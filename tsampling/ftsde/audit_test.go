package ftsde

import (
	"fmt"
	"io"
	"math"
	"testing"

	bound "github.com/fbo-node/fbo/internal/audit"
	"github.com/fbo-node/fbo/internal/race"
	"github.com/fbo-node/fbo/privacy"
	"github.com/fbo-node/fbo/privacy/ledger"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// An audit is of the sums of all rounds of a task, by somebody who knows the vectors
// of all contributors but one and the noise of those who collude, and who wants to
// know which of two that one gave: opposite ones beyond the clip, in each round anew.
// What the audit does not know of a sum is the vector and the noise of the others; it
// takes that apart from the rounds' sums along the difference of the two vectors,
// which under Gaussian noise is the best that can be done. It adds up what nodes give;
// that what members send comes to the same sum TestASumIsTheContributorsMean shows.
type audit struct {
	t          testing.TB
	definition *task.Task
	runs       int
	honest     int   // of whose noise nothing is known, with the one in question
	mistake    spoil // that all nodes make; nil is none
}

// spoil is a mistake: what a node gives, if it makes it, in place of clipped + noise.
// All are numbers in units of the grid; first is the noise of the node's first round.
type spoil func(raw, clipped, noise, first float64) float64

const (
	auditRounds  = 3
	auditEpsilon = 4
	auditDelta   = 0.005
)

func auditTask(t testing.TB, keys string) *task.Task {
	return newTask(t, setting{epsilon: auditEpsilon, strategy: "share_every: 1", privacy: fmt.Sprintf(
		"contributors: 4, committee: 4, colluding: 2, clip: 1, delta: %g, releases: %d%s", auditDelta, auditRounds, keys)})
}

// given is what one node contributes to all rounds: alternately this number and its
// negative, in units of the clip.
func (a audit) given(value float64, fresh ledger.Ledger) (total float64) {
	e := Exchange{plan: newPlan(a.definition), ledger: &fresh}
	grid := privacy.Grid{Norm: 1, Bits: 30}
	first, sign := 0.0, 1.0
	for round := uint64(1); round <= auditRounds; round++ {
		sum := &adder{round: round}
		e.sum = sum
		vector, clipped := []float64{sign * value, 0}, make([]int64, 2)
		e.contribute(strategy.View{}, strategy.WorkDone{Result: drawn{round, vector}})
		if len(sum.given) != 1 || grid.Clip(clipped, vector) != nil {
			a.t.Fatal("nothing was given")
		}
		got := float64(sum.given[0].vector[0])
		if a.mistake != nil {
			noise := got - float64(clipped[0])
			if round == 1 {
				first = noise
			}
			got = a.mistake(math.Ldexp(vector[0], 30), float64(clipped[0]), noise, first)
		}
		total += sign * got
		sign = -sign
	}
	return total
}

// shown is the ε that the audit shows; see package audit. What is above zero it takes
// for one world, the rest for the other.
func (a audit) shown(source io.Reader) float64 {
	a.t.Helper()
	fresh, err := ledger.NewLedger(a.definition, source)
	if err != nil {
		a.t.Fatal(err)
	}
	var wrong [2]int
	for world, sign := range []float64{1, -1} {
		for range a.runs {
			total := a.given(2*sign, *fresh)
			for range a.honest - 1 {
				total += a.given(0, *fresh)
			}
			if total*sign <= 0 {
				wrong[world]++
			}
		}
	}
	return bound.Epsilon(bound.Distance(wrong, a.runs), auditDelta)
}

// attainable is what endless runs would show where the noise is as planned.
func (a audit) attainable() float64 {
	terms, err := ledger.NewTerms(a.definition)
	if err != nil {
		a.t.Fatal(err)
	}
	return bound.Epsilon(2*math.Sqrt(auditRounds)/(terms.Sigma*math.Sqrt(float64(a.honest))), auditDelta)
}

// The promise is kept, with little to spare: 0.87 of it is shown, with a
// deviation of 0.03.
func TestAuditOfSums(t *testing.T) {
	a := audit{t: t, definition: auditTask(t, ""), runs: 4000, honest: 2}
	shown, attainable := a.shown(entropy(3)), a.attainable()
	t.Logf("shown: ε ≥ %.2f where %d is promised; endless runs would show %.2f", shown, auditEpsilon, attainable)
	if shown > auditEpsilon || attainable > auditEpsilon {
		t.Errorf("the promise of %d is broken: ε ≥ %.2f, by the plan %.2f", auditEpsilon, shown, attainable)
	}
	if shown < 0.7*auditEpsilon {
		t.Errorf("the audit has no power: ε ≥ %.2f is shown, attainable is %.2f", shown, attainable)
	}
}

// Each of these mistakes breaks the promise, and the audit sees it. The least of them,
// three quarters of the noise, shows ε = 5.2, with a deviation of 0.14.
func TestAuditFindsMistakes(t *testing.T) {
	race.Skip(t)
	for name, c := range map[string]struct {
		keys    string
		honest  int
		mistake spoil
	}{
		"three quarters of the noise":   {"", 2, func(_, clipped, noise, _ float64) float64 { return clipped + 0.75*noise }},
		"no clip":                       {"", 2, func(raw, _, noise, _ float64) float64 { return raw + noise }},
		"the same noise in every round": {"", 2, func(_, clipped, _, first float64) float64 { return clipped + first }},
		"half the sensitivity":          {", adjacency: zero-out", 2, nil},
		"more collude than declared":    {"", 1, nil},
	} {
		a := audit{t: t, definition: auditTask(t, c.keys), runs: 4000, honest: c.honest, mistake: c.mistake}
		shown := a.shown(entropy(4))
		t.Logf("%s: ε ≥ %.2f", name, shown)
		if shown <= auditEpsilon {
			t.Errorf("%s: ε ≥ %.2f is all that is shown", name, shown)
		}
	}
}
