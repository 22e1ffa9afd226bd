package democmd

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/cli/clitest"
	"github.com/fbo-node/fbo/strategy"
)

func TestDemoSentenceComparesTogetherWithAlone(t *testing.T) {
	for _, c := range []struct {
		together, alone []float64
		want            string
	}{
		{[]float64{4, 2, 1, 1}, []float64{4, 3, 2.5, 2}, "Together reached after 2 evaluations what alone took 4: mean loss 2."},
		{[]float64{4, 3, 2.5, 2}, []float64{4, 2, 1, 1}, "Alone reached after 2 evaluations what together took 4: mean loss 2."},
		{[]float64{5, 4, 3, 1}, []float64{4, 3, 3, 3}, "Together reached after 3 evaluations what alone took only 2: mean loss 3."},
		{[]float64{5, 3}, []float64{4, 3}, "Together reached after 2 evaluations what alone took 2: mean loss 3."},
		{[]float64{3}, []float64{2}, "Alone reached after 1 evaluation what together took 1: mean loss 3."},
	} {
		if got := (curves{c.together, c.alone}).sentence(); got != c.want {
			t.Errorf("%v, %v:\n%s\nwant\n%s", c.together, c.alone, got, c.want)
		}
	}
}

func TestMeanCurve(t *testing.T) {
	got := meanCurve([]nodeSummary{{curve: []float64{4, 2, 1}}, {curve: []float64{2, 1}}})
	if len(got) != 2 || got[0] != 3 || got[1] != 1.5 {
		t.Errorf("%v, want 3 and 1.5", got)
	}
}

func TestDemoPlotDrawsBothCurves(t *testing.T) {
	got := curves{[]float64{8, 2, 1}, []float64{8, 4, 2}}.plot(4, 18)
	want := []string{
		"      8 |***",
		"        |   aaa",
		"        |   tttaaa",
		"      1 |      ttt",
		"         1       3",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Curves of any length and level are drawn within the width.
func TestDemoPlotStaysWithinItsWidth(t *testing.T) {
	long := make([]float64, 500)
	for i := range long {
		long[i] = 500 - float64(i)
	}
	for _, c := range []curves{{long, long}, {[]float64{1}, []float64{1}}, {[]float64{0, 0}, []float64{1, 0}}, {[]float64{0}, []float64{0}}} {
		lines := c.plot(plotRows, screenWidth)
		if len(lines) != plotRows+1 {
			t.Errorf("%d lines", len(lines))
		}
		for _, line := range lines {
			if len(line) > screenWidth {
				t.Errorf("%d characters: %s", len(line), line)
			}
		}
	}
}

// What is written fits 24 lines of 80 characters, with the first line and that of the prompt,
// and has no escape codes but on a terminal.
func TestDemoFitsTheScreen(t *testing.T) {
	for _, nodes := range []int{1, 8, 32} {
		for _, live := range []bool{true, false} {
			var out strings.Builder
			s := newScreen(&out, live, nodes)
			long := nodeEvent{Trial: &nodeTrial{}, Best: &nodeTrial{}}
			if err := json.Unmarshal([]byte(`{"trial":{"id":10,"outcome":{"value":0.5},"reason":"x"},"best":{"outcome":{"value":12345.678}}}`), &long); err != nil {
				t.Fatal(err)
			}
			s.begin(true)
			for i := range nodes {
				s.trial(i, true, 10, long)
				s.trial(i, false, 10, long)
			}
			long.Trial.Outcome, long.Trial.Reason = nil, strings.Repeat("ü", 200)
			s.trial(0, false, 10, long)
			if len(s.table()) > screenRows+1 {
				t.Errorf("%d nodes: %d rows", nodes, len(s.table()))
			}
			s.end()
			if strings.Contains(out.String(), "\x1b") != live {
				t.Errorf("live %t: %q", live, out.String())
			}
			for _, line := range strings.Split(out.String(), "\n") {
				if _, line, _ = strings.Cut(line, "\x1b[2K"); len([]rune(line)) > screenWidth {
					t.Errorf("%d characters: %s", len([]rune(line)), line)
				}
			}
		}
	}
	summary := nodeSummary{Evaluations: 10, BytesSent: 1e6, curve: []float64{1, .5}, Best: &nodeTrial{Outcome: &strategy.Outcome{Value: 0.5}}}
	var all []nodeSummary
	for range 32 {
		all = append(all, summary)
	}
	var out strings.Builder
	newReport(clitest.MixedTask(t), 1, 100*time.Second, all, all).write(&out)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines)+screenRows+1+1+1 > 24 {
		t.Errorf("%d lines:\n%s", len(lines), out.String())
	}
	for _, line := range lines {
		if len([]rune(line)) > 80 {
			t.Errorf("%d characters: %s", len([]rune(line)), line)
		}
	}
}

func TestSeedsReport(t *testing.T) {
	var all SeedsReport
	nodes := make([]reportNode, 4)
	for i, c := range []curves{{[]float64{4, 2}, []float64{4, 3}}, {[]float64{4, 3}, []float64{4, 2}}, {[]float64{3, 2}, []float64{4, 3}}} {
		all.add(Report{Seed: uint64(i), Nodes: nodes, Curves: c, EvaluationsToAlone: c.reached(), NodesBetter: float64(i) + 0.5})
	}
	// After 2, never (2) and 1 of two evaluations; 0.5, 1.5 and 2.5 of four nodes.
	if all.EvaluationsToAlone != 5.0/3 || all.BudgetFraction != 5.0/6 || all.Never != 1 || all.NodesBetter != 4.5/12 {
		t.Errorf("%+v", all)
	}
	for _, want := range []string{"after 1.7 evaluations, 83 % of the budget", "never, in 1 of 3 seeds", "better mean in 2.", "38 % of the nodes"} {
		if !strings.Contains(all.text(), want) {
			t.Errorf("%q is missing in\n%s", want, all.text())
		}
	}
}

// TestWarningEscapesControlCharacters shows a warning whose text comes from peers.
func TestWarningEscapesControlCharacters(t *testing.T) {
	t.Parallel()
	const sent, want = "\x1b[2J\u202egone", `\x1b[2J\u202egone`
	var out strings.Builder
	newScreen(&out, false, 1).warning(0, sent)
	if text := out.String(); !strings.Contains(text, want) || strings.Contains(text, sent) {
		t.Errorf("a warning of demo: %q, want %s in it", text, want)
	}
}
