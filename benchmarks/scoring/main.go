// Scoring compares the time for evaluating a sample of random Fourier features at
// points: by this project's rff.Function, and by NumPy with its BLAS. Both use one core,
// in turns within one run.
//
//	go run ./scoring --python python3
//
// Without a Python that has NumPy it prints a message and times only rff.
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/rff"
)

const (
	features = 1000
	dim      = 6
	checks   = 100 // values that must agree
	wanted   = 4   // times faster than NumPy
)

func batches() []int { return []int{1000, 10000} }

func main() {
	python := flag.String("python", "python3", "a Python with NumPy")
	rounds := flag.Int("rounds", 15, "repetitions in turns")
	flag.Parse()
	if *rounds < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "scoring: expected --python and --rounds of 1 and more")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(1)
	if err := compare(os.Stdout, *python, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "scoring:", err)
		os.Exit(1)
	}
}

func compare(out io.Writer, python string, rounds int) error {
	s, err := newSetting()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Score points with M = %d features in d = %d, one core; nanoseconds per point, median [quartiles] of %d rounds in turns.\n", features, dim, rounds)
	var other *numpy
	if err := importNumPy(python); err != nil {
		fmt.Fprintf(out, "Python with NumPy is not here: skipped (%v)\n", err)
	} else {
		if other, err = startNumPy(python, s); err != nil {
			return err
		}
		defer other.stop()
		if err := s.agrees(other.Values); err != nil {
			return err
		}
		fmt.Fprintf(out, "NumPy %s with %s; the first %d values agree.\n", other.NumPy, other.BLAS, checks)
	}
	took := map[string][]float64{}
	for range rounds {
		for _, batch := range batches() {
			name := fmt.Sprintf("rff %d", batch)
			took[name] = append(took[name], s.secondsPerPoint(batch))
		}
		if other == nil {
			continue
		}
		theirs, err := other.round()
		if err != nil {
			return err
		}
		for name, seconds := range theirs {
			took[name] = append(took[name], seconds)
		}
	}
	report(out, took)
	return nil
}

// setting is what both sides compute.
type setting struct {
	frequencies []float64 // M/2 rows of dim
	weights     []float64
	points      [][]float64
	function    *rff.Function
	values      []float64 // reused, as a caller would
}

func newSetting() (*setting, error) {
	seed := random.SeedOf(1)
	spec := rff.Spec{Kernel: rff.Matern52, Features: features}
	for range dim {
		spec.Lengthscales = append(spec.Lengthscales, 0.3*math.Sqrt(dim))
	}
	m, err := rff.NewMap(seed, spec)
	if err != nil {
		return nil, err
	}
	rng := seed.Stream("points and weights", 0)
	s := &setting{frequencies: m.Frequencies(), weights: make([]float64, features)}
	for i := range s.weights {
		s.weights[i] = rng.NormFloat64()
	}
	s.function = m.Function(s.weights)
	s.points = make([][]float64, slices.Max(batches()))
	s.values = make([]float64, len(s.points))
	for i := range s.points {
		s.points[i] = make([]float64, dim)
		for k := range s.points[i] {
			s.points[i][k] = rng.Float64()
		}
	}
	return s, nil
}

// score is what is timed on this side.
func (s *setting) score(n int) {
	for i, x := range s.points[:n] {
		s.values[i] = s.function.Value(x)
	}
}

// secondsPerPoint scores as many points as the largest batch has, as the other
// side does.
func (s *setting) secondsPerPoint(batch int) float64 {
	repeat := slices.Max(batches()) / batch
	begin := time.Now()
	for range repeat {
		s.score(batch)
	}
	return time.Since(begin).Seconds() / float64(repeat*batch)
}

// agrees is what makes it a comparison: the same function on both sides.
func (s *setting) agrees(values []float64) error {
	if len(values) != checks {
		return fmt.Errorf("NumPy returned %d values instead of %d", len(values), checks)
	}
	s.score(checks)
	for i, value := range values {
		if off := math.Abs(value - s.values[i]); !(off < 1e-9) {
			return fmt.Errorf("value %d: %g here, %g in NumPy", i, s.values[i], value)
		}
	}
	return nil
}

func report(out io.Writer, took map[string][]float64) {
	for _, batch := range batches() {
		ours := quartiles(took[fmt.Sprintf("rff %d", batch)])
		fmt.Fprintf(out, "\nbatch of %d\n  rff.Function.Value          %s\n", batch, nanoseconds(ours))
		for _, way := range []struct{ name, formula string }{{"phases", "cos(X Wᵀ + b)·w     "}, {"pairs", "cos·w₁ + sin·w₂     "}} {
			seconds := took[fmt.Sprintf("%s %d", way.name, batch)]
			if len(seconds) == 0 {
				continue
			}
			theirs := quartiles(seconds)
			fmt.Fprintf(out, "  NumPy %s  %s  rff is %.2f times as fast\n", way.formula, nanoseconds(theirs), theirs[1]/ours[1])
		}
	}
	fmt.Fprintf(out, "\nAim: %d times as fast as cos(X Wᵀ + b)·w.\n", wanted)
}

func nanoseconds(q [3]float64) string {
	return fmt.Sprintf("%6.0f [%.0f, %.0f]", q[1]*1e9, q[0]*1e9, q[2]*1e9)
}

// quartiles returns order statistics near 25, 50 and 75 %.
func quartiles(x []float64) [3]float64 {
	sorted := slices.Sorted(slices.Values(x))
	last := len(sorted) - 1
	return [3]float64{sorted[last/4], sorted[last/2], sorted[last-last/4]}
}
