package experiment

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// Dealt designs are a Latin hypercube: each part of each range has one. All strategies begin with them.
func TestDealtDesigns(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Dealt = true
		p.Strategies = specsOf(t, "ts,logei,fts,peer-prior,density,consensus,random,guide,fmtbo")
	})
	f := drawn(t, p)
	count := p.Agents * p.Initial
	var parts []int
	for _, designs := range p.deal(f.Space, f.seed) {
		if len(designs) != p.Initial {
			t.Errorf("an agent has %d starting designs, want %d", len(designs), p.Initial)
		}
		for _, d := range designs {
			parts = append(parts, int(f.Space.Encode(d)[0]*float64(count)))
		}
	}
	slices.Sort(parts)
	for i, part := range parts {
		if part != i {
			t.Fatalf("designs are in the parts %v of %d of a range, want one in each", parts, count)
		}
	}
	if other := p.deal(f.Space, random.SeedOf(99)); other[0][0].Equal(p.deal(f.Space, f.seed)[0][0]) {
		t.Error("two seeds have equal designs")
	}
	records := playAll(t, p, f)
	for name, r := range records {
		for i, want := range records["ts"].Members {
			if got := r.Members[i].Regret; !slices.Equal(got[:p.Initial], want.Regret[:p.Initial]) {
				t.Errorf("%s: member %d starts with regrets %v, but with ts %v", name, i, got[:p.Initial], want.Regret[:p.Initial])
			}
		}
	}
}

func TestDealtDesignsNeedRanges(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Dealt, p.Family = true, familyOf(t, "gp:d=1") })
	if _, err := p.Complete(); err != nil {
		t.Error(err)
	}
	table := fstest.MapFS{"two.csv": {Data: []byte("x\n1\n2\n")}}
	of, err := task.ParseBeside(table, "task.yaml", []byte("name: a\ngoal: maximize\nparameters:\n  - {name: x, type: int, low: 0, high: 9}\ndesigns:\n  file: two.csv\n"), []task.StrategyType{{Name: "any"}})
	if err != nil {
		t.Fatal(err)
	}
	listed := p
	listed.Family.Space = of.Space
	if _, err := listed.Complete(); err == nil || !strings.Contains(err.Error(), "--dealt-designs") {
		t.Errorf("error %v, want one that names the flag", err)
	}
}
