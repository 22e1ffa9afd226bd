package ftsde

import (
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/fbo-node/fbo/internal/audit"
	"github.com/fbo-node/fbo/internal/fbotest/strategytest"
	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/privacy"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// sumAudit attacks the sums of all rounds of a task. The attacker knows the vectors of all
// contributors but one, and the noise of the colluders. In the two worlds that contributor has
// opposite vectors beyond the clip norm, again in each round. The vector and the noise of the
// others remain in the sums. The attacker adds these up along the difference of the two vectors,
// which is the best test under Gaussian noise. The audit adds up the contributions of nodes;
// TestASumIsTheContributorsMean shows that the messages of members give the same sum.
type sumAudit struct {
	t          testing.TB
	definition *task.Task
	runs       int
	honest     int   // number of contributors whose noise is unknown, the one in question included
	wrong      fault // of all nodes; nil: none
}

// fault is a wrong contribution in place of clipped + noise, in units of the grid; first is the
// noise of the node's first round.
type fault func(raw, clipped, noise, first float64) float64

const auditRounds = 3

func auditTask(t testing.TB, keys string) *task.Task {
	return newTask(t, setting{epsilon: strategytest.Guarantee().Epsilon, strategy: "share_every: 1", privacy: fmt.Sprintf(
		"min_contributors: 4, committee: 4, max_colluding: 2, clip: 1, delta: %g, releases: %d%s", strategytest.Guarantee().Delta, auditRounds, keys)})
}

// given returns the total contribution of one node to all rounds: alternately this number and its
// negative, in units of the clip norm.
func (a sumAudit) given(value float64, fresh ledger.Ledger) (total float64) {
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
		if a.wrong != nil {
			noise := got - float64(clipped[0])
			if round == 1 {
				first = noise
			}
			got = a.wrong(math.Ldexp(vector[0], 30), float64(clipped[0]), noise, first)
		}
		total += sign * got
		sign = -sign
	}
	return total
}

// shown returns the bound on ε. The attacker guesses by the sign of the sum.
func (a sumAudit) shown(source io.Reader) float64 {
	a.t.Helper()
	fresh, err := ledger.NewLedger(a.definition, source)
	if err != nil {
		a.t.Fatal(err)
	}
	return strategytest.Guarantee().Shown(a.runs, func(world int) int {
		sign := float64(1 - 2*world)
		total := a.given(2*sign, *fresh)
		for range a.honest - 1 {
			total += a.given(0, *fresh)
		}
		if total*sign > 0 {
			return world
		}
		return 1 - world
	})
}

// attainable returns the bound of an infinite number of runs with the planned noise.
func (a sumAudit) attainable() float64 {
	terms, err := ledger.NewTerms(a.definition)
	if err != nil {
		a.t.Fatal(err)
	}
	return audit.Epsilon(2*math.Sqrt(auditRounds)/(terms.Sigma*math.Sqrt(float64(a.honest))), strategytest.Guarantee().Delta)
}

// The bound reaches .87 of the guarantee, with a standard deviation of .03.
func TestAuditOfSums(t *testing.T) {
	a := sumAudit{t: t, definition: auditTask(t, ""), runs: 4000, honest: 2}
	strategytest.Guarantee().Check(t, "sums", a.shown(entropy(3)), true, 0.7)
	if attainable := a.attainable(); attainable > strategytest.Guarantee().Epsilon {
		t.Errorf("the planned noise has ε = %.2f, expected at most %g", attainable, strategytest.Guarantee().Epsilon)
	}
}

// Each fault breaks the guarantee. The smallest, three quarters of the noise, has the bound ε = 5.2
// with a standard deviation of .14.
func TestAuditFindsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		keys   string
		honest int
		wrong  fault
	}{
		"three quarters of the noise":   {"", 2, func(_, clipped, noise, _ float64) float64 { return clipped + 0.75*noise }},
		"no clip":                       {"", 2, func(raw, _, noise, _ float64) float64 { return raw + noise }},
		"the same noise in every round": {"", 2, func(_, clipped, _, first float64) float64 { return clipped + first }},
		"half the sensitivity":          {", adjacency: zero-out", 2, nil},
		"more colluders than declared":  {"", 1, nil},
	} {
		a := sumAudit{t: t, definition: auditTask(t, c.keys), runs: 4000, honest: c.honest, wrong: c.wrong}
		strategytest.Guarantee().Check(t, name, a.shown(entropy(4)), false, 0)
	}
}
