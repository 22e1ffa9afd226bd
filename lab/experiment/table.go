package experiment

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteTable writes the report as text tables for people.
func (r Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	r.writeCaption(&b)
	out := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	r.writeRegrets(out)
	r.writeComparisons(out)
	r.writeFairness(out)
	r.writeOneDesign(out)
	if err := out.Flush(); err != nil {
		return err
	}
	r.writePeerEffects(&b)
	r.writeCost(&b)
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

func (r Report) writeCaption(w io.Writer) {
	evaluations := strconv.Itoa(r.Evaluations)
	if least := r.Network.MinEvaluations; least < r.Evaluations {
		evaluations = fmt.Sprintf("%d to %d", least, r.Evaluations)
	}
	fmt.Fprintf(w, "Family %s, %s: %d agents, %s evaluations each, %d repeats, seed %d.\n",
		r.Family, r.Goal, r.Agents, evaluations, r.Repeats, r.Seed)
	from := ""
	if r.Dealt {
		from = " of one Latin hypercube"
	}
	fmt.Fprintf(w, "Surrogate %s, %d starting designs%s; %s.\n", r.Surrogate, r.Initial, from, r.Network.text())
	who := "all agents count"
	if float64(r.Counting) != float64(r.Agents) {
		who = fmt.Sprintf("%s of %d agents count", short(r.Counting), r.Agents)
	}
	if r.Network.MinEvaluations < r.Evaluations {
		who += ", after their budget with their last value"
	}
	r.writeMeasure(w, who)
	r.writeControl(w)
}

// writeControl describes the control if it is not a single strategy.
func (r Report) writeControl(w io.Writer) {
	if r.Controls == nil {
		return
	}
	fmt.Fprintf(w, "Control %s: at each t whichever of %s has the lower geometric mean", r.Control, soloNames())
	if len(r.Added) > 0 {
		fmt.Fprintf(w, "; added for it: %s", strings.Join(r.Added, ", "))
	}
	fmt.Fprintln(w, ".")
}

// writeMeasure describes how regrets are measured.
func (r Report) writeMeasure(w io.Writer, who string) {
	best := "the best design so far"
	if len(r.Constraints) > 0 {
		fmt.Fprintf(w, "Constraints: %s.\n", strings.Join(r.Constraints, ", "))
		best = "the design that an agent would report as its best"
	}
	if r.Infeasible {
		fmt.Fprintf(w, "No design keeps them. In place of regrets stands the least violation so far, noise-free; %s.\n", who)
		return
	}
	if len(r.Objectives) > 0 {
		fmt.Fprintf(w, "Objectives: %s. In place of regrets stands the part of the largest hypervolume, %s, that the designs so far lack, noise-free; %s.\n",
			strings.Join(r.Objectives, ", "), short(r.Deviation), who)
		return
	}
	fmt.Fprintf(w, "Simple regret: noise-free, of %s; %s; an objective's standard deviation is %s.\n", best, who, short(r.Deviation))
}

func (n Network) text() string {
	who := "all agents are connected"
	if n.Degree > 0 {
		who = fmt.Sprintf("each agent receives from %d others", n.Degree)
	}
	delay := seconds(n.DelaySeconds).String()
	if n.JitterSeconds > 0 {
		delay += " to " + seconds(n.DelaySeconds+n.JitterSeconds).String()
	}
	text := fmt.Sprintf("%s, delay %s, loss %s", who, delay, percent(n.Loss))
	if within := seconds(n.JoinWithinSeconds); within != EvaluationTime {
		text += fmt.Sprintf(", all join within %s", within)
	}
	if n.MaxSlowdown != 1 {
		text += fmt.Sprintf(", agents up to %g times as slow as others", n.MaxSlowdown)
	}
	if n.Straggler != 1 {
		text += fmt.Sprintf(", the last agent %g times as slow", n.Straggler)
	}
	if n.Parallel > 1 {
		text += fmt.Sprintf(", each evaluates %d designs at a time", n.Parallel)
		if n.Asynchronous {
			text += ", asynchronously"
		}
	}
	if n.Churn != 0 {
		text += fmt.Sprintf(", each away %s of the time", percent(n.Churn))
	}
	for _, cut := range n.Partitions {
		parts := "halves"
		if cut.Parts != 2 {
			parts = strconv.Itoa(cut.Parts) + " parts"
		}
		text += fmt.Sprintf(", cut in %s from %s to %s", parts, seconds(cut.FromSeconds), seconds(cut.UntilSeconds))
	}
	return text
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

func percent(p float64) string { return strconv.FormatFloat(100*p, 'g', 4, 64) + " %" }

func (r Report) writeRegrets(w io.Writer) {
	fmt.Fprint(w, "\nstrategy\tregret")
	for _, t := range r.Checkpoints {
		fmt.Fprintf(w, "\tt = %d", t)
	}
	fmt.Fprint(w, "\thit\tpeer-informed\tbytes\tcore-s")
	if r.Strategies[0].Feasibility != nil {
		fmt.Fprintf(w, "\tfirst feasible\tof %s's", cmp.Or(r.FirstControl, r.Control))
	}
	fmt.Fprintln(w)
	for _, s := range r.Strategies {
		simple := func(cell func(Series, int) string) []string { return r.cells(s.Simple, cell) }
		r.row(w, s.marked(), "mean ± se", simple(meanAndError), append([]string{
			hitText(s.Hit, s.HitHigh), short(s.PeerInformedTrials), short(s.BytesPerAgent), short(s.CoreSeconds),
		}, s.Feasibility.firstTexts()...)...)
		r.row(w, "", "median", simple(func(x Series, k int) string { return short(x.Median[k]) }))
		r.row(w, "", "agents' quartiles", simple(memberQuartiles))
		var recommended []string
		for k := range r.Checkpoints {
			recommended = append(recommended, meanAndError(s.Recommended, k))
		}
		r.row(w, "", "recommended", recommended)
		r.row(w, "", "gap", r.cells(s.Gap, meanAndError))
		if f := s.Feasibility; f != nil {
			r.row(w, "", "nothing feasible", r.each(func(_, t int) string {
				return share(f.NoFeasibleDesign[t-1]) + " (" + share(f.InfeasibleReported[t-1]) + ")"
			}))
			r.row(w, "", "recommended infeasible", r.each(func(k, _ int) string { return share(f.Recommended[k]) }))
		}
	}
}

// foreignMark follows the names in rows that include runs of other builds.
const foreignMark = "*"

func (s StrategyReport) marked() string { return marked(s.Strategy, s.OtherBuilds > 0) }

func marked(name string, foreign bool) string {
	if foreign {
		name += " " + foreignMark
	}
	return name
}

// firstTexts returns the columns about first feasible designs; none without constraints.
func (f *Feasibility) firstTexts() []string {
	if f == nil {
		return nil
	}
	times := make([]string, len(f.First))
	for i, t := range f.First {
		times[i] = short(t)
		if math.IsNaN(float64(t)) {
			times[i] = "never"
		}
	}
	ratio := ""
	if !math.IsNaN(float64(f.FirstRatio)) {
		ratio = ratioText(f.FirstRatio, f.FirstLow, f.FirstHigh)
	}
	return []string{strings.Join(times, ", "), ratio}
}

func ratioText(ratio, low, high Number) string {
	return fmt.Sprintf("%s [%s, %s]", short(ratio), short(low), short(high))
}

// each returns one cell for every checkpoint; cell gets the checkpoint's index and its evaluations.
func (r Report) each(cell func(k, t int) string) []string {
	var all []string
	for k, t := range r.Checkpoints {
		all = append(all, cell(k, t))
	}
	return all
}

// cells returns one cell of a series for every checkpoint.
func (r Report) cells(s Series, cell func(Series, int) string) []string {
	var all []string
	for _, t := range r.Checkpoints {
		all = append(all, cell(s, t-1))
	}
	return all
}

// row writes a row of the first table, with all columns, so that rows are aligned.
func (r Report) row(w io.Writer, name, what string, cells []string, more ...string) {
	last := make([]string, 4)
	if r.Strategies[0].Feasibility != nil {
		last = make([]string, 6)
	}
	copy(last, more)
	fmt.Fprintf(w, "%s\t%s\t%s\n", name, what, strings.Join(append(cells, last...), "\t"))
}

func meanAndError(s Series, k int) string {
	if math.IsNaN(float64(s.SE[k])) {
		return short(s.Mean[k])
	}
	return short(s.Mean[k]) + " ± " + short(s.SE[k])
}

func memberQuartiles(s Series, k int) string {
	return short(s.AgentQ1[k]) + ", " + short(s.AgentMedian[k]) + ", " + short(s.AgentQ3[k])
}

func hitText(hit, high *int) string {
	switch {
	case hit == nil:
		return "never"
	case high == nil:
		return strconv.Itoa(*hit)
	}
	return fmt.Sprintf("%d [≤ %d]", *hit, *high)
}

func (r Report) writeComparisons(w io.Writer) {
	if len(r.Strategies) < 2 {
		return
	}
	fmt.Fprintf(w, "\ncompared with %s\t", r.Control)
	for _, t := range r.Checkpoints {
		fmt.Fprintf(w, "\tt = %d", t)
	}
	fmt.Fprintln(w)
	if r.Controls != nil {
		r.row(w, "", "which", r.Controls)
	}
	for _, s := range r.Strategies {
		if s.Compared == nil {
			continue
		}
		var ratios, diffs, gaps []string
		closed := false
		for _, c := range s.Compared {
			ratios = append(ratios, ratioText(c.Ratio, c.RatioLow, c.RatioHigh))
			diffs = append(diffs, fmt.Sprintf("%s [≤ %s]", short(c.Difference), short(c.Upper)))
			gaps = append(gaps, share(c.GapClosed))
			closed = closed || !math.IsNaN(float64(c.GapClosed))
		}
		r.row(w, marked(s.Strategy, s.Compared[0].OtherBuilds), "ratio", ratios)
		r.row(w, "", "difference", diffs)
		if closed {
			r.row(w, "", "gap closed", gaps)
		}
	}
}

func share(n Number) string {
	if math.IsNaN(float64(n)) {
		return "-"
	}
	return strconv.FormatFloat(100*float64(n), 'f', 0, 64) + " %"
}

func (r Report) writeCost(w io.Writer) {
	floor := short(r.RatioFloor)
	if least, most := short(r.RatioFloors[0]), short(r.RatioFloors[1]); least != most {
		floor = fmt.Sprintf("%s to %s, by the objective,", least, most)
	}
	fmt.Fprintf(w, `
mean ± se, median: of the %ss' mean regrets. agents' quartiles: of all agents that count. recommended: of the
design that the model takes for best. gap: the part, 0 to 1, of an agent's regret at t = %d that has been made good. hit:
evaluations until the mean is what %s's is at t = %d, with a bound if there is one. peer-informed: designs that
used shares of peers, per agent that counts. bytes: sent per agent. ratio: geometric mean over %ss, regrets below %s
counting as that.
Bounds are one-sided, %s each, and not corrected for being many.
`, r.Unit, r.Initial, r.Reference, r.Evaluations, r.Unit, floor, percent(float64(r.Confidence)))
	if r.Unit == memberUnit {
		fmt.Fprintf(w, `Standard errors and bounds are over %d members, not over repeats: of each member counts the mean over its federations, in
ratios that of the logarithm of its own ratio. They hold for other members like these.
`, r.Units)
	}
	if r.Strategies[0].Feasibility != nil {
		over := "federations of means"
		if r.Unit == memberUnit {
			over = "members"
		}
		fmt.Fprintf(w, `nothing feasible: agents that report no feasible design, whose regret is the objective's range; in brackets the part of all
that reports an infeasible one, for noise. first feasible: evaluations until an agent had evaluated a design that is
feasible without noise, quartiles; beside it the ratio to the control's, a geometric mean over %s.
`, over)
	}
	r.explainFairness(w)
	r.explainOneDesign(w)
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	fmt.Fprintf(w, "\nCost: %s core-minutes, %s of them to make the federations", short(r.CoreSeconds/60), short(r.DrawingCoreSeconds/60))
	if r.Memory > 0 {
		fmt.Fprintf(w, "; at most %s MB of memory", short(Number(r.Memory)/1e6))
	}
	fmt.Fprintf(w, ". Command:\n  %s\n", r.Command)
}

// short formats a number with three significant digits, and whole numbers of 1000 or more in full.
func short(n Number) string {
	v := float64(n)
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case size >= 1000 && size < 1e15:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size != 0 && size < 1e-3:
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
