package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

const confidence = 0.95 // of each bound, one-sided

// summary is what several reports say together.
type summary struct {
	reports []report
	lines   []line // the best first
}

// line is one strategy's part, over the reports that have it.
type line struct {
	strategy string
	reports  int
	means    []estimate // per checkpoint
}

// estimate is the mean of logarithms of ratios.
type estimate struct {
	mean   float64
	margin float64 // of a bound to either side; NaN for a single report
}

func (e estimate) ratio() float64 { return math.Exp(e.mean) }

func (e estimate) bounds() (low, high float64) {
	return math.Exp(e.mean - e.margin), math.Exp(e.mean + e.margin)
}

func estimateOf(logs []float64) estimate {
	if len(logs) < 2 {
		return estimate{logs[0], math.NaN()}
	}
	mean, deviation := stat.MeanStdDev(logs, nil)
	n := float64(len(logs))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(confidence)
	return estimate{mean, t * deviation / math.Sqrt(n)}
}

// summarize is for reports from load. Strategies are in the order of their mean over all
// checkpoints.
func summarize(reports []report) summary {
	all := summary{reports: reports}
	for _, r := range reports {
		for _, s := range r.Strategies {
			known := slices.ContainsFunc(all.lines, func(l line) bool { return l.strategy == s.Strategy })
			if !known && len(s.Compared) > 0 {
				all.lines = append(all.lines, lineOf(s.Strategy, reports))
			}
		}
	}
	slices.SortStableFunc(all.lines, func(a, b line) int { return cmp.Compare(a.overall(), b.overall()) })
	return all
}

func lineOf(strategy string, reports []report) line {
	l := line{strategy: strategy}
	logs := make([][]float64, len(reports[0].Checkpoints))
	for _, r := range reports {
		compared := r.compared(strategy)
		if compared == nil {
			continue
		}
		l.reports++
		for k, c := range compared {
			logs[k] = append(logs[k], math.Log(float64(c.Ratio)))
		}
	}
	for _, x := range logs {
		l.means = append(l.means, estimateOf(x))
	}
	return l
}

func (l line) overall() float64 {
	sum := 0.0
	for _, e := range l.means {
		sum += e.mean
	}
	return sum / float64(len(l.means))
}

// partly states in how many reports a line occurs; it is empty if all contain it.
func (s summary) partly(l line) string {
	if l.reports == len(s.reports) {
		return ""
	}
	return fmt.Sprintf(", %d of %d", l.reports, len(s.reports))
}

// some reports whether a strategy is missing in some report.
func (s summary) some() bool {
	return slices.ContainsFunc(s.lines, func(l line) bool { return s.partly(l) != "" })
}

// print writes both tables, the second for the checkpoint with this index.
func (s summary) print(out io.Writer, checkpoint int) {
	s.printMeans(out)
	s.printReports(out, checkpoint)
	s.printWarnings(out)
}

func (s summary) printMeans(out io.Writer) {
	first := s.reports[0]
	var names []string
	for _, r := range s.reports {
		names = append(names, r.name)
	}
	fmt.Fprintf(out, "Simple regret in ratio to that of `%s`, geometric mean over %s\n", first.Control, strings.Join(names, ", "))
	fmt.Fprintln(out, "[one-sided 95 % Student's bound to either side over these], in the order of the mean over all checkpoints:")
	fmt.Fprint(out, "\n| strategy |")
	for _, t := range first.Checkpoints {
		fmt.Fprintf(out, " at %d |", t)
	}
	fmt.Fprintln(out, "\n|---|"+strings.Repeat("---|", len(first.Checkpoints)))
	for _, l := range s.lines {
		fmt.Fprintf(out, "| `%s`%s |", l.strategy, s.partly(l))
		for _, e := range l.means {
			fmt.Fprintf(out, " %s |", e)
		}
		fmt.Fprintln(out)
	}
	if s.some() {
		fmt.Fprintf(out, "\nA strategy with “of %d” is not in all reports. Its means are over those that have it, and not to be set beside others'.\n", len(s.reports))
	}
}

func (e estimate) String() string {
	if math.IsNaN(e.margin) {
		return format(e.ratio())
	}
	low, high := e.bounds()
	return fmt.Sprintf("%s [%s, %s]", format(e.ratio()), format(low), format(high))
}

// format rounds a ratio to hundredths, or to two digits where that would leave fewer.
func format(ratio float64) string {
	if ratio < 0.1 || ratio >= 100 {
		return fmt.Sprintf("%.2g", ratio)
	}
	return fmt.Sprintf("%.2f", ratio)
}

func (s summary) printReports(out io.Writer, checkpoint int) {
	first := s.reports[0]
	fmt.Fprintf(out, "\nThe ratio of each after %d evaluations; bold where its own bound is below 1, italic where it is above:\n\n| |", first.Checkpoints[checkpoint])
	for _, l := range s.lines {
		fmt.Fprintf(out, " `%s` |", l.strategy)
	}
	fmt.Fprintln(out, "\n|---|"+strings.Repeat("---|", len(s.lines)))
	for _, r := range s.reports {
		fmt.Fprintf(out, "| %s |", r.name)
		for _, l := range s.lines {
			cell := "–"
			if compared := r.compared(l.strategy); compared != nil {
				c := compared[checkpoint]
				cell = format(float64(c.Ratio))
				switch {
				case c.RatioHigh < 1:
					cell = "**" + cell + "**"
				case c.RatioLow > 1:
					cell = "*" + cell + "*"
				}
			}
			fmt.Fprintf(out, " %s |", cell)
		}
		fmt.Fprintln(out)
	}
}

// printWarnings repeats what the reports warn of, and adds what only shows beside others.
func (s summary) printWarnings(out io.Writer) {
	first := s.reports[0]
	var warnings []string
	for _, r := range s.reports {
		for _, w := range r.Warnings {
			warnings = append(warnings, r.name+": "+w)
		}
		if r.ResultsVersion != first.ResultsVersion {
			warnings = append(warnings, fmt.Sprintf("%s is of results version %d, %s of %d", r.name, r.ResultsVersion, first.name, first.ResultsVersion))
		}
	}
	if len(warnings) == 0 {
		return
	}
	fmt.Fprintln(out)
	for _, w := range warnings {
		fmt.Fprintln(out, "- "+w)
	}
}
