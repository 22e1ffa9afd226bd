package experiment

import (
	"fmt"
	"io"
	"math"
)

// writeFairness writes a separate table of fairness, if the report has it.
func (r Report) writeFairness(w io.Writer) {
	if r.Strategies[0].Fairness == nil {
		return
	}
	fmt.Fprintln(w, "\nfairness\t\tregret per party\tunfairness\tfair regret\tbetter off\tdominated\tworst\tmedian")
	for _, s := range r.Strategies {
		f := s.Fairness
		fmt.Fprintf(w, "%s\tmean ± se\t%s\t%s\t%s\t%s\n", s.marked(),
			f.RegretPerParty.meanText(), f.Unfairness.meanText(), f.FairRegret.meanText(), f.rationalityText())
		if s.Strategy != r.Reference {
			fmt.Fprintf(w, "\tdifference\t%s\t%s\t%s\t\t\t\t\n",
				f.RegretPerParty.differenceText(), f.Unfairness.differenceText(), f.FairRegret.differenceText())
		}
		if a := f.Alone; a != nil {
			fmt.Fprintf(w, "\tbeats all alone\t\t\t\t%s [%s, %s]\t\t\t\n", share(a.Lower), share(a.LowerLow), share(a.LowerHigh))
		}
		if o := f.Observed; o != nil {
			fmt.Fprintf(w, "\tobserved\t\t\t%s\t\t\t\t\n", o.text())
		}
		if u := f.Understated; u != nil {
			for _, who := range []struct {
				name string
				Estimate
			}{{"agent 0", u.Agent}, {"others", u.Others}} {
				fmt.Fprintf(w, "\t%s\t%s\t\t\t\t\t\t\n", who.name, who.meanText())
				if u.Honest != "" {
					fmt.Fprintf(w, "\t%s − honest\t%s\t\t\t\t\t\t\n", who.name, who.differenceText())
				}
			}
			fmt.Fprintf(w, "\tdetected\t%s\t\t\t\t\t\t\n", share(u.Detected))
		}
	}
}

func (r Report) explainFairness(w io.Writer) {
	if r.Strategies[0].Fairness == nil {
		return
	}
	fmt.Fprintf(w, `regret per party: R_T/n, the sum of an agent's regrets, starting designs included. unfairness: mean over t of U_t/n - g_t;
fair regret: S_T; weights of both %g^(i-1), with sum 1. better off: agents whose simple regret is lower than %s's at the
largest sum of regrets that both have reached, with Wilson's bounds over federations; equal ones in brackets. dominated:
evaluations after which it is no larger than %s's for no larger a sum, agent by agent; worst and median: of the curves of
the worst and the median agent. difference: from %s, federation by federation; − honest: from the same strategy
without understate. beats all alone: agents whose simple regret in the end is lower than by each strategy here that uses
no peers. detected: federations in which agents warned of each other. observed: S'_T, of the reported values and with
the strategy's own weights; in brackets its bound where the hyperparameters are fixed (Theorem 1, with the information of what was
observed).
`, judgeRho, r.Reference, r.Reference, r.Reference)
}

func (e Estimate) meanText() string {
	if math.IsNaN(float64(e.SE)) {
		return short(e.Mean)
	}
	return short(e.Mean) + " ± " + short(e.SE)
}

func (e Estimate) differenceText() string { return ratioText(e.Difference, e.Low, e.High) }

func (o *ObservedRegret) text() string {
	if math.IsNaN(float64(o.Bound)) {
		return o.Regret.meanText()
	}
	return fmt.Sprintf("%s [≤ %s]", o.Regret.meanText(), short(o.Bound))
}

// rationalityText returns four cells, separated by tabs.
func (f *Fairness) rationalityText() string {
	r := f.Rationality
	if r == nil {
		return "\t\t\t"
	}
	return fmt.Sprintf("%s [%s, %s] (%s)\t%s\t%s\t%s", share(r.Lower), share(r.LowerLow), share(r.LowerHigh), share(r.Equal),
		share(r.DominatedShare), share(f.Worst.DominatedShare), share(f.Median.DominatedShare))
}
