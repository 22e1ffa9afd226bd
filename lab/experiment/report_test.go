package experiment

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// byHand is a report on made-up records of two federations of three agents. The
// third agent of ts is stuck.
func byHand(t *testing.T) Report {
	t.Helper()
	p := tiny(t, func(p *Plan) { p.Strategies, p.Checkpoints = specsOf(t, "ts,fts,pooled"), []int{3} })
	store, err := OpenStore(t.TempDir(), p, StoreOptions{Build: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	add := func(strategy string, repeat int, queries int, last ...float64) {
		r := Record{Repeat: repeat, Strategy: p.key(specsOf(t, strategy)[0]), Goal: "maximize", Deviation: 2, Bytes: 100 * float64(queries+repeat), Seconds: 30, Core: 20, Build: "test"}
		if strategy == "ts" {
			r.Drawing = 3
		}
		for i, end := range last {
			r.Members = append(r.Members, MemberRecord{
				Member:             i,
				Regret:             []Number{8, 10, Number(2 * end), 9, Number(end), 7},
				Recommended:        []Number{Number(math.NaN()), Number(end)},
				PeerInformedTrials: queries,
			})
		}
		if err := store.add(r); err != nil {
			t.Fatal(err)
		}
	}
	add("ts", 0, 0, 1, 2, 3)
	add("ts", 1, 0, 3, 4, 5)
	add("fts", 0, 2, 1, 1, 1)
	add("fts", 1, 3, 1, 1, 1)
	add("pooled", 0, 4, 0.5, 0.5, 0.5)
	add("pooled", 1, 4, 1, 1, 1)
	report, err := NewReport(p, store, "fbo-node simulate --family gp:d=1")
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestReportByHand(t *testing.T) {
	r := byHand(t)
	ts, fts, pooled := r.Strategies[0], r.Strategies[1], r.Strategies[2]
	series := func(s Series, k int) []Number {
		return []Number{s.Mean[k], s.SE[k], s.Median[k], s.AgentQ1[k], s.AgentMedian[k], s.AgentQ3[k]}
	}
	for _, c := range []struct {
		what string
		got  []Number
		want []float64
	}{
		// Federations' means are 2 and 4, members' regrets 1, 2, 3, 3, 4, 5.
		{"ts at 6", series(ts.Simple, 5), []float64{3, 1, 3, 2.25, 3, 3.75}},
		// Twice that, but the first design was as good as 8: 2, 4, 6, 6, 8, 8.
		{"ts at 3", series(ts.Simple, 2), []float64{(4 + 22./3) / 2, (22./3 - 4) / 2, (4 + 22./3) / 2, 4.5, 6, 7.5}},
		// 8 + 10 + 9 + 7 and three times the last one.
		{"cumulative", series(ts.Cumulative, 5), []float64{43, 3, 43, 40.75, 43, 45.25}},
		{"recommended", series(ts.Recommended, 1), []float64{3, 1, 3, 2.25, 3, 3.75}},
		// From twice the end to the end is half; but the last of ts came from 8 to 5.
		{"gap", series(ts.Gap, 5), []float64{23. / 48, 1. / 48, 23. / 48, 0.5, 0.5, 0.5}},
		{"gap at the start", series(ts.Gap, 2), []float64{0, 0, 0, 0, 0, 0}},
		{"gap halfway", []Number{fts.Gap.Mean[3], fts.Gap.Mean[4], pooled.Gap.Mean[5]}, []float64{0, 0.5, 0.5}},
		{"never recommended", series(ts.Recommended, 0)[:1], []float64{math.NaN()}},
		{"queries", []Number{ts.PeerInformedTrials, fts.PeerInformedTrials}, []float64{0, 2.5}},
		{"bytes", []Number{ts.BytesPerAgent, fts.BytesPerAgent}, []float64{50, 300}},
		{"costs", []Number{ts.Seconds, ts.CoreSeconds, r.CoreSeconds, r.DrawingCoreSeconds}, []float64{60, 40, 126, 6}},
		{"floor", []Number{r.Deviation, r.RatioFloor, r.Counting}, []float64{2, 2e-6, 3}},
	} {
		for i, want := range c.want {
			near(t, c.what, float64(c.got[i]), want)
		}
	}
	if *ts.Hit != 5 || *fts.Hit != 3 || *pooled.Hit != 3 {
		t.Errorf("hits %d, %d, %d", *ts.Hit, *fts.Hit, *pooled.Hit)
	}
	if ts.Compared != nil {
		t.Error("the control is compared with itself")
	}
	// log(1/2) and log(1/4): mean -1.5·log 2, standard error log(2)/2, and Student's
	// quantile for one degree of freedom at 95 % is 6.313752.
	c := fts.Compared[1]
	near(t, "ratio", float64(c.Ratio), math.Pow(2, -1.5))
	near(t, "lower bound", float64(c.RatioLow), math.Exp(-1.5*math.Ln2-6.313752*math.Ln2/2))
	near(t, "upper bound", float64(c.RatioHigh), math.Exp(-1.5*math.Ln2+6.313752*math.Ln2/2))
	near(t, "difference", float64(c.Difference), -2)
	near(t, "its bound", float64(c.Upper), -2+6.313752)
	near(t, "gap closed", float64(c.GapClosed), 0.75) // pooled: 1/4 both times
	near(t, "gap closed by pooled", float64(pooled.Compared[1].GapClosed), 1)
}

// By hand, against 10 in the end: one federation alone stays behind, or the mean is
// ahead by less than its margin of 2.92·sd/√3, or by more.
func TestBoundOfAHit(t *testing.T) {
	control := [][]float64{{20, 10}, {20, 10}, {20, 10}}
	for _, c := range []struct {
		mine [][]float64
		want int // 0: never
	}{
		{[][]float64{{12, 9, 7}, {12, 9, 8}, {12, 12, 6}}, 3}, // -3, sd 1, margin 1.69
		{[][]float64{{12, 9, 9}, {12, 9, 8}, {12, 9, 11}}, 2}, // -1, sd 0
		{[][]float64{{12, 9, 5}, {12, 9, 9}, {12, 12, 11}}, 0},
	} {
		got := 0
		if high := hitHigh(c.mine, control, units{}); high != nil {
			got = *high
		}
		if got != c.want {
			t.Errorf("%v: %d, want %d", c.mine, got, c.want)
		}
	}
	if hitHigh([][]float64{{1, 1}}, [][]float64{{9, 9}}, units{}) != nil {
		t.Error("one federation has a bound")
	}
}

func TestTableIsTheGoldenOne(t *testing.T) {
	var b bytes.Buffer
	if err := byHand(t).WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.txt", b.String())
}

func TestJSONHasThePromisedFields(t *testing.T) {
	r := byHand(t)
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var form struct {
		Family     string
		Control    string
		Strategies []map[string]any
	}
	if err := json.Unmarshal(text, &form); err != nil {
		t.Fatal(err)
	}
	if form.Family != "gp:d=1,noise=0.05" || form.Control != "ts" || len(form.Strategies) != 3 {
		t.Fatalf("%+v", form)
	}
	for _, s := range form.Strategies {
		for _, name := range []string{"simple_regret", "cumulative_regret", "gap"} {
			for _, statistic := range []string{"mean", "se", "median", "agent_q1", "agent_median", "agent_q3"} {
				if curve, ok := s[name].(map[string]any)[statistic].([]any); !ok || len(curve) != 6 {
					t.Errorf("%v: %s.%s is %v", s["strategy"], name, statistic, curve)
				}
			}
		}
		for _, name := range []string{"peer_informed_trials", "bytes_per_agent", "seconds", "core_seconds", "hit"} {
			if _, ok := s[name].(float64); !ok {
				t.Errorf("%v: %s is %v", s["strategy"], name, s[name])
			}
		}
	}
	var again Report
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if second, err := json.Marshal(again); err != nil || !bytes.Equal(text, second) {
		t.Errorf("read and written again it differs: %v", err)
	}
}

func TestCSVHasARowPerStrategyAndEvaluation(t *testing.T) {
	var b bytes.Buffer
	if err := byHand(t).WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+3*6 || len(rows[0]) != 21 {
		t.Fatalf("%d rows of %d", len(rows), len(rows[0]))
	}
	want := []string{"gp:d=1,noise=0.05", "ts", "6", "3", "1", "3", "2.25", "3", "3.75", "43", "3", "43", "40.75", "43", "45.25"}
	if !slices.Equal(rows[6][:15], want) {
		t.Errorf("row %q, want %q", rows[6], want)
	}
	for k, want := range []string{"gap_mean", "gap_se", "gap_median", "gap_agent_q1", "gap_agent_median", "gap_agent_q3"} {
		if got := rows[0][15+k]; got != want {
			t.Errorf("column %q, want %q", got, want)
		}
	}
	if got, err := strconv.ParseFloat(rows[6][15], 64); err != nil || math.Abs(got-23./48) > 1e-12 || rows[6][17] == "" {
		t.Errorf("gap %q", rows[6][15:])
	}
}

func TestReportWarnings(t *testing.T) {
	p := tiny(t, func(p *Plan) { p.Repeats = 1 })
	record := Record{Deviation: 1, Members: []MemberRecord{{Excess: 1e-7}, {Excess: 1e-3}}, Build: "one"}
	other := record
	other.Build = "two"
	r := p.report([]sample{{records: []Record{record}, floors: []float64{1}}, {records: []Record{other}, foreign: 1}})
	if got := strings.Join(r.Warnings, "\n"); len(r.Warnings) != 3 || !strings.Contains(got, "than the optimum that the family states, 2 times") ||
		!strings.Contains(got, "rows marked with * use runs that other builds of this program have made, 1 of 2 in all") || !strings.Contains(got, "one repeat") {
		t.Errorf("warnings\n%s", got)
	}
}
