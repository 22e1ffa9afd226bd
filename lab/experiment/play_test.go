package experiment

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// playAll returns the records of one repeat by the strategies' texts.
func playAll(t *testing.T, p Plan, f *federation) map[string]Record {
	t.Helper()
	records := map[string]Record{}
	for _, s := range p.Strategies {
		r, err := p.play(context.Background(), 0, s, f, 1, func() {})
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		records[s.String()] = r
	}
	return records
}

func drawn(t *testing.T, p Plan) *federation {
	t.Helper()
	f, err := p.draw(0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestStrategiesStartWithTheSameDesigns(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Strategies = specsOf(t, "ts,logei,fts,random,rgpe,taf,pooled,multitask,global") })
	records := playAll(t, p, drawn(t, p))
	for i := range p.Agents {
		want := records["ts"].Members[i].Regret
		for name, r := range records {
			if got := r.Members[i].Regret; !slices.Equal(got[:p.Initial], want[:p.Initial]) {
				t.Errorf("%s: member %d starts with regrets %v, but with ts %v", name, i, got[:p.Initial], want[:p.Initial])
			}
		}
	}
	if slices.Equal(records["ts"].Members[0].Regret, records["random"].Members[0].Regret) {
		t.Error("ts and random search are the same to the end")
	}
}

// Where nobody listens, members that do not count are left out. That must change
// nothing for those that do.
func TestLeavingOutWhoDoesNotCountChangesNothing(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Strategies = specsOf(t, "ts,logei,ucb,mes,random") })
	f := drawn(t, p)
	all := playAll(t, p, f)
	fewer := *f
	fewer.Members = slices.Clone(f.Members)
	fewer.Members[0].Counts, fewer.Members[2].Counts = false, false
	for name, r := range playAll(t, p, &fewer) {
		if want := all[name].Members[1]; len(r.Members) != 1 || !slices.Equal(r.Members[0].Regret, want.Regret) || r.Members[0].Member != 1 {
			t.Errorf("%s: %+v, but among all %+v", name, r.Members, want)
		}
	}
}

// A newcomer that follows its peers alone can do so from its first choice on.
func TestNewcomerComesWhenTheOthersHaveEnded(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Family = familyOf(t, "gp:d=1,newcomer=true")
		p.Strategies = specsOf(t, "fts:mode=one-shot,share_after=6,schedule=constant,own_probability=0")
	})
	f := drawn(t, p)
	r := playAll(t, p, f)[p.Strategies[0].String()]
	if len(r.Members) != 1 || r.Members[0].Member != 2 {
		t.Fatalf("counting are %+v", r.Members)
	}
	// The others share after their last evaluations; each has one share to follow.
	if got := r.Members[0].PeerInformedTrials; got != 2 {
		t.Errorf("%d designs came from peers, want 2", got)
	}
}

func TestRegretIsFromTheOptimumInTheDirectionOfTheGoal(t *testing.T) {
	space := familyOf(t, "gp:d=1").Space
	design := space.Decode([]float64{0.25})
	value := func(d task.Design) float64 { return d.Float("x1") }
	near(t, "maximising", regretOf(family.Objective{Value: value, Optimum: 1}, task.Maximize)(design), 0.75)
	near(t, "minimising", regretOf(family.Objective{Value: value, Optimum: 0}, task.Minimize)(design), 0.25)
	near(t, "beyond the optimum", regretOf(family.Objective{Value: value, Optimum: 0.125}, task.Maximize)(design), -0.125)
}

// 500 designs give the deviation of a uniform variable, 1/sqrt(12), with a standard
// error of 2 %; the seed is fixed, and a tenth is five of them.
func TestDeviationOfUniform(t *testing.T) {
	o := family.Objective{Value: func(d task.Design) float64 { return d.Float("x1") }}
	if got := deviation(familyOf(t, "gp:d=1").Space, o, random.SeedOf(1)); math.Abs(got*math.Sqrt(12)-1) > 0.1 {
		t.Errorf("deviation %g", got)
	}
}

// forgeries plays a strategy among forgers and returns the payloads of a kind, or with "" of
// all, before and after they were forged.
func forgeries(t *testing.T, p Plan, s Spec, of string) (before, after [][]byte) {
	t.Helper()
	f := drawn(t, p)
	own, err := p.taskOf("forgeries", f.Federation, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	scenario := sim.Scenario{Task: own, Seed: random.SeedOf(1), Workers: 1}
	for i := range f.Members {
		m, forger := p.member(i, s, own, f, func() {})
		if (forger != nil) != f.Members[i].Forged {
			t.Fatalf("member %d: %+v", i, f.Members[i])
		}
		if forger != nil {
			m.Forge = func(kind string, payload []byte) []byte {
				forged := forger.forge(kind, payload)
				if of == "" || kind == of {
					before, after = append(before, payload), append(after, forged)
				}
				return forged
			}
		}
		scenario.Members = append(scenario.Members, m)
	}
	if _, err := sim.Run(t.Context(), scenario); err != nil {
		t.Fatal(err)
	}
	return before, after
}

func TestForgedSharesHaveOtherWeightsAndNothingElseChanged(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Family = familyOf(t, "gp:d=1,others=forged") })
	check := func(name string, before, after [][]float64) {
		t.Helper()
		if len(before) == 0 {
			t.Fatalf("%s: nothing was forged", name)
		}
		for i := range before {
			if slices.Equal(before[i], after[i]) || i > 0 && slices.Equal(after[i], after[i-1]) {
				t.Errorf("%s: share %d is not forged anew", name, i)
			}
		}
	}
	var honest, forged [][]float64
	before, after := forgeries(t, p, Spec{Name: "fts"}, "weights")
	for i := range before {
		x, err1 := protocol.DecodeWeights(before[i], 32)
		y, err2 := protocol.DecodeWeights(after[i], 32)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		honest, forged = append(honest, x.Values), append(forged, y.Values)
		if x.Values, y.Values = nil, nil; !reflect.DeepEqual(x, y) {
			t.Errorf("%+v became %+v", x, y)
		}
	}
	check("fts", honest, forged)

	honest, forged = nil, nil
	before, after = forgeries(t, p, specsOf(t, "peer-prior:share=exact")[0], "mean")
	for i := range before {
		x, err1 := protocol.DecodeMean(before[i], 32, 1)
		y, err2 := protocol.DecodeMean(after[i], 32, 1)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		honest, forged = append(honest, x.Values), append(forged, y.Values)
		if x.Values, y.Values = nil, nil; !reflect.DeepEqual(x, y) {
			t.Errorf("%+v became %+v", x, y)
		}
	}
	check("peer-prior", honest, forged)
}

func TestSharesOfUnknownKindAreNotForgedInSilence(t *testing.T) {
	template, err := tiny(t, nil).template(Spec{Name: "fts"})
	if err != nil {
		t.Fatal(err)
	}
	f := newForger(template, Plan{}.registrationOf(Spec{Name: "fts"}), random.SeedOf(1), 0, strategy.Forgery{})
	if f.forge("gossip", nil); f.err == nil {
		t.Error("a share of an unknown kind passes unforged and unnoticed")
	}
}

// Every kind of company can be played by every strategy that shares.
func TestForgersTakePart(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Family, p.Strategies = familyOf(t, "gp:d=1,others=forged"), specsOf(t, "fts,peer-prior,consensus,constrained-gp,density,pooled")
	})
	f := drawn(t, p)
	if !f.Members[1].Forged || f.Members[0].Forged {
		t.Fatalf("%+v", f.Members)
	}
	for name, r := range playAll(t, p, f) {
		if len(r.Members) != 1 || r.Bytes == 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Who says all in direct messages is not forged, which must not pass for lies.
func TestDirectMessagesAreNotForged(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Family, p.Strategies = familyOf(t, "gp:d=1,others=forged"), specsOf(t, "constrained-gp:threshold=private")
	})
	f := drawn(t, p)
	_, err := p.play(t.Context(), 0, p.Strategies[0], f, 1, func() {})
	if err == nil || !strings.HasSuffix(err.Error(), "shares everything in direct messages, which are not forged") {
		t.Errorf("%v", err)
	}
}

// In two clusters whose members hear their own alone, a member hears and plays
// as if the others were not there.
func TestPeersOfTheOwnCluster(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Family, p.Agents = familyOf(t, "gp:d=1,clusters=2"), 4
		p.Strategies = specsOf(t, "fts,fts:peers=own-cluster")
	})
	f := drawn(t, p)
	received := func(s Spec) map[int]bool {
		all := map[int]bool{}
		task, err := p.taskOf("clusters", f.Federation, p.asTask(s), nil)
		if err != nil {
			t.Fatal(err)
		}
		scenario := p.scenario(s, task, f, 1)
		authors := map[string]bool{}
		scenario.Watch = func(member int, view strategy.View) {
			if member != 0 {
				return
			}
			for _, share := range view.Shares {
				authors[share.Author.String()] = true
			}
			all[len(authors)] = true
		}
		for i := range f.Members {
			m, _ := p.member(i, s, task, f, func() {})
			scenario.Members = append(scenario.Members, m)
		}
		if _, err := sim.Run(context.Background(), scenario); err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := received(p.Strategies[0]); !all[3] {
		t.Errorf("with peers=all member 0 never heard 3 others: %v", all)
	}
	if own := received(p.Strategies[1]); !own[1] || own[2] || own[3] {
		t.Errorf("with peers=own-cluster member 0 has heard so many others: %v", own)
	}
}

// A run has the same result with any number of members computing at a time.
func TestManyWorkersInOneRun(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Strategies = specsOf(t, "peer-prior") })
	f := drawn(t, p)
	play := func(workers int) Record {
		r, err := p.play(context.Background(), 0, p.Strategies[0], f, workers, func() {})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if one, many := play(1), play(4); !reflect.DeepEqual(one, many) {
		t.Errorf("with one worker %+v, with four %+v", one, many)
	}
}
