package experiment

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/task"
)

// namedByHand is a plan of two repeats whose federations are drawn from members a, b and
// c, and made-up records of them: a and b in the first, b and c in the second.
func namedByHand(t *testing.T) (Plan, *Store) {
	t.Helper()
	p := tiny(t, func(p *Plan) { p.Agents, p.Evaluations, p.Family.Floor = 2, 3, 0.01 })
	store := openTemp(t, t.TempDir(), p)
	for strategy, ends := range map[string][2][2]Number{
		"ts":  {{0.8, 2}, {4, 1}},
		"fts": {{0.0001, 1}, {1, 1}},
	} {
		for repeat, end := range ends {
			r := Record{Repeat: repeat, Strategy: p.key(Spec{Name: strategy}), Goal: "maximize", Deviation: 5, Build: "test"}
			for i, regret := range end {
				name := string(rune('a' + repeat + i))
				r.Members = append(r.Members, MemberRecord{
					Member: i, Name: name, Deviation: map[string]float64{"a": 10, "b": 1, "c": 1}[name], Noise: 0.001,
					Regret: []Number{8, 8, regret}, Recommended: []Number{regret},
				})
			}
			if err := store.add(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	return p, store
}

// By hand: logarithms of ratios in base 2 are -3 for a, whose regret counts as 0.1, a
// hundredth of its own deviation; -1 and -2 for b; 0 for c.
func TestMembersWithNamesAreTheUnits(t *testing.T) {
	p, store := namedByHand(t)
	r, err := NewReport(p, store, "fbo-node simulate --family gp:d=1")
	if err != nil {
		t.Fatal(err)
	}
	logs := []float64{-3, -1.5, 0}
	const quantile = 2.919986 // of Student's distribution, two degrees of freedom, 95 %
	fts := r.Strategies[1]
	c := fts.Compared[0]
	near(t, "ratio", float64(c.Ratio), math.Exp2(mean(logs)))
	near(t, "its bound", float64(c.RatioHigh), math.Exp2(mean(logs)+quantile*standardError(logs)))
	diffs := []float64{0.0001 - 0.8, (-1. - 3) / 2, 0}
	near(t, "difference", float64(c.Difference), mean(diffs))
	near(t, "its bound", float64(c.Upper), mean(diffs)+quantile*standardError(diffs))
	regrets := []float64{0.8, 3, 1}
	near(t, "regret", float64(r.Strategies[0].Simple.Mean[2]), mean(regrets))
	near(t, "its error", float64(r.Strategies[0].Simple.SE[2]), standardError(regrets))
	near(t, "its median", float64(r.Strategies[0].Simple.Median[2]), 1)
	near(t, "agents' median", float64(r.Strategies[0].Simple.AgentMedian[2]), 1.5)
	near(t, "the least floor", float64(r.RatioFloors[0]), 0.01)
	near(t, "the largest floor", float64(r.RatioFloors[1]), 0.1)
	if r.Unit != "member" || r.Units != 3 {
		t.Errorf("units are %d of %s", r.Units, r.Unit)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "over 3 members: so few say little") {
		t.Errorf("warnings %q", r.Warnings)
	}
	var table bytes.Buffer
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	golden(t, "members.txt", table.String())
}

// Ten repeats of the same members leave the margin as it is. As units of their own they
// would make it less than half as wide.
func TestRepeatsOfMembersAreNoUnits(t *testing.T) {
	var once, often units
	for repeat := range 10 {
		for member, name := range []string{"a", "b", "c", "d"} {
			if repeat == 0 {
				once.of = append(once.of, member)
				once.names = append(once.names, name)
			}
			often.of = append(often.of, member)
		}
	}
	often.names = once.names
	rows := []float64{1, 3, 4, 8}
	var repeated []float64
	for range 10 {
		repeated = append(repeated, rows...)
	}
	near(t, "margin", margin(often.means(repeated)), margin(once.means(rows)))
	if naive := margin(repeated); naive > margin(once.means(rows))/2 {
		t.Errorf("with repeats as units it is %g", naive)
	}
}

func TestWarningsOfUnits(t *testing.T) {
	for _, c := range []struct {
		members, repeats int
		want             string
	}{
		{0, 1, "one repeat allows no standard errors and no bounds"},
		{0, 2, ""},
		{1, 7, "one member allows no standard errors and no bounds"},
		{4, 7, "over 4 members: so few say little about others"},
		{5, 7, ""},
		{5, 1, "one repeat: what its members had in common by chance is not in the bounds"},
	} {
		r := Report{Repeats: c.repeats}
		u := units{}
		for i := range c.members {
			u.names = append(u.names, fmt.Sprint(i))
		}
		u.describe(&r)
		if got := strings.Join(r.Warnings, "; "); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%d members, %d repeats: %q, want %q", c.members, c.repeats, got, c.want)
		}
	}
}

// One record without names, as another build may have left it, makes federations the units.
func TestFederationsAreUnitsWhereNamesAreMissing(t *testing.T) {
	named := func(names ...string) Record {
		var r Record
		for i, name := range names {
			r.Members = append(r.Members, MemberRecord{Member: i, Name: name})
		}
		return r
	}
	if u, err := newUnits([][]Record{{named("a", "b")}, {named("a", "")}}); err != nil || u.names != nil {
		t.Errorf("%v, %v", u, err)
	}
	if _, err := newUnits([][]Record{{named("a", "b")}, {named("a")}}); err == nil || !strings.Contains(err.Error(), "different members") {
		t.Errorf("error %v", err)
	}
}

// Less than the family's floor is nothing, unless the noise tells less apart. Violations
// have no such floor.
func TestRegretFloors(t *testing.T) {
	p := Plan{Family: family.Family{Floor: 0.01}}
	near(t, "the family's", p.floor(2, 0.1, false), 0.02)
	near(t, "the noise's", p.floor(2, 0.5, false), 0.05)
	near(t, "of violations", p.floor(2, 0, true), 2e-6)
	near(t, "without one", Plan{}.floor(2, 0, false), 2e-6)
}

// What a run keeps of members with names: these, and what their floors need.
func TestRecordsNameMembers(t *testing.T) {
	usual := familyOf(t, "gp:d=1,noise=0.05")
	kind := family.Kind{Info: family.Info{Name: "named"}, Floor: 0.01, Build: func(family.Values) (*task.Space, family.DrawFunc, error) {
		return usual.Space, func(seed random.Seed, agents int) (family.Federation, error) {
			f, err := usual.Draw(seed, agents)
			for i := range f.Members {
				f.Members[i].Name = fmt.Sprintf("member %d", i)
			}
			return f, err
		}, nil
	}}
	drawn, err := family.Catalogue{kind}.Parse("named")
	if err != nil {
		t.Fatal(err)
	}
	p := tiny(t, func(p *Plan) { p.Family, p.Strategies = drawn, specsOf(t, "ts,random") })
	store := openTemp(t, t.TempDir(), p)
	if err := Run(t.Context(), p, store, Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := NewReport(p, store, "")
	if err != nil {
		t.Fatal(err)
	}
	if r.Unit != "member" || r.Units != 3 {
		t.Errorf("units are %d of %s", r.Units, r.Unit)
	}
	record, _ := store.get(1, p.key(p.Strategies[0]))
	sum := 0.0
	for i, m := range record.Members {
		if m.Name != fmt.Sprintf("member %d", i) || m.Noise != 0.05 {
			t.Errorf("%+v", m)
		}
		sum += m.Deviation
	}
	near(t, "mean deviation", sum/3, record.Deviation)
}
