package experiment

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
)

// WriteCSV writes a header, and one row per strategy and evaluation. Cells without meaning are
// empty. If the report has Fairness, the rows include its curves of the worst and the median agent.
// With constraints, they include the shares of agents that report no feasible design.
func (r Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	header := []string{"family", "strategy", "evaluation"}
	for _, series := range []string{"simple_regret", "cumulative_regret", "gap"} {
		for _, statistic := range []string{"mean", "se", "median", "agent_q1", "agent_median", "agent_q3"} {
			header = append(header, series+"_"+statistic)
		}
	}
	judged := r.Strategies[0].Fairness != nil
	if judged {
		header = append(header, "worst_cumulative_regret", "worst_simple_regret", "median_cumulative_regret", "median_simple_regret")
	}
	constrained := r.Strategies[0].Feasibility != nil
	if constrained {
		header = append(header, "no_feasible_design", "infeasible_reported")
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for _, s := range r.Strategies {
		for k := range r.Evaluations {
			row := []string{r.Family, s.Strategy, strconv.Itoa(k + 1)}
			for _, x := range []Series{s.Simple, s.Cumulative, s.Gap} {
				for _, n := range []Number{x.Mean[k], x.SE[k], x.Median[k], x.AgentQ1[k], x.AgentMedian[k], x.AgentQ3[k]} {
					row = append(row, exact(n))
				}
			}
			if judged {
				for _, f := range []Frontier{s.Fairness.Worst, s.Fairness.Median} {
					row = append(row, exact(f.Cumulative[k]), exact(f.Simple[k]))
				}
			}
			if constrained {
				row = append(row, exact(s.Feasibility.NoFeasibleDesign[k]), exact(s.Feasibility.InfeasibleReported[k]))
			}
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func exact(n Number) string {
	if math.IsNaN(float64(n)) {
		return ""
	}
	return strconv.FormatFloat(float64(n), 'g', -1, 64)
}
