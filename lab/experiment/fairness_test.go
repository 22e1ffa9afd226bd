package experiment

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// play is a federation of agents with these regrets.
func playOf(regrets ...[]float64) fairnessInput {
	r := Record{}
	for i, row := range regrets {
		m := MemberRecord{Member: i}
		for _, v := range row {
			m.Regret = append(m.Regret, Number(v))
		}
		r.Members = append(r.Members, m)
	}
	return *r.judge()
}

// Two agents, regrets 3, 1 and 1, 0, weights 5/6 and 1/6. After one evaluation the mean
// loss is 2 and the weighed one (5·3+1)/6, after two 2.5 and (5·4+1)/6.
func TestFairnessByHand(t *testing.T) {
	j, weights := playOf([]float64{3, 1}, []float64{1, 0}), judgeWeights(2, 0.2)
	near(t, "regret per party", j.regretPerParty(), 2.5)
	near(t, "unfairness", j.unfairness(weights), (16./6-2+21./6-2.5)/2)
	near(t, "fair regret", j.fairRegret(weights), 21./6)
	near(t, "Gini's welfare of 5, 5", welfare([]float64{3, 1}, []float64{5, 5}), 20)
	near(t, "Gini's welfare of 8, 2", welfare([]float64{3, 1}, []float64{8, 2}), 14)
}

// plays are regrets of 2 to 5 agents after 1 to 6 evaluations.
func plays(t *rapid.T) [][]float64 {
	agents, evaluations := rapid.IntRange(2, 5).Draw(t, "agents"), rapid.IntRange(1, 6).Draw(t, "evaluations")
	regrets := make([][]float64, agents)
	for i := range regrets {
		regrets[i] = rapid.SliceOfN(rapid.Float64Range(0, 10), evaluations, evaluations).Draw(t, "regrets")
	}
	return regrets
}

// The definitions of the paper, by gains and an optimum, against what is computed from
// regrets alone.
func TestFairnessIsWhatThePaperDefines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		regrets, optimum := plays(t), rapid.Float64Range(-20, 20).Draw(t, "optimum")
		rho := rapid.Float64Range(0.1, 1).Draw(t, "rho")
		n, weights := len(regrets), judgeWeights(len(regrets), rho)
		gains, ideal := make([]float64, n), make([]float64, n)
		unfairness, fair := 0.0, 0.0
		for k := range regrets[0] {
			for i := range gains {
				ideal[i] = gains[i] + optimum
				gains[i] += optimum - regrets[i][k]
			}
			unfairness += (mean(gains) - welfare(weights, gains)) / float64(len(regrets[0]))
			fair += welfare(weights, ideal) - welfare(weights, gains)
		}
		j := playOf(regrets...)
		if got := j.unfairness(weights); math.Abs(got-unfairness) > 1e-9 || got < -1e-9 {
			t.Errorf("unfairness %g, want %g", got, unfairness)
		}
		if got := j.fairRegret(weights); math.Abs(got-fair) > 1e-9 || got < j.regretPerParty()-1e-9 {
			t.Errorf("fair regret %g, want %g, and no less than %g", got, fair, j.regretPerParty())
		}
		if got := j.fairRegret(judgeWeights(n, 1)); math.Abs(got-j.regretPerParty()) > 1e-9 {
			t.Errorf("with equal weights %g, want %g", got, j.regretPerParty())
		}
	})
}

func TestAtTheOptimumNothingIsUnfair(t *testing.T) {
	j, weights := playOf([]float64{0, 0, 0}, []float64{0, 0, 0}, []float64{0, 0, 0}), judgeWeights(3, 0.2)
	if got := []float64{j.regretPerParty(), j.unfairness(weights), j.fairRegret(weights)}; !slices.Equal(got, []float64{0, 0, 0}) {
		t.Errorf("%v", got)
	}
}

// Who has gained more gives at most half of what it is ahead by to another.
func TestTransfersMakeNothingLessFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		losses := rapid.SliceOfN(rapid.Float64Range(0, 10), 2, 6).Draw(t, "losses")
		i, k := rapid.IntRange(0, len(losses)-1).Draw(t, "from"), rapid.IntRange(0, len(losses)-1).Draw(t, "to")
		if losses[i] > losses[k] {
			i, k = k, i
		}
		given := rapid.Float64Range(0, 0.5).Draw(t, "part") * (losses[k] - losses[i])
		var before, after [][]float64
		for a, loss := range losses {
			before = append(before, []float64{loss})
			switch a {
			case i:
				loss += given
			case k:
				loss -= given
			}
			after = append(after, []float64{loss})
		}
		weights := judgeWeights(len(losses), judgeRho)
		if was, is := playOf(before...).unfairness(weights), playOf(after...).unfairness(weights); is > was+1e-9 {
			t.Errorf("%g before, %g after", was, is)
		}
	})
}

// Sums 4, 5, 6 with simple regrets 4, 1, 1 against 4, 8, 9 with 4, 4, 1: at 6 they are 1
// and 4; all three of the first are no worse, two of the second.
func TestRationalityByHand(t *testing.T) {
	good, bad := []float64{4, 1, 1}, []float64{4, 4, 1}
	mine, theirs := []fairnessInput{playOf(good, good, bad), playOf(good, bad, bad)}, []fairnessInput{playOf(bad, bad, bad), playOf(bad, good, bad)}
	r := rationality(mine, theirs)
	// First federation: two better, one equal. Second: one better, one worse, one equal.
	near(t, "lower", float64(r.Lower), (2./3+1./3)/2)
	near(t, "equal", float64(r.Equal), 1./3)
	// Two observations of .5, z = 1.644854.
	z := 1.644854
	near(t, "lower bound", float64(r.LowerLow), (0.5+z*z/4-z*math.Sqrt(1./8+z*z/16))/(1+z*z/2))
	near(t, "upper bound", float64(r.LowerHigh), (0.5+z*z/4+z*math.Sqrt(1./8+z*z/16))/(1+z*z/2))
	// bad against good: the sum 4 alone is one that good has not left behind.
	near(t, "dominated share", float64(r.DominatedShare), 1)
	near(t, "dominated share of a loser", dominatedShare([]float64{4, 5}, []float64{4, 3}, []float64{4, 5, 6}, []float64{4, 1, 1}), 0.5)
	if got := dominatedShare([]float64{1}, []float64{1}, []float64{4}, []float64{4}); !math.IsNaN(got) {
		t.Errorf("nothing to compare gives %g", got)
	}
	if got := reached([]float64{4, 5}, []float64{4, 3}, 3); !math.IsInf(got, 1) {
		t.Errorf("nothing reached gives %g", got)
	}
}

// Of all agents the largest, each by itself; of medians the median.
func TestFrontiersByHand(t *testing.T) {
	all := []fairnessInput{playOf([]float64{3, 1}, []float64{2, 2}, []float64{0, 9}), playOf([]float64{1, 1}, []float64{1, 1}, []float64{1, 1})}
	f := fairness(all, nil)
	if got := floats(f.Worst.Cumulative); !slices.Equal(got, []float64{3, 9}) {
		t.Errorf("worst sums %v", got)
	}
	if got := floats(f.Worst.Simple); !slices.Equal(got, []float64{3, 2}) {
		t.Errorf("worst simple regrets %v", got)
	}
	if got := floats(f.Median.Cumulative); !slices.Equal(got, []float64{1.5, 3}) {
		t.Errorf("median sums %v", got)
	}
	if got := floats(f.Median.Simple); !slices.Equal(got, []float64{1.5, 1}) {
		t.Errorf("median simple regrets %v", got)
	}
}

// fairByHand is a report on made-up records of two federations of three agents: alone,
// together and together with an agent that understates.
func fairByHand(t *testing.T) Report {
	t.Helper()
	p := tiny(t, func(p *Plan) {
		p.Own, p.Evaluations = ownStrategies(), 3
		p.Strategies = specsOf(t, "ts,together,together:understate=2")
	})
	store := openTemp(t, t.TempDir(), p)
	for i, s := range p.Strategies {
		for repeat := range p.Repeats {
			r := Record{Repeat: repeat, Strategy: p.key(s), Goal: "maximize", Deviation: 2, Core: 20, Build: "test"}
			for agent := range 3 {
				first := Number(8 + repeat)
				second := []Number{8, 2, 2}[i] + []Number{2, 1, 1}[i]*Number(agent*(1+repeat))
				if i == 2 && agent == 0 {
					second = 1
				}
				r.Members = append(r.Members, MemberRecord{
					Member: agent, Regret: []Number{first, second, 1}, Recommended: []Number{1},
				})
			}
			if i == 2 && repeat == 1 {
				r.Warnings = 3
			}
			if i > 0 {
				r.Observed = &Observed{Regret: Number(10 + repeat), Information: 2, Bound: []Number{0, Number(math.NaN()), 10.5}[i]}
			}
			if err := store.add(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	report, err := NewReport(p, store, "fbo-node simulate --strategy ts,together,together:understate=2")
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestFairnessOfAReport(t *testing.T) {
	r := fairByHand(t)
	alone, together, liar := r.Strategies[0].Fairness, r.Strategies[1].Fairness, r.Strategies[2].Fairness
	// Sums are 19 and 22 alone, 12 and 14 together; Student's quantile is 6.313752.
	near(t, "alone", float64(alone.RegretPerParty.Mean), 20.5)
	near(t, "together", float64(together.RegretPerParty.Mean), 13)
	near(t, "standard error", float64(together.RegretPerParty.SE), 1)
	near(t, "less", float64(together.RegretPerParty.Difference), -7.5)
	near(t, "bound", float64(together.RegretPerParty.High), -7.5+6.313752/2)
	near(t, "the third agent", float64(together.Agents[2].Regret.Mean), (13.+16)/2)
	if alone.Rationality != nil || !math.IsNaN(float64(alone.RegretPerParty.Difference)) {
		t.Error("the control is compared with itself")
	}
	// Alone is 8 or more at the sums 11 to 16 that together ends with at 1.
	near(t, "better off", float64(together.Rationality.Lower), 1)
	if together.Understated != nil {
		t.Error("nobody understates")
	}
	if alone.Observed != nil || !math.IsNaN(float64(together.Observed.Within)) {
		t.Errorf("%+v, %+v", alone.Observed, together.Observed)
	}
	near(t, "observed", float64(together.Observed.Regret.Mean), 10.5)
	near(t, "within", float64(liar.Observed.Within), 0.5)
	u := liar.Understated
	if u == nil || u.Honest != "together" || u.By != 2 {
		t.Fatalf("%+v", u)
	}
	near(t, "detected", float64(u.Detected), 0.5)
	near(t, "agent 0", float64(u.Agent.Mean), 8.5+1+1)
	near(t, "agent 0 by lying", float64(u.Agent.Difference), -1)
	near(t, "others", float64(u.Others.Mean), (12.5+15)/2)
	near(t, "others by its lying", float64(u.Others.Difference), 0)
}

func TestTableOfFairnessIsTheGoldenOne(t *testing.T) {
	var b bytes.Buffer
	if err := fairByHand(t).WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "fairness.txt", b.String())
}

func TestJSONOfFairnessHasThePromisedFields(t *testing.T) {
	text, err := json.Marshal(fairByHand(t).Strategies[2].Fairness)
	if err != nil {
		t.Fatal(err)
	}
	var form map[string]any
	if err := json.Unmarshal(text, &form); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"regret_per_party.mean", "regret_per_party.se", "regret_per_party.difference", "regret_per_party.difference_low",
		"regret_per_party.difference_high", "unfairness.mean", "fair_regret.mean", "worst.dominated_share", "median.dominated_share",
		"rationality.lower", "rationality.equal", "rationality.lower_low", "rationality.lower_high", "rationality.dominated_share",
		"observed.regret.mean", "observed.information", "observed.bound", "observed.within", "understated.by", "understated.detected", "understated.agent.difference", "understated.others.difference",
	} {
		var at any = form
		for _, key := range strings.Split(path, ".") {
			at = at.(map[string]any)[key]
		}
		if _, ok := at.(float64); !ok {
			t.Errorf("%s is %v", path, at)
		}
	}
	for _, curves := range []string{"worst", "median"} {
		for _, curve := range []string{"cumulative_regret", "simple_regret"} {
			if all := form[curves].(map[string]any)[curve].([]any); len(all) != 3 {
				t.Errorf("%s.%s is %v", curves, curve, all)
			}
		}
	}
	if agents := form["agents"].([]any); len(agents) != 3 || agents[2].(map[string]any)["agent"] != 2. {
		t.Errorf("agents are %v", agents)
	}
	var again Fairness
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if second, err := json.Marshal(again); err != nil || !bytes.Equal(text, second) {
		t.Errorf("read and written again it differs: %v", err)
	}
}

func TestCSVHasTheCurvesOfTheWorstAgent(t *testing.T) {
	var b bytes.Buffer
	if err := fairByHand(t).WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	// The worst of together after two evaluations: 9 + 6, and 6; the medians of 11 and 13,
	// and of 3 and 4.
	if got, want := rows[5][21:], []string{"15", "6", "12", "3.5"}; rows[5][1] != "together" || !slices.Equal(got, want) {
		t.Errorf("%v, want %v", rows[5], want)
	}
}

func TestFairnessIsThereWhereItIsAskedFor(t *testing.T) {
	asked := func(change func(p *Plan), change2 func(r *Record)) Report {
		p := tiny(t, func(p *Plan) { p.Strategies = specsOf(t, "ts"); change(p) })
		store := openTemp(t, t.TempDir(), p)
		for repeat := range p.Repeats {
			r := Record{Repeat: repeat, Strategy: p.key(p.Strategies[0]), Goal: "maximize", Deviation: 1, Build: "test", Members: []MemberRecord{
				{Regret: []Number{1, 1, 1, 1, 1, 1}, Recommended: []Number{1}},
				{Member: 2, Regret: []Number{1, 1, 1, 1, 1, 1}, Recommended: []Number{1}},
			}}
			change2(&r)
			if err := store.add(r); err != nil {
				t.Fatal(err)
			}
		}
		report, err := NewReport(p, store, "")
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	nothing := func(*Record) {}
	if r := asked(func(*Plan) {}, nothing); r.Strategies[0].Fairness != nil {
		t.Error("nobody has asked")
	}
	yes := func(p *Plan) { p.Fairness = true }
	r := asked(yes, nothing)
	if f := r.Strategies[0].Fairness; f == nil || len(f.Agents) != 2 || f.Agents[1].Agent != 2 || f.RegretPerParty.Mean != 6 || len(r.Warnings) != 0 {
		t.Errorf("%+v, warnings %v", f, r.Warnings)
	}
	for name, change := range map[string]func(*Record){
		"budgets":    func(r *Record) { r.Members[0].Regret = r.Members[0].Regret[:4] },
		"infeasible": func(r *Record) { r.Infeasible = true },
	} {
		r := asked(func(p *Plan) { p.Fairness, p.MinEvaluations = true, 4 }, change)
		if r.Strategies[0].Fairness != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "equally many") {
			t.Errorf("%s: warnings %v", name, r.Warnings)
		}
	}
}

// The best of what agents reach alone is chosen agent by agent; equal is not lower.
func TestBestAlone(t *testing.T) {
	play := func(last ...float64) fairnessInput {
		var j fairnessInput
		for agent, v := range last {
			j.agents = append(j.agents, agent)
			j.simple = append(j.simple, []float64{9, v})
			j.cumulative = append(j.cumulative, []float64{9, 9 + v})
		}
		return j
	}
	together := []fairnessInput{play(1, 2, 3, 4), play(1, 1, 1, 1)}
	one, other := []fairnessInput{play(2, 3, 2, 4), play(2, 2, 2, 2)}, []fairnessInput{play(3, 1, 4, 5), play(1, 3, 3, 3)}
	got := bestAlone(together, []string{"one", "other"}, [][]fairnessInput{one, other})
	// Of the first federation agent 0 alone has less than by both, of the second all but 0.
	near(t, "lower", float64(got.Lower), (1./4+3./4)/2)
	low, high := wilson(0.5, 2)
	near(t, "low", float64(got.LowerLow), low)
	near(t, "high", float64(got.LowerHigh), high)
}
