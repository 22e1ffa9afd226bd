package batch

import (
	"math"
	"slices"
)

// Weights holds the weights w of the welfare. They are positive and never rise. The first is for
// the smallest utility.
type Weights []float64

// Exponential returns the n weights ρ^(i-1), i = 1, …, n, of S21, for 0 < ρ <= 1. With 1 all
// parties have equal weights. Smaller values favour the party with the smallest gain.
func Exponential(n int, rho float64) Weights {
	w := make(Weights, n)
	for i := range w {
		w[i] = math.Pow(rho, float64(i))
	}
	return w
}

// Linear returns the n weights ρ(n-i) + 1, i = 1, …, n (S21, remark 4), for ρ >= 0. With 0 all
// parties have equal weights, and with 2 they have Gini's weights.
func Linear(n int, rho float64) Weights {
	w := make(Weights, n)
	for i := range w {
		w[i] = rho*float64(n-1-i) + 1
	}
	return w
}

// Welfare returns W(u): the sum of the utilities u, sorted in rising order, each times its weight
// (S21, equation 4). It panics if the numbers of utilities and weights differ.
func (w Weights) Welfare(u []float64) float64 {
	if len(u) != len(w) {
		panic("batch: as many utilities as weights are needed")
	}
	sum := 0.0
	for i, v := range slices.Sorted(slices.Values(u)) {
		sum += w[i] * v
	}
	return sum
}

// Normalised returns the weights divided by their sum.
func (w Weights) Normalised() Weights {
	total := w.sum()
	scaled := slices.Clone(w)
	for i := range scaled {
		scaled[i] /= total
	}
	return scaled
}

func (w Weights) sum() (total float64) {
	for _, v := range w {
		total += v
	}
	return total
}

func (w Weights) squares() (total float64) {
	for _, v := range w {
		total += v * v
	}
	return total
}

// equal reports whether all parties have the same weight.
func (w Weights) equal() bool { return w[0] == w[len(w)-1] }

// Exploration determines α, the weight of information relative to utility.
type Exploration struct {
	C1, C2 float64
	// Varying reduces C1 for unequal weights, so that the ratio of exploration to exploitation is
	// the same for all weights. Without it, the ratio is proportional to √Σw²/Σw.
	Varying bool
}

// Alpha returns α_t = C1·d·Σw²·ln(C2·t) (S21, section 5), for d parameters. t is the number of
// evaluations of each party, including the batch that is being chosen. It returns 0 if the
// logarithm is negative. Varying multiplies the result by (Σw)²/(nΣw²), which is 1 for equal
// weights.
func (e Exploration) Alpha(w Weights, d, t int) float64 {
	alpha := e.C1 * float64(d) * w.squares() * math.Log(e.C2*float64(t))
	if e.Varying {
		alpha *= w.sum() * w.sum() / (float64(len(w)) * w.squares())
	}
	return max(alpha, 0)
}
