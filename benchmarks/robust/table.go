package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fbo-node/fbo/benchmarks/internal/quartile"
	"github.com/fbo-node/fbo/benchmarks/internal/uniform"
	"github.com/fbo-node/fbo/internal/random"
)

// Regrets, in standard deviations of the objective over its space, below which regrets
// count as this.
const (
	smallest  = 1e-6 // in differences of logarithms
	supported = 1e-5 // in ratios of the recommended to the best observed design
)

// table prints results: a line for each measure of each row.
type table struct {
	config config
	all    *results
	build  string
}

// measure is what a line of the table is about.
type measure struct {
	name   string
	of     func(t table, r row, run result) (value float64, ok bool)
	target func(by map[string][]float64) (met, known bool) // nil: there is none
}

// measures returns those of a row.
func measures(r row) []measure {
	regret := measure{name: "regret", of: regretOf}
	recommended := measure{name: "recommended", of: recommendedOf}
	ratio := measure{"recommended / best observed", ratioOf, within(1.2, 3)}
	switch group, _, _ := strings.Cut(r.name, "/"); group {
	case flat:
		return []measure{{"first hit", firstHit, notLater}}
	case huge:
		if r.clean == "" {
			return []measure{regret, ratio}
		}
		return []measure{regret, {"|Δ log10 regret|", changeOf, within(1, math.Inf(1))}, ratio}
	case outliers:
		return []measure{regret, ratio}
	case failure:
		return []measure{
			{"failed", func(_ table, _ row, run result) (float64, bool) { return float64(run.Failed), true }, notAbove(tpeName, 0.5, 1)},
			{"given up", givenUp, within(0, 0)},
			{"attempts of the node", attempts, nil},
			regret,
		}
	case penalty:
		regret.target = notAbove(tpeName, 0.75, 1)
		return []measure{regret}
	case noisy:
		regret.target, recommended.target = notAbove(tpeName, 0.75, 1), notAbove(tpeName, 0.75, 1)
		return []measure{regret, recommended}
	case objective:
		regret.target = notAbove(tpeName, 0.5, 1)
		if !r.gp {
			return []measure{regret}
		}
		return []measure{regret, {"regret, to gp's", regretOf, notAbove(gpName, 0.5, 2)}}
	default:
		return []measure{regret}
	}
}

func firstHit(_ table, r row, run result) (float64, bool) {
	if run.FirstHit == 0 {
		return float64(r.evals + 1), true
	}
	return float64(run.FirstHit), true
}

// regretOf counts a run without any outcome as infinite.
func regretOf(_ table, _ row, run result) (float64, bool) {
	if run.Regret == nil {
		return math.Inf(1), true
	}
	return *run.Regret, true
}

func recommendedOf(_ table, _ row, run result) (float64, bool) {
	if run.Recommended == nil {
		return 0, false
	}
	return *run.Recommended, true
}

func ratioOf(_ table, r row, run result) (float64, bool) {
	if run.Recommended == nil || run.Regret == nil {
		return 0, false
	}
	floor := supported * r.deviation()
	return max(*run.Recommended, floor) / max(*run.Regret, floor), true
}

// changeOf compares with the run of the same seed without outliers.
func changeOf(t table, r row, run result) (float64, bool) {
	j := run.job
	j.Row = r.clean
	clean, ok := t.all.get(j)
	if !ok || run.Regret == nil || clean.Regret == nil {
		return 0, false
	}
	floor := smallest * r.deviation()
	return math.Abs(math.Log10(max(*run.Regret, floor) / max(*clean.Regret, floor))), true
}

func givenUp(_ table, _ row, run result) (float64, bool) {
	if run.Node == nil {
		return 0, false
	}
	if run.Node.GaveUp != "" {
		return 1, true
	}
	return 0, true
}

func attempts(_ table, _ row, run result) (float64, bool) {
	if run.Node == nil {
		return 0, false
	}
	return float64(run.Node.Attempts), true
}

// deviation is the standard deviation of the objective at uniform designs.
func (r row) deviation() float64 {
	const designs = 1 << 12
	rng := random.SeedOf(1).Stream("deviation", 0)
	mean, sum := 0.0, 0.0
	for i := range designs {
		value := r.value(r.coordinates(uniform.Design(r.space, rng)))
		off := value - mean
		mean += off / float64(i+1)
		sum += off * (value - mean)
	}
	return math.Sqrt(sum / designs)
}

// within is met if the median and the largest value of fbo are at most these limits.
func within(median, largest float64) func(by map[string][]float64) (met, known bool) {
	return func(by map[string][]float64) (met, known bool) {
		own := by[fboName]
		return len(own) > 0 && quartile.Of(own)[1] <= median && slices.Max(own) <= largest, len(own) > 0
	}
}

// notAbove is met if the median of fbo is at most factor times a quantile of another method.
func notAbove(method string, quantile, factor float64) func(by map[string][]float64) (met, known bool) {
	return func(by map[string][]float64) (met, known bool) {
		own, other := by[fboName], slices.Sorted(slices.Values(by[method]))
		if len(own) == 0 || len(other) == 0 {
			return false, false
		}
		return quartile.Of(own)[1] <= factor*quartile.Quantile(other, quantile), true
	}
}

// notLater is met if at least 80% of fbo's runs hit no later than the median of random.
func notLater(by map[string][]float64) (met, known bool) {
	own, other := by[fboName], by[randomName]
	if len(own) == 0 || len(other) == 0 {
		return false, false
	}
	median, count := quartile.Of(other)[1], 0
	for _, hit := range own {
		if hit <= median {
			count++
		}
	}
	return 10*count >= 8*len(own), true
}

// values returns a measure of all runs of a row, by method.
func (t table) values(r row, m measure) map[string][]float64 {
	by := map[string][]float64{}
	for _, method := range t.config.methods {
		for seed := range t.config.seeds {
			run, ok := t.all.get(job{r.name, method, uint64(t.config.first + seed), t.build})
			if !ok {
				continue
			}
			if value, ok := m.of(t, r, run); ok {
				by[method] = append(by[method], value)
			}
		}
	}
	return by
}

func (t table) print(w io.Writer) error {
	fmt.Fprintf(w, "Median [quartiles] of %d seeds from %d. A target that is met has a +, one that is missed a -.\n", t.config.seeds, t.config.first)
	fmt.Fprintf(w, "Command: %s\n\n", t.config.command)
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "row\tmeasure\t%s\t\n", strings.Join(t.config.methods, "\t"))
	met, known := map[string]int{}, map[string]int{}
	for _, r := range t.config.rows {
		group, _, _ := strings.Cut(r.name, "/")
		for _, m := range measures(r) {
			by, mark := t.values(r, m), ""
			if m.target != nil {
				if reached, ok := m.target(by); ok {
					mark = "-"
					known[group+", "+m.name]++
					if reached {
						mark = "+"
						met[group+", "+m.name]++
					}
				}
			}
			fmt.Fprintf(out, "%s\t%s\t", r.name, m.name)
			for _, method := range t.config.methods {
				fmt.Fprintf(out, "%s\t", t.cell(r, m, method, by[method]))
			}
			fmt.Fprintln(out, mark)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, about := range sortedKeys(known) {
		fmt.Fprintf(w, "%s: target met in %d of %d\n", about, met[about], known[about])
	}
	return nil
}

func sortedKeys(counts map[string]int) []string {
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (t table) cell(r row, m measure, method string, values []float64) string {
	if t.config.notRun[method] != nil {
		return "not run"
	}
	if len(values) == 0 {
		return ""
	}
	if m.name == "given up" {
		count := 0.0
		for _, v := range values {
			count += v
		}
		return fmt.Sprintf("%g of %d", count, len(values))
	}
	q := quartile.Of(values)
	text := fmt.Sprintf("%.3g [%.3g, %.3g]", q[1], q[0], q[2])
	switch {
	case m.name == "first hit":
		missed := 0
		for _, hit := range values {
			if hit > float64(r.evals) {
				missed++
			}
		}
		if missed > 0 {
			text += fmt.Sprintf(" %d never", missed)
		}
	case strings.HasPrefix(m.name, "recommended /"):
		text += fmt.Sprintf(" at most %.3g", slices.Max(values))
	}
	return text
}
