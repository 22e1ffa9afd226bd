package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fbo-node/fbo/benchmarks/internal/quartile"
)

// checkpoints are the numbers of evaluations that a table shows.
func (c config) checkpoints() []int {
	var shown []int
	for _, n := range []int{25, 50, 100, 200, 500, 1000} {
		if n <= c.evals {
			shown = append(shown, n)
		}
	}
	if len(shown) == 0 {
		shown = []int{c.evals}
	}
	return shown
}

// printTable prints what the file holds of what the command line asks for. Only
// seeds that all methods have count, so that methods are compared in pairs.
func printTable(w io.Writer, c config, all results, left int, build string) error {
	fmt.Fprintf(w, "Simple regret after n evaluations, median [quartiles] over seeds; optimum shifted at random by seed; median core-seconds per run and core-milliseconds per evaluation.\n")
	fmt.Fprintf(w, "Command: %s\n", c.command)
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	ranks, ratios := newRanking(c), summary{config: c}
	versions := map[string]bool{}
	spent, strangers, warned := 0.0, 0, 0
	for _, function := range c.functions {
		rows, seeds := c.rows(all, function)
		fmt.Fprintf(out, "\n%s (%d seeds)\t", function, seeds)
		for _, n := range c.checkpoints() {
			fmt.Fprintf(out, "n = %d\t", n)
		}
		fmt.Fprintln(out, "core-s\tcore-ms each")
		if seeds == 0 {
			continue
		}
		for i, method := range c.methods {
			fmt.Fprintf(out, "%s\t", method)
			for _, n := range c.checkpoints() {
				q := quartile.Of(regretsAfter(rows[i], n))
				fmt.Fprintf(out, "%.3g [%.3g, %.3g]\t", q[1], q[0], q[2])
			}
			var costs, each []float64
			for _, r := range rows[i] {
				costs, each = append(costs, r.Seconds), append(each, 1000*r.Seconds/float64(r.Evals))
				spent += r.Seconds
				warned += min(len(r.Warnings), 1)
				if r.Build != build {
					strangers++
				}
				for name, version := range r.Versions {
					versions[name+" "+version] = true
				}
			}
			fmt.Fprintf(out, "%.3g\t%.3g\n", quartile.Of(costs)[1], quartile.Of(each)[1])
		}
		ranks.add(rows)
		p, err := problemNamed(function)
		if err != nil {
			return err
		}
		ratios.add(p, rows)
	}
	ranks.print(out)
	ratios.print(out)
	if err := out.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nThis table cost %.1f core-minutes.\n", spent/60)
	if len(versions) > 0 {
		fmt.Fprintf(w, "In Python: %s.\n", strings.Join(slices.Sorted(maps.Keys(versions)), ", "))
	}
	if left > 0 {
		fmt.Fprintf(w, "%d runs are missing: run the same command again, it goes on where it stopped.\n", left)
	}
	if strangers > 0 {
		fmt.Fprintf(w, "%d runs were made by another build of this program: for figures of one state of the code use a new file.\n", strangers)
	}
	if warned > 0 {
		fmt.Fprintf(w, "%d runs have warnings; see the field warnings in %s.\n", warned, c.out)
	}
	return nil
}

// rows returns each method's results over the seeds that all methods have.
func (c config) rows(all results, function string) (rows [][]result, seeds int) {
	rows = make([][]result, len(c.methods))
	for i := range c.seeds {
		seed := uint64(c.first + i)
		complete := true
		for _, method := range c.methods {
			complete = complete && all.has(job{function, method, seed, c.evals})
		}
		if !complete {
			continue
		}
		seeds++
		for m, method := range c.methods {
			r, _ := all.Get(job{Function: function, Method: method, Seed: seed})
			rows[m] = append(rows[m], r)
		}
	}
	return rows, seeds
}

func regretsAfter(rows []result, n int) []float64 {
	regrets := make([]float64, len(rows))
	for i, r := range rows {
		regrets[i] = r.Regret[n-1]
	}
	return regrets
}

// ranking averages the ranks of the methods (1 is best, equals share) over all
// functions and seeds: a summary that no function's scale dominates.
type ranking struct {
	config config
	sums   [][]float64 // by method and checkpoint
	runs   int
}

func newRanking(c config) *ranking {
	r := &ranking{config: c, sums: make([][]float64, len(c.methods))}
	for i := range r.sums {
		r.sums[i] = make([]float64, len(c.checkpoints()))
	}
	return r
}

func (r *ranking) add(rows [][]result) {
	for s := range rows[0] {
		for k, n := range r.config.checkpoints() {
			for i := range rows {
				rank := 1.0
				for other := range rows {
					switch mine, theirs := rows[i][s].Regret[n-1], rows[other][s].Regret[n-1]; {
					case theirs < mine:
						rank++
					case theirs == mine && other != i:
						rank += 0.5
					}
				}
				r.sums[i][k] += rank
			}
		}
		r.runs++
	}
}

func (r *ranking) print(out io.Writer) {
	if r.runs == 0 {
		return
	}
	fmt.Fprintf(out, "\nmean rank of %d\t", len(r.sums))
	for _, n := range r.config.checkpoints() {
		fmt.Fprintf(out, "n = %d\t", n)
	}
	fmt.Fprintln(out)
	for i, method := range r.config.methods {
		fmt.Fprintf(out, "%s\t", method)
		for _, sum := range r.sums[i] {
			fmt.Fprintf(out, "%.2f\t", sum/float64(r.runs))
		}
		fmt.Fprintln(out)
	}
	// Under no difference at all a mean rank over this many independent runs
	// scatters by this standard error.
	m := float64(len(r.sums))
	fmt.Fprintf(out, "(standard error without any difference: %.2f)\n", math.Sqrt((m*m-1)/12/float64(r.runs)))
}
