package experiment

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/sim"
	"github.com/fbo-node/fbo/internal/surrogate"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
	"github.com/fbo-node/fbo/lab/family"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// theoremDelta is δ of Theorem 1; the bound holds with probability 1-δ.
const theoremDelta = 0.1

// logFloats is an upper bound of the logarithm of the number of float64 values from 0 to 1.
const logFloats = 62 * math.Ln2

// maxInformed is the largest number of observations whose information is computed. The time grows
// with the cube of their number, and the memory with the square.
const maxInformed = 3000

// Observed is the regret that Theorem 1 of Sim et al. (2021) bounds, in one run of a strategy with
// a roster.
type Observed struct {
	// Regret is S'_T, the sum over t of W(λ_t+f*) - W(λ_t+f(x_t)) (equation 3), in the objective's
	// units. λ_t holds for each agent the sum of the values that it shared from its first t-1
	// evaluations. W has the strategy's own weights, whose sum is not 1.
	Regret Number `json:"regret"`

	// Information is the information gain about the objective from all observations of all agents,
	// ½ log det(I + K/σ²), in nats. Bound is 2·sqrt(T·α_T·Information), in the objective's units;
	// see process.bound. Both are null if agents learn the hyperparameters, because the theorem is
	// for a known process, and if there are more than 3000 observations.
	Information Number `json:"information"`
	Bound       Number `json:"bound"`
}

// process is a Gaussian process with known hyperparameters.
type process struct {
	spec         gp.Spec
	lengthscales []float64
	deviation    float64 // standard deviation of the function around its mean, in the objective's units
	noise        float64 // variance of an observation's noise divided by the variance of the function
}

// partyWeights returns the weights of n agents that the task's strategy uses, from the keys rho and
// weights of its section. Exponential weights are rho^(i-1), linear ones are rho·(n-i)+1. Without
// rho all weights are equal.
func partyWeights(t *task.Task, n int) []float64 {
	keys := map[string]any{}
	if t.Strategy.Settings != nil {
		keys = t.Strategy.Settings.Keys()
	}
	rho, ok := keys["rho"].(float64)
	weights := make([]float64, n)
	for i := range weights {
		switch {
		case !ok:
			weights[i] = 1
		case keys["weights"] == "linear":
			weights[i] = rho*float64(n-1-i) + 1
		default:
			weights[i] = math.Pow(rho, float64(i))
		}
	}
	return weights
}

// observedRegret returns S'_T, given the regrets and the shared values, one row per agent; larger
// values are better. As f* is the same for all agents, W(λ+f*) - W(λ+f) equals W(λ) - W(λ-regret):
// both terms change by f* times the sum of the weights.
func observedRegret(weights []float64, regrets, told [][]float64) float64 {
	gains, after := make([]float64, len(regrets)), make([]float64, len(regrets))
	sum := 0.0
	for t := range regrets[0] {
		for i := range gains {
			after[i] = gains[i] - regrets[i][t]
		}
		sum += welfare(weights, gains) - welfare(weights, after)
		for i := range gains {
			gains[i] += told[i][t]
		}
	}
	return sum
}

// information returns the information gain about the function from observations at the designs x,
// one row each, in nats: ½ log det(I + K/σ²).
func (p process) information(x [][]float64) float64 {
	c, ok := p.factor(x)
	if !ok {
		return math.NaN()
	}
	return c.LogDet() / 2
}

// bound returns the bound of Theorem 1, 2·sqrt(T·α_T·I), with
//
//	α_T = C_1·Σw²·exp(2C)·log(|X|T²π²/(6δ)),  C_1 = 4/log(1 + σ^-2),
//
// for a function with variance 1. The theorem leaves some choices, which are made as follows:
//
//   - I is the information gain of the actual observations. It replaces γ_T, the largest possible
//     gain. The proof bounds S'_T by I first, and then I by γ_T. The bound is therefore known only
//     after the run, and is tighter.
//   - C bounds the information gain from n-1 observations of a batch. It is (n-1)/2·log(1 + σ^-2),
//     because the gain of each observation is largest on its own. This holds for any batch, and
//     makes the bound large.
//   - |X| is the number of designs. The theorem is for a finite space. For other spaces it is the
//     number of floats, at most 2^62 per parameter, because designs are floats.
//
// The theorem is for a strategy that uses this α_t. Strategies in experiments explore much less, so
// for them the bound is only a yardstick and no guarantee.
func (p process) bound(information float64, weights []float64, space *task.Space, evaluations int) float64 {
	squares := 0.0
	for _, w := range weights {
		squares += w * w
	}
	T, each := float64(evaluations), math.Log1p(1/p.noise)
	alpha := 4 / each * squares * math.Exp(float64(len(weights)-1)*each) *
		(logDesigns(space) + math.Log(T*T*math.Pi*math.Pi/(6*theoremDelta)))
	return 2 * p.deviation * math.Sqrt(T*alpha*information)
}

// logDesigns returns the logarithm of the number of designs, or of an upper bound of it.
func logDesigns(space *task.Space) float64 {
	if count, ok := space.Finite(); ok {
		return math.Log(float64(count))
	}
	return logFloats * float64(space.Len())
}

// factor returns the Cholesky factor of I + K/σ² at the designs x. ok is false if rounding prevents
// it, with almost no noise.
func (p process) factor(x [][]float64) (c mat.Cholesky, ok bool) {
	k := gp.Covariance(p.spec, x, p.lengthscales)
	n := k.SymmetricDim()
	k.ScaleSym(1/p.noise, k)
	for i := range n {
		k.SetSym(i, i, 1+k.At(i, i))
	}
	ok = c.Factorize(k)
	return c, ok
}

// observed returns Observed of a run. It returns nil for strategies without a roster, if not all
// agents count, and if designs can be infeasible.
func (p Plan) observed(s Spec, t *task.Task, f *federation, result sim.Result) *Observed {
	if !p.registrationOf(s).Roster || t.Constrained() {
		return nil
	}
	var regrets, told, x [][]float64
	for i, m := range result.Members {
		if !f.Members[i].Counts || len(m.Trials) != p.Evaluations {
			return nil
		}
		mine, values := ownRow(t, f.Members[i], m.Trials)
		regrets, told = append(regrets, mine), append(told, values)
		for _, trial := range m.Trials {
			x = append(x, t.Space.Encode(trial.Design))
		}
	}
	weights := partyWeights(t, len(regrets))
	none := Number(math.NaN())
	o := &Observed{Regret: Number(observedRegret(weights, regrets, told)), Information: none, Bound: none}
	if known, ok := fixedProcess(t); ok && len(x) <= maxInformed {
		information := known.information(x)
		o.Information, o.Bound = Number(information), Number(known.bound(information, weights, t.Space, p.Evaluations))
	}
	return o
}

// ownRow returns an agent's regrets and the values that it shared; larger values are better.
func ownRow(t *task.Task, m family.Member, trials []strategy.Trial) (regrets, told []float64) {
	regret := regretOf(m.Objective, t.Goal)
	for _, trial := range trials {
		regrets = append(regrets, max(regret(trial.Design), 0))
		told = append(told, t.Goal.Sign()*trial.Outcome.Value)
	}
	return regrets, told
}

// fixedProcess returns the process with the task's fixed hyperparameters; ok is false if agents
// learn them.
func fixedProcess(t *task.Task) (p process, ok bool) {
	fixed := t.Surrogate.Fixed
	if fixed == nil {
		return process{}, false
	}
	ratio := fixed.NoiseStd / fixed.SignalStd
	return process{
		spec: surrogate.ProcessSpec(t), lengthscales: fixed.Lengthscales, deviation: fixed.SignalStd, noise: ratio * ratio,
	}, true
}

// ObservedRegret summarises Observed of [Record] over federations.
type ObservedRegret struct {
	Regret      Estimate `json:"regret"` // without differences, because strategies with other weights are not comparable
	Information Number   `json:"information"`
	Bound       Number   `json:"bound"`
	// Within is the share of federations whose regret is at most their bound.
	Within Number `json:"within"`
}

// observedRegretOf returns nil if one of the records has no Observed.
func observedRegretOf(records []Record) *ObservedRegret {
	var regrets, informations, bounds, within []float64
	for _, r := range records {
		o := r.Observed
		if o == nil {
			return nil
		}
		regrets = append(regrets, float64(o.Regret))
		informations = append(informations, float64(o.Information))
		bounds = append(bounds, float64(o.Bound))
		switch {
		case math.IsNaN(float64(o.Bound)):
			within = append(within, math.NaN())
		case o.Regret <= o.Bound:
			within = append(within, 1)
		default:
			within = append(within, 0)
		}
	}
	return &ObservedRegret{
		Regret: estimate(regrets, nil), Information: Number(mean(informations)), Bound: Number(mean(bounds)), Within: Number(mean(within)),
	}
}
