package batch

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/task"
)

// Rule defines the utility of a batch, and the assignment of its designs to parties.
type Rule string

// The rules.
const (
	Fair    Rule = "fair"     // the welfare of gains plus expected utilities: S21, equation 5
	Instant Rule = "ifu"      // the weighted expected utilities, largest weight for the smallest gain: S21, appendix C.6
	TwoStep Rule = "two-step" // the sum of expected utilities; better designs go to smaller gains: S21, remark 5
)

// Problem is the choice of one design for each of n parties.
type Problem struct {
	Space     *task.Space
	Posterior surrogate.JointPosterior // posterior given the pooled observations
	Noise     float64                  // variance of an observation, in the posterior's units
	Gains     []float64                // λ of each party, in the posterior's units; larger is better
	Weights   Weights                  // one weight for each party; TwoStep does not use them
	Alpha     float64                  // α, the factor of the information; for TwoStep computed with all weights 1
	Rule      Rule

	// Choices lists, for each party, the encoded designs that it can evaluate next, at least one.
	// If it is nil, all parties can evaluate all designs of the space.
	Choices [][][]float64
	// Near lists encoded designs around which the search samples, for example the best observed
	// designs.
	Near [][]float64
}

// Batch is one design for each party.
type Batch struct {
	Designs [][]float64 // encoded designs, one per party, as Space.Snap returns them
	Value   float64     // Problem.Value of the designs
}

// Value returns the value of a batch: its utility plus √(α I(X)), where I(X) = ½ ln det(I +
// Σ_X|D/σ²) is the information about the function that observations of the batch give. With μ the
// posterior means of the designs, the utility is
//
//   - W(λ + μ) for Fair,
//   - Σ w_i μ for Instant, where w_1 is for the party with the smallest gain, and so on,
//   - Σ μ for TwoStep.
//
// designs holds one encoded design for each party. The value is NaN if rounding errors
// prevent the computation of the information, with noise below about 1e-14.
func (p Problem) Value(designs [][]float64) float64 {
	joint := p.Posterior.Joint(designs)
	means := joint.Mean()
	utility := 0.0
	switch p.Rule {
	case Fair:
		for i, gain := range p.Gains {
			means[i] += gain
		}
		utility = p.Weights.Welfare(means)
	case Instant:
		for rank, party := range rising(p.Gains) {
			utility += p.Weights[rank] * means[party]
		}
	case TwoStep:
		for _, mean := range means {
			utility += mean
		}
	}
	root, ok := precision(joint.Covariance(), p.Noise)
	if !ok {
		return math.NaN()
	}
	return utility + p.exploration(root.LogDet()/2)
}

// exploration returns the term of the information in the value. Rounding errors may make the
// information negative, which counts as 0.
func (p Problem) exploration(information float64) float64 {
	return math.Sqrt(p.Alpha * max(information, 0))
}

// precision returns the Cholesky factor of I + Σ/σ². It overwrites covariance. ok is false if
// rounding errors prevent the factorisation.
func precision(covariance *mat.SymDense, noise float64) (root *mat.Cholesky, ok bool) {
	n := covariance.SymmetricDim()
	covariance.ScaleSym(1/noise, covariance)
	for i := range n {
		covariance.SetSym(i, i, covariance.At(i, i)+1)
	}
	root = new(mat.Cholesky)
	ok = root.Factorize(covariance)
	return root, ok
}

// check returns an error if the problem is invalid.
func (p Problem) check() error {
	switch {
	case len(p.Gains) == 0:
		return fmt.Errorf("no gains given; one for each party is needed")
	case len(p.Weights) != len(p.Gains):
		return fmt.Errorf("%d weights given; one for each of the %d parties is needed", len(p.Weights), len(p.Gains))
	case p.Rule != Fair && p.Rule != Instant && p.Rule != TwoStep:
		return fmt.Errorf("rule %q: must be %q, %q or %q", p.Rule, Fair, Instant, TwoStep)
	case !positive(p.Noise):
		return fmt.Errorf("noise %g: must be positive and finite", p.Noise)
	case !(p.Alpha >= 0) || math.IsInf(p.Alpha, 1):
		return fmt.Errorf("alpha %g: must be finite and at least 0", p.Alpha)
	case p.Choices != nil && len(p.Choices) != len(p.Gains):
		return fmt.Errorf("choices of %d parties given; those of %d are needed", len(p.Choices), len(p.Gains))
	}
	for i, gain := range p.Gains {
		if math.IsNaN(gain) || math.IsInf(gain, 0) {
			return fmt.Errorf("gain %g of party %d: must be finite", gain, i)
		}
	}
	for i, w := range p.Weights {
		if !positive(w) || i > 0 && w > p.Weights[i-1] {
			return fmt.Errorf("weight %g, number %d: must be positive, finite and no larger than that before", w, i)
		}
	}
	for i, x := range p.Near {
		if len(x) != p.Space.Dim() {
			return fmt.Errorf("near design %d has %d coordinates; the space has %d", i, len(x), p.Space.Dim())
		}
	}
	for party, choices := range p.Choices {
		if len(choices) == 0 {
			return fmt.Errorf("no choices of party %d; at least one is needed", party)
		}
		for i, x := range choices {
			if len(x) != p.Space.Dim() {
				return fmt.Errorf("choice %d of party %d has %d coordinates; the space has %d", i, party, len(x), p.Space.Dim())
			}
		}
	}
	return nil
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

// rising returns the indices of v in rising order of value. Equal values keep their order.
func rising(v []float64) []int {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(v[i], v[j]) })
	return order
}
