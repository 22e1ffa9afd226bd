package experiment

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// constrainedByHand is a report on made-up records of two federations of two agents.
// The last agent of logei never evaluates a feasible design; of ts one reports an
// infeasible one after four evaluations, and recommends it.
func constrainedByHand(t *testing.T) Report {
	t.Helper()
	p := tiny(t, func(p *Plan) {
		p.Family, p.Agents, p.Evaluations = familyOf(t, "limits:d=1"), 2, 4
		p.Strategies, p.Control, p.Checkpoints = specsOf(t, "logei,ts"), "logei", []int{2}
	})
	store := openTemp(t, t.TempDir(), p)
	none := Number(math.NaN())
	member := func(regret, violation []Number, best []int) MemberRecord {
		m := MemberRecord{Regret: regret, Violation: violation, Best: best, Nothing: 8, Recommended: []Number{none, none}, RecommendedViolation: []Number{none, 0.5}}
		if last := best[3]; last > 0 {
			m.Recommended[1], m.RecommendedViolation[1] = regret[last-1], violation[last-1]
		}
		return m
	}
	never := member([]Number{none, none, none, none}, []Number{1, 1, 1, 1}, []int{0, 0, 0, 0})
	second := member([]Number{none, 2, none, 1}, []Number{1, 0, 1, 0}, []int{0, 2, 2, 4})
	atOnce := member([]Number{9, 4, 2, none}, []Number{0, 0, 0, 0.1}, []int{1, 2, 3, 3})
	mistaken := member([]Number{4, none, 1, none}, []Number{0, 1, 0, 0.1}, []int{1, 1, 3, 4})
	for _, r := range []struct {
		strategy string
		repeat   int
		members  []MemberRecord
	}{
		{"logei", 0, []MemberRecord{second, second}}, {"logei", 1, []MemberRecord{second, never}},
		{"ts", 0, []MemberRecord{atOnce, atOnce}}, {"ts", 1, []MemberRecord{second, mistaken}},
	} {
		if err := store.add(Record{
			Repeat: r.repeat, Strategy: p.key(specsOf(t, r.strategy)[0]), Members: r.members,
			Goal: "maximize", Deviation: 1, Core: 30, Build: "test",
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	// What has been written reads as it was.
	store = openTemp(t, filepath.Dir(store.Path()), p)
	report, err := NewReport(p, store, "fbo-node simulate --family limits:d=1")
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestFeasibilityByHand(t *testing.T) {
	r := constrainedByHand(t)
	logei, ts := r.Strategies[0], r.Strategies[1]
	for _, c := range []struct {
		what string
		got  []Number
		want []float64
	}{
		// second has 8, 2, 2, 1; never 8 always; atOnce 8 (9 counts as nothing), 4, 2, 2;
		// mistaken 4, 4, 1, 8.
		{"logei, simple", logei.Simple.Mean, []float64{8, (2 + 5) / 2., (2 + 5) / 2., (1 + 4.5) / 2}},
		{"ts, simple", ts.Simple.Mean, []float64{(8 + 6) / 2., (4 + 3) / 2., (2 + 1.5) / 2, (2 + 4.5) / 2}},
		{"ts, cumulative", ts.Cumulative.AgentMedian, []float64{8, 12, 14, 21.5}},
		{"ts, gap", ts.Gap.AgentQ1, []float64{0, 0, 0, 0}}, // after three; atOnce, second and mistaken gain 0, .5 and less than nothing
		{"logei, nothing", logei.Feasibility.NoFeasibleDesign, []float64{1, 0.25, 0.25, 0.25}},
		{"ts, nothing", ts.Feasibility.NoFeasibleDesign, []float64{0.25, 0, 0, 0.25}},
		{"ts, mistaken", ts.Feasibility.InfeasibleReported, []float64{0, 0, 0, 0.25}},
		{"logei, recommended", logei.Recommended.Mean, []float64{math.NaN(), (1 + 4.5) / 2}},
		{"ts, recommended", ts.Recommended.Mean, []float64{math.NaN(), (2 + 4.5) / 2}},
		{"ts, recommended infeasible", ts.Feasibility.Recommended, []float64{math.NaN(), 0.25}},
		// 2, 2, 2 and 5, which is never; 1, 1, 2 and 1.
		{"logei, first", logei.Feasibility.First[:], []float64{2, 2, 2.75}},
		{"ts, first", ts.Feasibility.First[:], []float64{1, 1, 1.25}},
		{"never", []Number{logei.Feasibility.Never, ts.Feasibility.Never}, []float64{0.25, 0}},
		// Means 1 of 2 and 1.5 of 3.5; the standard error is half the difference of logs.
		{"ratio", []Number{ts.Feasibility.FirstRatio, ts.Feasibility.FirstHigh}, []float64{
			math.Sqrt(1. / 2 * 1.5 / 3.5), math.Sqrt(1./2*1.5/3.5) * math.Exp(6.313752*math.Abs(math.Log(1./2)-math.Log(1.5/3.5))/2),
		}},
		{"the control's", []Number{logei.Feasibility.FirstRatio}, []float64{math.NaN()}},
	} {
		if len(c.got) != len(c.want) {
			t.Errorf("%s: %v", c.what, c.got)
			continue
		}
		for i, want := range c.want {
			near(t, c.what, float64(c.got[i]), want)
		}
	}
}

func TestConstrainedTableIsTheGoldenOne(t *testing.T) {
	var b bytes.Buffer
	if err := constrainedByHand(t).WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "constraints.txt", b.String())
}

func TestCSVHasWhoReportsNothingFeasible(t *testing.T) {
	var b bytes.Buffer
	if err := constrainedByHand(t).WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for row, want := range map[int][]string{0: {"no_feasible_design", "infeasible_reported"}, 1: {"1", "0"}, 4: {"0.25", "0"}, 5: {"0.25", "0"}, 8: {"0.25", "0.25"}} {
		if got := rows[row][21:]; !slices.Equal(got, want) {
			t.Errorf("row %d ends with %v, want %v", row, got, want)
		}
	}
}

// Without noise the reported design is the best feasible one so far, and what is
// recorded is what the family says of the designs.
func TestRecordsUnderConstraints(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Family, p.Evaluations = familyOf(t, "limits:d=1,c=2,noise=0,feasible=0.2"), 8
		p.Strategies, p.Checkpoints = specsOf(t, "logei,ts,density,random"), []int{5}
	})
	f := drawn(t, p)
	feasible, infeasible := 0, 0
	for name, r := range playAll(t, p, f) {
		if r.Infeasible || !r.complete(p) {
			t.Errorf("%s: %+v", name, r)
		}
		for _, m := range r.Members {
			near(t, name+": nothing", float64(m.Nothing), f.Members[m.Member].Objective.Range)
			least := float64(m.Nothing)
			for i, violation := range m.Violation {
				if (violation > 0) != math.IsNaN(float64(m.Regret[i])) {
					t.Errorf("%s: a violation of %g and a regret of %g", name, violation, m.Regret[i])
				}
				if violation == 0 {
					feasible++
					least = min(least, float64(m.Regret[i]))
				} else {
					infeasible++
				}
				near(t, name+": simple regret", m.simple()[i], least)
			}
			if len(m.RecommendedViolation) != 2 || m.Excess > 0 {
				t.Errorf("%s: %+v", name, m)
			}
		}
	}
	if feasible < 10 || infeasible < 10 {
		t.Errorf("%d feasible designs and %d others: too few to test with", feasible, infeasible)
	}
}

// The noise of a constraint makes members measure other values than the family says,
// the same for every strategy.
func TestReadingsHaveTheirNoise(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Family, p.Strategies = familyOf(t, "limits:d=1,limit_noise=0.5"), specsOf(t, "logei,random")
	})
	f := drawn(t, p)
	own, err := p.template(Spec{Name: "ts"})
	if err != nil {
		t.Fatal(err)
	}
	at := f.Space.Decode([]float64{0.3})
	measure := func(strategy int, trial uint64) float64 {
		m, _ := p.member(0, p.Strategies[strategy], own, f, func() {})
		return m.Constraints(at, trial)["c1"].Float()
	}
	if measure(0, 1) != measure(1, 1) || measure(0, 1) == measure(0, 2) {
		t.Errorf("%g and %g in trial 1, %g in trial 2", measure(0, 1), measure(1, 1), measure(0, 2))
	}
	const n = 400
	var off []float64
	for trial := range uint64(n) {
		off = append(off, measure(0, trial)-f.Members[0].Constraints[0].Value(at))
	}
	// Four standard errors of a mean and of a deviation.
	if m, sd := mean(off), standardError(off)*math.Sqrt(n); math.Abs(m) > 0.1 || math.Abs(sd-0.5) > 0.07 {
		t.Errorf("the noise has mean %.3f and deviation %.3f", m, sd)
	}
}

// Where nothing is feasible violations stand for regrets, and nothing else is said.
func TestNothingFeasibleIsReportedAsViolations(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Family, p.Strategies, p.Repeats = familyOf(t, "limits:d=1,feasible=0,limit_noise=0.2"), specsOf(t, "logei,random"), 1
	})
	store := openTemp(t, t.TempDir(), p)
	for name, r := range playAll(t, p, drawn(t, p)) {
		if near(t, name+": noise", r.Noise, 0.2); !r.Infeasible {
			t.Errorf("%s: %+v", name, r)
		}
		for _, m := range r.Members {
			if m.constrained() || slices.ContainsFunc(m.Regret, func(v Number) bool { return !(v > 0) }) {
				t.Errorf("%s: %+v", name, m)
			}
		}
		r.Build = "test"
		if err := store.add(r); err != nil {
			t.Fatal(err)
		}
	}
	report, err := NewReport(p, store, "")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := report.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !report.Infeasible || report.Strategies[0].Feasibility != nil ||
		!strings.Contains(text, "No design keeps them. In place of regrets stands the least violation so far") || strings.Contains(text, "nothing feasible") {
		t.Error(text)
	}
}

func TestStrategiesWithoutConstraintsAreRefused(t *testing.T) {
	for strategy, want := range map[string]string{
		"fts":           "--strategy fts: strategy: type fts takes no constraints, which the task has; those that do: peer-prior, constrained-gp, density, alone, parego, ts, logei, mes",
		"consensus":     "--strategy consensus: strategy: type consensus takes no constraints",
		"pooled":        "--strategy pooled: the baseline pooled takes no constraints, which --family limits has; of the baselines random does",
		"dp-fts-de":     "--strategy dp-fts-de: the baseline dp-fts-de takes no constraints",
		"ts,random,taf": "--strategy taf: the baseline taf takes no constraints",
	} {
		p := tiny(t, nil)
		p.Family, p.Strategies = familyOf(t, "limits"), specsOf(t, strategy)
		if _, err := p.Complete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", strategy, err, want)
		}
	}
}

// Records and reports of families without constraints have the fields that they had.
func TestNothingIsAddedWithoutConstraints(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Strategies = specsOf(t, "logei") })
	store := openTemp(t, t.TempDir(), p)
	keys := func(v any) []string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var form map[string]any
		if err := json.Unmarshal(text, &form); err != nil {
			t.Fatal(err)
		}
		var names []string
		for name := range form {
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	for repeat := range p.Repeats {
		r := playAll(t, p, drawn(t, p))["logei"]
		r.Repeat = repeat
		if got, want := keys(r.Members[0]), []string{"member", "peer_queries", "recommended", "regret"}; !reflect.DeepEqual(got, want) {
			t.Errorf("a member has %v, want %v", got, want)
		}
		if slices.Contains(keys(r), "infeasible") {
			t.Errorf("a record has %v", keys(r))
		}
		r.Build = "test"
		if err := store.add(r); err != nil {
			t.Fatal(err)
		}
	}
	report, err := NewReport(p, store, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(keys(report), keys(report.Strategies[0])...) {
		if slices.Contains([]string{"constraints", "infeasible", "feasibility"}, name) {
			t.Errorf("a report has %s", name)
		}
	}
}

// A record is refused whose series do not belong together.
func TestConstrainedRecordsAreWhole(t *testing.T) {
	p := tiny(t, func(p *Plan) {
		p.Family, p.Evaluations, p.Checkpoints, p.Strategies = familyOf(t, "limits:d=1"), 3, []int{3}, specsOf(t, "ts")
	})
	whole := MemberRecord{Regret: make([]Number, 3), Recommended: make([]Number, 1), Violation: make([]Number, 3), Best: make([]int, 3), RecommendedViolation: make([]Number, 1)}
	if r := (Record{Members: []MemberRecord{whole}}); !r.complete(p) {
		t.Error("a whole record is refused")
	}
	for name, change := range map[string]func(m *MemberRecord){
		"violations":   func(m *MemberRecord) { m.Violation = m.Violation[:2] },
		"best":         func(m *MemberRecord) { m.Best = nil },
		"recommended":  func(m *MemberRecord) { m.RecommendedViolation = nil },
		"out of reach": func(m *MemberRecord) { m.Best = []int{1, 2, 4} },
	} {
		m := whole
		change(&m)
		if r := (Record{Members: []MemberRecord{m}}); r.complete(p) {
			t.Errorf("%s: accepted", name)
		}
	}
}

// What is reported is the best by what was measured, of equal ones the first.
func TestReportedIsAsMeasured(t *testing.T) {
	own, err := tiny(t, func(p *Plan) { p.Family, p.Strategies = familyOf(t, "limits:d=1"), specsOf(t, "ts") }).template(Spec{Name: "ts"})
	if err != nil {
		t.Fatal(err)
	}
	var trials []strategy.Trial
	var got []int
	for i, c := range []struct{ value, limit float64 }{{5, 0.1}, {1, 0}, {3, -1}, {9, 1e-9}, {3, -2}, {4, 0}} {
		trials = append(trials, strategy.Trial{ID: uint64(10 + i), State: strategy.Done,
			Outcome: &strategy.Outcome{Value: c.value, Constraints: map[string]task.Reading{"c1": task.Number(c.limit)}}})
		got = append(got, reported(own, trials))
	}
	if want := []int{0, 2, 3, 3, 3, 6}; !slices.Equal(got, want) { // to be maximised
		t.Errorf("reported are %v, want %v", got, want)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("the table is\n%s\ninstead of\n%s", got, want)
	}
}
