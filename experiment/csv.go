package experiment

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
)

// WriteCSV writes a row per strategy and evaluation, behind a row of names. What
// has no meaning is empty.
func (r Report) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	header := []string{"family", "strategy", "evaluation"}
	for _, series := range []string{"simple_regret", "cumulative_regret", "gap"} {
		for _, statistic := range []string{"mean", "se", "median", "member_q1", "member_median", "member_q3"} {
			header = append(header, series+"_"+statistic)
		}
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for _, s := range r.Strategies {
		for k := range r.Evaluations {
			row := []string{r.Family, s.Strategy, strconv.Itoa(k + 1)}
			for _, x := range []Series{s.Simple, s.Cumulative, s.Gap} {
				for _, n := range []Number{x.Mean[k], x.SE[k], x.Median[k], x.MemberQ1[k], x.MemberMedian[k], x.MemberQ3[k]} {
					row = append(row, exact(n))
				}
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
