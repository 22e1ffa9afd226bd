package experiment

import (
	"context"
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
	dealt, err := p.deal(f)
	if err != nil {
		t.Fatal(err)
	}
	count := p.Agents * p.Initial
	var parts []int
	for _, designs := range dealt {
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
	other := *f
	other.seed = random.SeedOf(99)
	if another, err := p.deal(&other); err != nil || another[0][0].Equal(dealt[0][0]) {
		t.Errorf("two seeds have equal designs, %v", err)
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

// Spaces with conditions and categories have designs of a hypercube too. Listed designs have none.
func TestSpacesOfDealtDesigns(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Dealt = true
		p.Family = familyOf(t, "conditional")
		p.Strategies = specsOf(t, "logei,peer-prior")
	})
	playAll(t, p, drawn(t, p))

	table := fstest.MapFS{"two.csv": {Data: []byte("x\n1\n2\n")}}
	listed, err := task.ParseBeside(table, "task.yaml", []byte("name: a\ngoal: maximize\nparameters:\n  - {name: x, type: int, low: 0, high: 9}\ndesigns:\n  file: two.csv\n"), []task.StrategyType{{Name: "any"}})
	if err != nil {
		t.Fatal(err)
	}
	p = tiny(t, func(p *Plan) { p.Dealt = true })
	own, whole := drawn(t, p), drawn(t, p)
	own.Members[1].Space, whole.Space = listed.Space, listed.Space
	for name, f := range map[string]*federation{"a member has": own, "the family has": whole} {
		if _, err := p.play(context.Background(), 0, p.Strategies[0], f, 1, func() {}); err == nil || !strings.Contains(err.Error(), "--dealt-designs") {
			t.Errorf("%s listed designs: error %v, want one that names the flag", name, err)
		}
	}
}
