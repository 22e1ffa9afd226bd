package pooling

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/optprior"
	"github.com/fbo-node/fbo/internal/pareto"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/strategy"
)

const (
	draws      = 128 // draws of the optimum, with the outcomes and without
	candidates = 128 // designs among which a draw has its optimum
	crossed    = 32  // of these, designs between the peers' centres, if there are any
	jitter     = 1e-6
)

// Evidence returns the weights of the rules after the agent's outcomes (see the package comment).
// prior has the weights before them. densities are those of [New], and designs are [Candidates].
// It returns prior if the view has no posterior of the objective, or if a covariance is singular.
func Evidence(view strategy.View, prior Weights, densities []acquisition.Function, designs [][]float64, rng *rand.Rand) Weights {
	before, after, ok := optima(view, designs, rng)
	if !ok {
		return prior
	}
	return prior.after(logsOf(densities, designs), before, after)
}

// after returns the weights, updated by draws of the optimum without and with the outcomes. logs has
// the logarithms of the rules' densities at all designs, and the draws are indices of designs.
func (w Weights) after(logs [rules][]float64, before, after []int) Weights {
	var posterior [rules]float64
	for r := range posterior {
		posterior[r] = math.Log(w[r]) + logMean(pick(logs[r], after)) - logMean(pick(logs[r], before))
	}
	level := logMean(posterior[:]) + math.Log(float64(rules))
	for r := range w {
		w[r] = math.Exp(posterior[r] - level)
	}
	return w
}

// pick returns the values with these indices.
func pick(values []float64, indices []int) []float64 {
	picked := make([]float64, len(indices))
	for i, at := range indices {
		picked[i] = values[at]
	}
	return picked
}

// logsOf returns g_h of each rule at the designs.
func logsOf(densities []acquisition.Function, designs [][]float64) (logs [rules][]float64) {
	for _, x := range designs {
		each := boundedLogs(densities, x)
		for r := range logs {
			logs[r] = append(logs[r], Rule(r).log(each))
		}
	}
	return logs
}

// Candidates returns the designs among which draws have their optimum. Some are the first of
// designs, which should be uniformly distributed. The others are between the centres of the
// peers' densities: each parameter has the value of a random centre. Without centres there are none
// of these.
func Candidates(l *optprior.Layout, designs, centres [][]float64, rng *rand.Rand) [][]float64 {
	all := append([][]float64(nil), designs[:min(candidates-crossed, len(designs))]...)
	if len(centres) == 0 {
		return all
	}
	centre := func() []float64 { return centres[rng.IntN(len(centres))] }
	for range crossed {
		x := make([]float64, l.Dim)
		for _, i := range l.Numbers {
			x[i] = centre()[i]
		}
		for _, block := range l.Categories {
			copy(x[block.Start:block.Start+block.Len], centre()[block.Start:])
		}
		all = append(all, x)
	}
	return all
}

// optima returns draws of the optimum's index among the designs, without and with the agent's
// outcomes. ok is false if they cannot be drawn.
func optima(view strategy.View, designs [][]float64, rng *rand.Rand) (before, after []int, ok bool) {
	posteriors := view.Objectives
	if posteriors == nil {
		posteriors = []strategy.Posterior{view.Posterior}
	}
	var objectives []pair
	for _, p := range posteriors {
		known, ok := p.(surrogate.JointPosterior)
		if !ok {
			return nil, nil, false
		}
		objective, ok := newPair(view, surrogate.ProcessSpec(view.Task), known, designs)
		if !ok {
			return nil, nil, false
		}
		objectives = append(objectives, objective)
	}
	var limits []limit
	bounded := view.Constraints
	if view.Completion != nil {
		bounded = append(bounded[:len(bounded):len(bounded)], view.Completion)
	}
	for _, c := range bounded {
		known, ok := c.Posterior.(surrogate.JointPosterior)
		if !ok {
			return nil, nil, false
		}
		p, ok := newPair(view, surrogate.ConstraintSpec(view.Task), known, designs)
		if !ok {
			return nil, nil, false
		}
		limits = append(limits, limit{p, c.Low, c.High})
	}
	for range draws {
		if i := best(objectives, limits, func(p pair) *sampler { return p.before }, rng); i >= 0 {
			before = append(before, i)
		}
		if i := best(objectives, limits, func(p pair) *sampler { return p.after }, rng); i >= 0 {
			after = append(after, i)
		}
	}
	return before, after, len(before) > 0 && len(after) > 0
}

// limit is a constraint on the values of a function.
type limit struct {
	pair
	low, high float64
}

// best returns the index of the largest value of a draw among those where draws of the constraints
// satisfy their limits. With several objectives it returns the index of a random design of the draw's
// Pareto front. It returns -1 if there is no such design.
func best(objectives []pair, limits []limit, of func(p pair) *sampler, rng *rand.Rand) int {
	var values [][]float64 // by objective
	for _, o := range objectives {
		values = append(values, of(o).draw(rng))
	}
	feasible := slices.Repeat([]bool{true}, len(values[0]))
	for _, l := range limits {
		for i, v := range of(l.pair).draw(rng) {
			feasible[i] = feasible[i] && v >= l.low && v <= l.high
		}
	}
	if len(values) == 1 {
		return largest(values[0], feasible)
	}
	var indices []int
	var points [][]float64
	for i, ok := range feasible {
		if !ok {
			continue
		}
		p := make([]float64, len(values))
		for k := range values {
			p[k] = values[k][i]
		}
		indices, points = append(indices, i), append(points, p)
	}
	front := pareto.Front(points)
	if len(front) == 0 {
		return -1
	}
	return indices[front[rng.IntN(len(front))]]
}

// largest returns the index of the largest value among those that count, and -1 without one.
func largest(values []float64, counts []bool) int {
	at, most := -1, math.Inf(-1)
	for i, v := range values {
		if counts[i] && v > most {
			at, most = i, v
		}
	}
	return at
}

// pair has the values of a function at the designs without outcomes and with them.
type pair struct{ before, after *sampler }

func newPair(view strategy.View, spec gp.Spec, known surrogate.JointPosterior, designs [][]float64) (pair, bool) {
	h := known.Hyperparameters().Process()
	if len(h.Lengthscales) == 0 {
		h.Lengthscales = surrogate.InitialLengthscales(view.Task)
	}
	process, err := gp.NewPosterior(spec, nil, nil, h)
	if err != nil {
		return pair{}, false
	}
	before, ok := newSampler(process.Joint(designs))
	after, fine := newSampler(known.Joint(designs))
	return pair{before, after}, ok && fine
}

// sampler draws from a joint normal distribution.
type sampler struct {
	mean []float64
	root mat.TriDense // lower Cholesky factor of the covariance
}

// newSampler returns the sampler of j, or false if the covariance cannot be factored.
func newSampler(j surrogate.Joint) (*sampler, bool) {
	s, covariance := &sampler{mean: j.Mean()}, j.Covariance()
	largest := 0.0
	for i := range s.mean {
		largest = max(largest, covariance.At(i, i))
	}
	for i := range s.mean {
		covariance.SetSym(i, i, covariance.At(i, i)+jitter*largest)
	}
	var root mat.Cholesky
	if !root.Factorize(covariance) {
		return nil, false
	}
	root.LTo(&s.root)
	return s, true
}

func (s *sampler) draw(rng *rand.Rand) []float64 {
	normal := mat.NewVecDense(len(s.mean), nil)
	for i := range s.mean {
		normal.SetVec(i, rng.NormFloat64())
	}
	var values mat.VecDense
	values.MulVec(&s.root, normal)
	values.AddVec(&values, mat.NewVecDense(len(s.mean), s.mean))
	return values.RawVector().Data
}
