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

// theoremDelta is the δ of Theorem 1: its bound holds with probability 1-δ.
const theoremDelta = 0.1

// logFloats is the logarithm of how many floats there are from 0 to 1, at most.
const logFloats = 62 * math.Ln2

// maxInformed bounds the observations whose information is computed, which takes the cube
// of their number in time and the square in memory.
const maxInformed = 3000

// Observed is the regret that Theorem 1 of Sim et al. (2021) is about, of one run of a
// strategy with a roster.
type Observed struct {
	// Regret is S'_T, the sum over t of W(λ_t+f*) - W(λ_t+f(x_t)) (equation 3), where λ_t is the
	// sum of the values that agents have shared of their first t-1 evaluations, and W has the
	// strategy's own weights, whose sum is not 1. It is in the objective's units.
	Regret Number `json:"regret"`

	// Information is the information gain about the objective from all observations of all agents,
	// ½ log det(I + K/σ²), in nats, and Bound is 2·sqrt(T·α_T·Information), see process.bound, in
	// the objective's units. Both are null where agents learn the process that the objective is
	// from, as the theorem is for a known process, and where there are more than 3000 observations.
	Information Number `json:"information"`
	Bound       Number `json:"bound"`
}

// process is a Gaussian process whose hyperparameters are known.
type process struct {
	spec         gp.Spec
	lengthscales []float64
	deviation    float64 // of the function about its mean, in the objective's units
	noise        float64 // variance of an observation's noise over that of the function
}

// partyWeights are a strategy's own, by the keys rho and weights of its section: exponential ones
// are rho^(i-1), linear ones rho·(n-i)+1. Without rho all weights are equal.
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

// observedRegret is S'_T of agents with these regrets, one row each, that shared these values, of
// which larger is better. As f* is the same for all agents, W(λ+f*) - W(λ+f) is W(λ) - W(λ-regret):
// both lack f* times the sum of the weights.
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

// information returns the information gain about the function from observations at these designs, a
// row each, in nats: ½ log det(I + K/σ²).
func (p process) information(x [][]float64) float64 {
	k := gp.Covariance(p.spec, x, p.lengthscales)
	n := k.SymmetricDim()
	k.ScaleSym(1/p.noise, k)
	for i := range n {
		k.SetSym(i, i, 1+k.At(i, i))
	}
	var c mat.Cholesky
	if !c.Factorize(k) {
		return math.NaN() // rounding, where the noise is next to none
	}
	return c.LogDet() / 2
}

// bound is that of Theorem 1, 2·sqrt(T·α_T·I), with
//
//	α_T = C_1·Σw²·exp(2C)·log(|X|T²π²/(6δ)),  C_1 = 4/log(1 + σ^-2),
//
// where the function has variance 1. The choices that the theorem leaves:
//   - I, the information of what has been observed, is in place of γ_T, the largest that
//     could be: the proof bounds S'_T by it before it takes the largest, by the chain rule.
//     So the bound is one after the fact, and tighter.
//   - C bounds the information gain from n-1 observations of a batch: (n-1)/2·log(1 + σ^-2), as the
//     gain of each is largest by itself. It holds for any batch, and is what makes the bound large.
//   - |X| of a space that is not finite is that of its floats, 2^62 per parameter, since
//     designs are floats: the theorem is for a finite space.
//
// The theorem takes a strategy whose α_t is this one. Those of experiments explore much
// less, so that for them it is a yardstick and no guarantee.
func (p process) bound(information float64, weights []float64, space *task.Space, evaluations int) float64 {
	logDesigns := logFloats * float64(space.Len())
	if count, ok := space.Finite(); ok {
		logDesigns = math.Log(float64(count))
	}
	squares := 0.0
	for _, w := range weights {
		squares += w * w
	}
	T, each := float64(evaluations), math.Log1p(1/p.noise)
	alpha := 4 / each * squares * math.Exp(float64(len(weights)-1)*each) *
		(logDesigns + math.Log(T*T*math.Pi*math.Pi/(6*theoremDelta)))
	return 2 * p.deviation * math.Sqrt(T*alpha*information)
}

// observed is nil for strategies without a roster, and where not all agents count or
// designs can be infeasible.
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

// ownRow returns an agent's regrets and the values that it shared, larger being better.
func ownRow(t *task.Task, m family.Member, trials []strategy.Trial) (regrets, told []float64) {
	regret := regretOf(m.Objective, t.Goal)
	for _, trial := range trials {
		regrets = append(regrets, max(regret(trial.Design), 0))
		told = append(told, t.Goal.Sign()*trial.Outcome.Value)
	}
	return regrets, told
}

// fixedProcess returns the process of fixed hyperparameters; ok is false where agents learn them.
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

// ObservedRegret summarises Observed over federations. See there and [Record].
type ObservedRegret struct {
	Regret      Estimate `json:"regret"` // without differences: other weights are no comparison
	Information Number   `json:"information"`
	Bound       Number   `json:"bound"`
	// Within is the share of federations whose regret is within their bound.
	Within Number `json:"within"`
}

// observedRegretOf is nil when one of the records has nothing of it.
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
