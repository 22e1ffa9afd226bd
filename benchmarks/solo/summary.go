package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/fbo-node/fbo/benchmarks/internal/quartile"
	"github.com/fbo-node/fbo/benchmarks/internal/uniform"
	"github.com/fbo-node/fbo/internal/random"
)

const (
	// smallest is the smallest regret in ratios, in standard deviations of the objective.
	// Smaller regrets count as this, since further improvement has no practical value.
	smallest = 1e-3

	// minSeeds is the minimum for bounds: with fewer seeds, resamples hardly differ and bounds
	// are misleadingly narrow.
	minSeeds = 5

	resamples = 2000
)

// summary compares the methods' median regrets with those of one of them, over all
// functions.
type summary struct {
	config config
	parts  []part
}

// part has the results of one function.
type part struct {
	rows  [][]result // by method and seed
	floor float64    // smallest, in the function's unit
}

func (s *summary) add(p problem, rows [][]result) {
	if s.config.against != "" {
		s.parts = append(s.parts, part{rows, smallest * p.deviation()})
	}
}

// deviation returns the standard deviation of the function at 2^14 uniform designs, without
// noise. Its error of some percent is small enough for a floor.
func (p problem) deviation() float64 {
	const designs = 1 << 14
	rng := random.SeedOf(1).Stream("deviation", 0)
	mean, squares := 0.0, 0.0
	for i := range designs {
		value := p.function.At(uniform.Design(p.function.Space, rng))
		off := value - mean
		mean += off / float64(i+1)
		squares += off * (value - mean)
	}
	return math.Sqrt(squares / designs)
}

// logRatios returns, for each method, the mean over functions of the logarithm of its
// median regret divided by that of the reference method. pick returns the indices of the seeds
// to use, given their number; they are the same for all methods.
func (s *summary) logRatios(n int, pick func(seeds int) []int) []float64 {
	means := make([]float64, len(s.config.methods))
	reference := slices.Index(s.config.methods, s.config.against)
	for _, p := range s.parts {
		picked := pick(len(p.rows[0]))
		medians := make([]float64, len(means))
		for i, row := range p.rows {
			regrets := make([]float64, len(picked))
			for k, seed := range picked {
				regrets[k] = max(row[seed].Regret[n-1], p.floor)
			}
			slices.Sort(regrets)
			medians[i] = math.Log(quartile.Quantile(regrets, 0.5))
		}
		for i := range means {
			means[i] += (medians[i] - medians[reference]) / float64(len(s.parts))
		}
	}
	return means
}

// bounds returns, for each method, the 5 and 95 % quantiles of logRatios over resamples of
// the seeds of each function with replacement (Efron's percentile bootstrap).
func (s *summary) bounds(n int) [][2]float64 {
	rng := random.SeedOf(1).Stream("bootstrap", uint64(n))
	drawn := make([][]float64, len(s.config.methods))
	for range resamples {
		for i, ratio := range s.logRatios(n, func(seeds int) []int {
			picked := make([]int, seeds)
			for k := range picked {
				picked[k] = rng.IntN(seeds)
			}
			return picked
		}) {
			drawn[i] = append(drawn[i], ratio)
		}
	}
	bounds := make([][2]float64, len(drawn))
	for i, ratios := range drawn {
		slices.Sort(ratios)
		bounds[i] = [2]float64{quartile.Quantile(ratios, 0.05), quartile.Quantile(ratios, 0.95)}
	}
	return bounds
}

// everySeed returns each seed once.
func everySeed(seeds int) []int {
	all := make([]int, seeds)
	for i := range all {
		all[i] = i
	}
	return all
}

// bounded reports whether each function has at least minSeeds seeds.
func (s *summary) bounded() bool {
	return !slices.ContainsFunc(s.parts, func(p part) bool { return len(p.rows[0]) < minSeeds })
}

func (s *summary) print(out io.Writer) {
	if len(s.parts) == 0 {
		return
	}
	fmt.Fprintf(out, "\nMedian regret in ratio to that of %s, geometric mean over %d functions:\n\t", s.config.against, len(s.parts))
	cells := make([]string, len(s.config.methods))
	for _, n := range s.config.checkpoints() {
		fmt.Fprintf(out, "n = %d\t", n)
		ratios := s.logRatios(n, everySeed)
		var bounds [][2]float64
		if s.bounded() {
			bounds = s.bounds(n)
		}
		for i := range cells {
			cells[i] += fmt.Sprintf("%.3g", math.Exp(ratios[i]))
			if bounds != nil {
				cells[i] += fmt.Sprintf(" [%.3g, %.3g]", math.Exp(bounds[i][0]), math.Exp(bounds[i][1]))
			}
			cells[i] += "\t"
		}
	}
	fmt.Fprintln(out)
	for i, method := range s.config.methods {
		if method != s.config.against {
			fmt.Fprintf(out, "%s\t%s\n", method, cells[i])
		}
	}
	about := fmt.Sprintf("5 and 95 %% quantiles over %d bootstrap resamples of the seeds, in pairs", resamples)
	if !s.bounded() {
		about = fmt.Sprintf("no bounds with fewer than %d seeds of each function", minSeeds)
	}
	fmt.Fprintf(out, "(%s; regrets below %g standard deviations of a function count as that)\n", about, smallest)
}
