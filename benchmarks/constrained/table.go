package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// confidence of every bound, each one-sided.
const confidence = 0.95

// checkpoints are the numbers of evaluations that a table shows.
func checkpoints(evals int) []int {
	var shown []int
	for _, n := range []int{15, 30, 60, 100} {
		if n < evals {
			shown = append(shown, n)
		}
	}
	return append(shown, evals)
}

// printTable prints what the file holds of what the command line asks for. Only draws
// that all methods have count, so that methods are compared in pairs.
func printTable(w io.Writer, c config, kept results) error {
	fmt.Fprintf(w, "Regret of the best feasible design after n evaluations, without noise: median; ratio to %s's, the geometric mean over draws\n", c.control)
	fmt.Fprintf(w, "with one-sided %g %% bounds, regrets below %g counting as that; share of draws with nothing feasible yet. Core-seconds per run, median.\n", 100*confidence, c.floor)
	fmt.Fprintf(w, "Command: %s\n", c.command)
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	versions := map[string]bool{}
	for _, spec := range c.families {
		rows, evals := c.rows(kept, spec)
		draws := len(rows[0])
		fmt.Fprintf(out, "\n%s (%d draws)\t", spec, draws)
		if draws == 0 {
			fmt.Fprintln(out)
			continue
		}
		for _, n := range checkpoints(evals) {
			fmt.Fprintf(out, "n = %d\t\t\t", n)
		}
		fmt.Fprintln(out, "core-s")
		control := rows[slices.Index(c.methods, c.control)]
		for i, method := range c.methods {
			fmt.Fprintf(out, "%s\t", method)
			for _, n := range checkpoints(evals) {
				mine, nothing := after(rows[i], n)
				theirs, _ := after(control, n)
				ratio := ""
				if method != c.control {
					ratio = ratioOf(mine, theirs, c.floor)
				}
				fmt.Fprintf(out, "%.3g\t%s\t%.0f %%\t", median(mine), ratio, 100*nothing)
			}
			var costs []float64
			for _, r := range rows[i] {
				costs = append(costs, r.Seconds)
				for name, version := range r.Versions {
					versions[name+" "+version] = true
				}
			}
			fmt.Fprintf(out, "%.3g\n", median(costs))
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nVersions: %s\n", strings.Join(slices.Sorted(maps.Keys(versions)), ", "))
	return err
}

// rows returns each method's results over the draws that all methods have, and how
// many evaluations all of these have.
func (c config) rows(kept results, spec string) (rows [][]result, evals int) {
	rows, evals = make([][]result, len(c.methods)), math.MaxInt
	for i := range c.draws {
		var row []result
		for _, method := range c.methods {
			if r, ok := kept.Get(job{Family: spec, Method: method, Draw: uint64(c.first + i)}); ok {
				row = append(row, r)
			}
		}
		if len(row) < len(c.methods) {
			continue
		}
		for m, r := range row {
			rows[m] = append(rows[m], r)
			evals = min(evals, r.Evals)
		}
	}
	return rows, evals
}

// after returns regrets after n evaluations, and the share of draws without one.
func after(rows []result, n int) (regrets []float64, nothing float64) {
	for _, r := range rows {
		regret := r.Range
		if known := r.Regret[n-1]; known != nil {
			regret = min(*known, r.Range)
		} else {
			nothing += 1 / float64(len(rows))
		}
		regrets = append(regrets, regret)
	}
	return regrets, nothing
}

func median(x []float64) float64 {
	return stat.Quantile(0.5, stat.LinInterp, slices.Sorted(slices.Values(x)), nil)
}

// ratioOf is the geometric mean of x/y with Student's bounds.
func ratioOf(x, y []float64, floor float64) string {
	logs := make([]float64, len(x))
	for i := range x {
		logs[i] = math.Log(max(x[i], floor) / max(y[i], floor))
	}
	m, sd := stat.MeanStdDev(logs, nil)
	if len(logs) < 2 {
		return fmt.Sprintf("%.3g", math.Exp(m))
	}
	n := float64(len(logs))
	margin := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(confidence) * sd / math.Sqrt(n)
	return fmt.Sprintf("%.3g [%.3g, %.3g]", math.Exp(m), math.Exp(m-margin), math.Exp(m+margin))
}
