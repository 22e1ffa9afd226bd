package experiment

import (
	"encoding/csv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rawOf is what WriteRaw has written, without the names of columns.
func rawOf(t *testing.T, p Plan, store *Store) (header []string, rows [][]string) {
	t.Helper()
	var b strings.Builder
	if err := WriteRaw(&b, p, store); err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[0], all[1:]
}

func TestRawHasARowPerFederationAgentAndEvaluation(t *testing.T) {
	p, store := namedByHand(t)
	header, rows := rawOf(t, p, store)
	if got := strings.Join(header, ","); got != "family,strategy,federation,agent,member,evaluation,regret,simple_regret,cumulative_regret" {
		t.Errorf("columns %s", got)
	}
	if len(rows) != 2*2*2*3 {
		t.Errorf("%d rows", len(rows))
	}
	if got, want := strings.Join(rows[2*3+1*3+2], "|"), "gp:d=1,noise=0.05|ts|1|1|c|3|1|1|17"; got != want {
		t.Errorf("row %s, want %s", got, want)
	}
	// The report can be computed again: here the ratio, over members.
	last := map[string]map[string][]float64{"ts": {}, "fts": {}}
	for _, row := range rows {
		if row[5] == "3" {
			v, err := strconv.ParseFloat(row[7], 64)
			if err != nil {
				t.Fatal(err)
			}
			floor := map[string]float64{"a": 0.1, "b": 0.01, "c": 0.01}[row[4]]
			last[row[1]][row[4]] = append(last[row[1]][row[4]], math.Log(max(v, floor)))
		}
	}
	var logs []float64
	for member := range maps.Keys(last["ts"]) {
		logs = append(logs, mean(differences(last["fts"][member], last["ts"][member])))
	}
	r, err := NewReport(p, store, "")
	if err != nil {
		t.Fatal(err)
	}
	near(t, "ratio", math.Exp(mean(logs)), float64(r.Strategies[1].Compared[0].Ratio))
}

func TestRawHasViolations(t *testing.T) {
	for _, c := range []struct {
		feasible string
		empty    bool // regrets of infeasible designs
	}{{"0.2", true}, {"0", false}} {
		p := tiny(t, func(p *Plan) {
			p.Family, p.Strategies, p.Repeats = familyOf(t, "limits:d=1,c=2,noise=0,feasible="+c.feasible), specsOf(t, "random"), 1
		})
		store := openTemp(t, t.TempDir(), p)
		if err := Run(t.Context(), p, store, Options{}); err != nil {
			t.Fatal(err)
		}
		header, rows := rawOf(t, p, store)
		at := slices.Index(header, "violation")
		infeasible := 0
		for _, row := range rows {
			if row[at] == "0" {
				continue
			}
			infeasible++
			if c.empty != (row[6] == "") || row[7] == "" || row[8] == "" || !c.empty && row[6] != row[at] {
				t.Errorf("feasible=%s: row %q", c.feasible, row)
			}
		}
		if infeasible == 0 || c.empty && infeasible == len(rows) {
			t.Errorf("feasible=%s: %d of %d designs are infeasible", c.feasible, infeasible, len(rows))
		}
	}
}
