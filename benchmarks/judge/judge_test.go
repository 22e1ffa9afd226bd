package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/lab/experiment"
)

// made is a report with these ratios after 4, 8 and 20 evaluations; each has bounds of a
// tenth to either side.
func made(family string, ratios map[string][3]float64) experiment.Report {
	r := experiment.Report{Family: family, Control: "best-alone", Checkpoints: []int{4, 8, 20}, Seed: 1, ResultsVersion: 7}
	for _, name := range []string{"ts", "taf", "fts", "rgpe"} {
		at, ok := ratios[name]
		if !ok {
			continue
		}
		s := experiment.StrategyReport{Strategy: name}
		for k, ratio := range at {
			s.Compared = append(s.Compared, experiment.Comparison{
				Evaluations: r.Checkpoints[k],
				Ratio:       experiment.Number(ratio),
				RatioLow:    experiment.Number(ratio * 0.9),
				RatioHigh:   experiment.Number(ratio * 1.1),
			})
		}
		r.Strategies = append(r.Strategies, s)
	}
	return r
}

// three are reports of which the last does not have fts.
func three() []experiment.Report {
	return []experiment.Report{
		made("a", map[string][3]float64{"ts": {1, 1.2, 2}, "taf": {0.5, 0.5, 0.5}, "fts": {0.1, 0.2, 0.05}}),
		made("b", map[string][3]float64{"ts": {1, 1, 1.3}, "taf": {0.5, 1, 1}, "fts": {0.4, 0.2, 0.2}}),
		made("c", map[string][3]float64{"ts": {1, 1.2, 1.3}, "taf": {0.5, 2, 4}}),
	}
}

// arguments writes reports into files, and names them as their families.
func arguments(t *testing.T, reports ...experiment.Report) []string {
	t.Helper()
	var all []string
	folder := t.TempDir()
	for i, r := range reports {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, fmt.Sprintf("%d.json", i))
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		all = append(all, r.Family+"="+path)
	}
	return all
}

func output(t *testing.T, arguments []string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(arguments, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Of taf's ratios 0.5, 1 and 2 the mean logarithm is 0 and the deviation ln 2; with
// t = 2.91999 for two degrees of freedom the bounds are exp(±2.91999 ln 2/√3) = 0.311 and
// 3.217. For fts' 0.05 and 0.2, with t = 6.31375, they are 0.1·exp(±6.31375 ln 2).
func TestCommandPrintsRatiosWithConfidenceBounds(t *testing.T) {
	got := output(t, arguments(t, three()...))
	want := "Simple regret in ratio to that of `best-alone`, geometric mean over a, b, c\n" +
		"[one-sided 95 % Student's bound to either side over these], in the order of the mean over all checkpoints:\n" + `
| strategy | at 4 | at 8 | at 20 |
|---|---|---|---|
| ~fts~, 2 of 3 | 0.20 [0.0025, 15.91] | 0.20 [0.20, 0.20] | 0.10 [0.0013, 7.95] |
| ~taf~ | 0.50 [0.50, 0.50] | 1.00 [0.31, 3.22] | 1.26 [0.21, 7.51] |
| ~ts~ | 1.00 [1.00, 1.00] | 1.13 [0.95, 1.35] | 1.50 [0.99, 2.28] |

A strategy with “of 3” is not in all reports. Its means are over those that have it, and not to be set beside others'.

The ratio of each after 8 evaluations; bold where its own bound is below 1, italic where it is above:

| | ~fts~ | ~taf~ | ~ts~ |
|---|---|---|---|
| a | **0.20** | **0.50** | *1.20* |
| b | **0.20** | 1.00 | 1.00 |
| c | – | *2.00* | *1.20* |
`
	want = strings.ReplaceAll(want, "~", "`")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestBoundsAreStudents(t *testing.T) {
	e := estimateOf([]float64{-math.Ln2, 0, math.Ln2})
	if want := 2.919986 * math.Ln2 / math.Sqrt(3); math.Abs(e.margin-want) > 1e-5 || math.Abs(e.mean) > 1e-15 {
		t.Errorf("mean %g, margin %g, want 0, %g", e.mean, e.margin, want)
	}
}

func TestAtChoosesTheCheckpointOfTheSecondTable(t *testing.T) {
	got := output(t, append([]string{"--at", "20"}, arguments(t, three()...)...))
	for _, want := range []string{"The ratio of each after 20 evaluations", "| c | – | *4.00* | *1.30* |"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// Nothing bounds the mean over one report, and one checkpoint has no last but one.
func TestOneReportWithOneCheckpoint(t *testing.T) {
	r := made("a", map[string][3]float64{"taf": {0.5, 0.5, 0.5}})
	r.Checkpoints, r.Strategies[0].Compared = r.Checkpoints[:1], r.Strategies[0].Compared[:1]
	svg := filepath.Join(t.TempDir(), "a.svg")
	got := output(t, append([]string{"--svg", svg}, arguments(t, r)...))
	for _, want := range []string{"| `taf` | 0.50 |\n", "after 4 evaluations", "| a | **0.50** |"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	drawn(t, svg)
}

// The control is among the strategies where it is one of them, without comparisons.
func TestAStrategyAsTheControlHasNoRow(t *testing.T) {
	r := made("a", map[string][3]float64{"ts": {}, "taf": {0.5, 0.5, 0.5}})
	r.Control, r.Strategies[0].Compared = "ts", nil
	got := output(t, arguments(t, r))
	if !strings.Contains(got, "that of `ts`") || strings.Contains(got, "| `ts`") {
		t.Error(got)
	}
}

func TestCommandPrintsWarningsOfResults(t *testing.T) {
	all := three()
	all[1].Warnings = []string{"something is odd"}
	all[2].ResultsVersion = 8
	got := output(t, arguments(t, all...))
	want := "\n- b: something is odd\n- c is of results version 8, a of 7\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("no %q at the end of\n%s", want, got)
	}
}

// drawn returns the text of a picture that is well-formed XML without numbers that are none.
func drawn(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for decoder := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(string(text), "NaN") || strings.Contains(string(text), "Inf") {
		t.Error("the picture has NaN or Inf")
	}
	return string(text)
}

func TestPicture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "judge.svg")
	output(t, append([]string{"--svg", path}, arguments(t, three()...)...))
	text := drawn(t, path)
	for _, want := range []string{">taf<", ">ts<", ">fts, 2 of 3<", ">4<", ">8<", ">20<", ">1<", ">0.1<", "that of best-alone", "over 3 reports"} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture does not show %q", want)
		}
	}
}

func TestCommandRefusesWrongArguments(t *testing.T) {
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return "x=" + path
	}
	changed := func(change func(r *experiment.Report)) []string {
		all := three()[:2]
		change(&all[1])
		return arguments(t, all...)
	}
	for _, c := range []struct {
		arguments []string
		want      []string
	}{
		{nil, []string{"no reports given"}},
		{[]string{"x.json"}, []string{"x.json: expected NAME=REPORT.json"}},
		{[]string{"=x.json"}, []string{"=x.json: expected"}},
		{[]string{"x=none.json"}, []string{"none.json", "no such file"}},
		{[]string{file("empty.json", "")}, []string{"empty.json: empty; has the simulation ended?"}},
		{[]string{file("cut.json", `{"family": "a"`)}, []string{"cut.json: not a result of simulate --json", "unexpected end"}},
		{[]string{file("other.json", "{}")}, []string{"other.json: a result without strategies"}},
		{changed(func(r *experiment.Report) { r.Family = "a" }), []string{"1.json: the name a is that of", "0.json"}},
		{changed(func(r *experiment.Report) { r.Control = "logei" }), []string{"1.json: the control is logei, but best-alone in", "0.json"}},
		{changed(func(r *experiment.Report) { r.Strategies[1].Compared = nil }), []string{"1.json: taf is compared after  evaluations"}},
		{changed(func(r *experiment.Report) { r.Checkpoints = []int{4, 8, 12} }), []string{"1.json: ts is compared after 4, 8, 20 evaluations, but the checkpoints are 4, 8, 12"}},
		{changed(func(r *experiment.Report) { r.Strategies[1].Compared[1].Ratio = experiment.Number(math.NaN()) }), []string{"1.json: taf has no ratio after 8 evaluations"}},
		{changed(func(r *experiment.Report) {
			r.Control, r.Strategies = "ts", []experiment.StrategyReport{{Strategy: "ts"}}
		}), []string{"1.json: a result with no strategy but the control"}},
		{changed(func(r *experiment.Report) {
			r.Checkpoints = r.Checkpoints[:2]
			for i := range r.Strategies {
				r.Strategies[i].Compared = r.Strategies[i].Compared[:2]
			}
		}), []string{"1.json: the checkpoints are 4, 8, but 4, 8, 20 in", "0.json"}},
		{append([]string{"--at", "5"}, arguments(t, three()...)...), []string{"--at 5: expected one of the checkpoints of", "0.json: 4, 8, 20"}},
		{append([]string{"--svg", "nonesuch/x.svg"}, arguments(t, three()...)...), []string{"nonesuch/x.svg"}},
	} {
		var out bytes.Buffer
		err := run(c.arguments, &out, io.Discard)
		if err == nil {
			t.Errorf("%q: no error, want %q", c.arguments, c.want)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %v, want %q", c.arguments, err, want)
			}
		}
		if strings.Contains(err.Error(), "\n") || out.Len() > 0 {
			t.Errorf("%q: error %q, output %q", c.arguments, err, out.String())
		}
	}
	twice := arguments(t, three()[0])[0]
	if err := run([]string{twice, "b" + strings.TrimPrefix(twice, "a")}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "would count twice") {
		t.Errorf("one report under two names: %v", err)
	}
	if err := run([]string{"--nonesuch"}, io.Discard, io.Discard); !errors.Is(err, errFlags) {
		t.Errorf("an unknown flag: %v", err)
	}
}
