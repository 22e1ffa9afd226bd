package experiment

import (
	"math"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

// The average of bowls has its maximum, found by the search, at the average of their places.
func TestTopOfTheAverageObjective(t *testing.T) {
	f := familyOf(t, "gp:d=2")
	bowl := func(x, y float64) family.Member {
		return family.Member{Counts: true, Objective: family.Objective{Value: func(d task.Design) float64 {
			at := f.Space.Encode(d)
			return 3 - (at[0]-x)*(at[0]-x) - (at[1]-y)*(at[1]-y)
		}}}
	}
	a := newAverageObjective(family.Federation{Space: f.Space, Goal: task.Maximize, Members: []family.Member{bowl(0.2, 0.4), bowl(0.6, 0.8), {}}})
	got, err := a.top(t.Context(), random.SeedOf(1))
	if want := 3 - 0.04 - 0.04; err != nil || math.Abs(got-want) > 1e-6 {
		t.Errorf("the largest average is %g, %v, want %g", got, err, want)
	}
}

func TestOneDesignIsRefused(t *testing.T) {
	p := Plan{Agents: 3, Evaluations: 6, Repeats: 1, Seed: 1, Family: familyOf(t, "limits"), Strategies: specsOf(t, "logei"), OneDesign: true}
	if _, err := p.Complete(); err == nil || !strings.HasPrefix(err.Error(), "--one-design: expected a family with one objective and no constraints") {
		t.Errorf("a family with constraints: %v", err)
	}
	p.Family = familyOf(t, "gp")
	p.Family.Costly = true
	if _, err := p.Complete(); err == nil || !strings.HasPrefix(err.Error(), "--one-design: family gp is costly") {
		t.Errorf("a costly family: %v", err)
	}
}

// checkOneDesignForAll compares one design by strategy average-objective with the designs of agents
// alone: that of a random agent, and, with enough federations, their midpoint. The bounds are
// one-sided, 95 % each.
func checkOneDesignForAll(t *testing.T, evaluations, repeats int, below, belowMidpoint float64) {
	t.Helper()
	p := Plan{Agents: 5, Evaluations: evaluations, Repeats: repeats, Seed: 41, Control: "logei", OneDesign: true, Checkpoints: []int{evaluations}}
	p.Family, p.Strategies = familyOf(t, "gp:d=2,e=0.7,noise=0.1"), specsOf(t, "logei,average-objective")
	p, err := p.Complete()
	if err != nil {
		t.Fatal(err)
	}
	store := openTemp(t, t.TempDir(), p)
	if err := Run(t.Context(), p, store, Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := NewReport(p, store, "")
	if err != nil {
		t.Fatal(err)
	}
	one := r.Strategies[1].OneDesign
	t.Logf("regret %v alone %v (midpoint %v), ratios %v and %v", one.Recommended, r.Strategies[0].OneDesign.Recommended, r.Strategies[0].OneDesign.Midpoint, one.ToRecommended, one.ToMidpoint)
	if !(float64(one.ToRecommended[0].High) < below) || !(float64(one.ToMidpoint[0].High) < belowMidpoint) {
		t.Errorf("the bounds of the ratios to alone are %v and %v, want less than %g and %g", one.ToRecommended[0].High, one.ToMidpoint[0].High, below, belowMidpoint)
	}
	var table strings.Builder
	if err := r.WriteTable(&table); err != nil || !strings.Contains(table.String(), "one design for all") || !strings.Contains(table.String(), "ratio to its midpoint") {
		t.Errorf("the table lacks the regrets of one design: %v\n%s", err, &table)
	}
}

// Three federations suffice for one of the differences: with this seed its bound is far below 1.
func TestOneDesignForAllBeatsDesignsOfAgentsAlone(t *testing.T) {
	checkOneDesignForAll(t, 10, 3, 1, math.Inf(1))
}
