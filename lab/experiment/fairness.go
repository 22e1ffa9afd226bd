package experiment

import (
	"math"
	"slices"
)

// judgeRho is that of the weights by which inequality is judged, whatever weights a
// strategy has: w_i in proportion to judgeRho^(i-1), as in the experiments of Sim et al.
const judgeRho = 0.2

// Fairness holds the distribution of regret over the agents that count, by Sim et al.,
// Collaborative Bayesian Optimization with Fair Regret (2021), section 5 and appendix C.5. An agent
// gains by its t-th evaluation the noise-free value f of its t-th design, the more the better,
// starting designs included. U_t^i is what agent i has gained in t evaluations, f* the optimum, T
// the number of evaluations.
//
// All is computed from regrets f* - f, with which optima cancel where agents have one
// common function. Where they have functions of their own an agent's gains are thereby
// counted from its own optimum, which the paper does not do: it has one function.
//
// The control is the report's Reference.
type Fairness struct {
	// RegretPerParty is R_T/n: the mean over agents of the sum of all regrets.
	RegretPerParty Estimate `json:"regret_per_party"`
	// Unfairness is the mean over t of ΣU_t^i/n - Σw_i φ_i(U_t), where φ sorts ascending and w_i is
	// in proportion to 0.2^(i-1), with sum 1: 0 when all have the same reward. It is in the
	// objective's units.
	Unfairness Estimate `json:"unfairness"`
	// FairRegret is S_T (equation 2) with the same weights: the sum over t of
	// Σw_i φ_i(U_(t-1)+f*) - Σw_i φ_i(U_t). As the weights sum to 1, this is the largest
	// that all could have gained, T·f*, less Σw_i φ_i(U_T): with any weights of a sum it
	// telescopes.
	FairRegret Estimate `json:"fair_regret"`

	// Agents has the sum of regrets of each agent that counts in all federations.
	Agents []AgentRegret `json:"agents"`

	// Worst and Median are curves of simple regret against the sum of regrets, after each
	// evaluation: the largest of all agents of all federations, each by itself, and the
	// median over federations of medians over agents (appendix C.5).
	Worst  Frontier `json:"worst"`
	Median Frontier `json:"median"`

	// Rationality compares with the control; nil for the control itself.
	Rationality *Rationality `json:"rationality,omitempty"`

	// Alone compares with all strategies of the plan by which agents are alone; nil for
	// these, and where there are none.
	Alone *BestAlone `json:"best_alone,omitempty"`

	// Observed is S'_T and its bound; nil without a roster.
	Observed *ObservedRegret `json:"observed,omitempty"`

	// Understated is not nil if agent 0 shares values that are worse than it measured.
	Understated *Understated `json:"understated,omitempty"`
}

// Estimate holds a mean over federations, and the mean difference from the control, federation by
// federation. Each bound of the difference holds separately with the report's Confidence.
// Differences are null for the control itself.
type Estimate struct {
	Mean       Number `json:"mean"`
	SE         Number `json:"se"`
	Difference Number `json:"difference"`
	Low        Number `json:"difference_low"`
	High       Number `json:"difference_high"`
}

// AgentRegret is what became of one agent over all federations.
type AgentRegret struct {
	Agent  int      `json:"agent"` // from 0
	Regret Estimate `json:"regret"`
}

// Frontier is what simple regret was reached for what sum of regrets; a number per
// evaluation.
type Frontier struct {
	Cumulative []Number `json:"cumulative_regret"`
	Simple     []Number `json:"simple_regret"`
	// DominatedShare is the share of evaluations after which the simple regret is no larger than
	// the control's for no larger a sum of regrets, among those at whose sum the control
	// is known. Null for the control, and where there are none.
	DominatedShare Number `json:"dominated_share"`
}

// Rationality reports whether agents are better off than with the control, which should be a
// strategy that uses no peer information: an agent with a smaller simple regret for the same sum of
// regrets has reason to take part (appendix C.5).
type Rationality struct {
	// Lower is the share of agents, in all federations, whose simple regret at the largest sum of
	// regrets that both have reached is lower than with the control, and Equal the share with the
	// same simple regret.
	Lower Number `json:"lower"`
	Equal Number `json:"equal"`
	// LowerLow and LowerHigh are Wilson's bounds of Lower, each with the report's
	// Confidence. Federations count as the observations, not agents, which makes them
	// wide rather than narrow: a share of agents varies no more than a coin.
	LowerLow  Number `json:"lower_low"`
	LowerHigh Number `json:"lower_high"`
	// DominatedShare is Frontier.DominatedShare of each agent relative to itself with the control,
	// averaged over the agents that have one.
	DominatedShare Number `json:"dominated_share"`
}

// BestAlone holds the share of agents that do better than with the best of several solo strategies.
type BestAlone struct {
	Strategies []string `json:"strategies"` // that use no peer information
	// Lower is the share of agents, in all federations, whose simple regret in the end is
	// lower than theirs by each of these, with Wilson's bounds as in Rationality. The best
	// of several is chosen after the fact, agent by agent, which no agent can.
	Lower     Number `json:"lower"`
	LowerLow  Number `json:"lower_low"`
	LowerHigh Number `json:"lower_high"`
}

// Understated holds the gain of agent 0 from sharing values that are worse by By than the measured
// ones, in the objective's units: sums of regrets, with differences from Honest, the same strategy
// without, where that is in the plan.
type Understated struct {
	By     Number   `json:"by"`
	Honest string   `json:"honest,omitempty"`
	Agent  Estimate `json:"agent"`
	Others Estimate `json:"others"`
	// Detected is the share of federations in which an agent warned of another.
	Detected Number `json:"detected"`
}

// judgeWeights are for n agents, with sum 1; the first is for the agent with the least reward.
func judgeWeights(n int, rho float64) []float64 {
	weights, sum := make([]float64, n), 0.0
	for i := range weights {
		weights[i] = math.Pow(rho, float64(i))
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
	return weights
}

// welfare is W(u) = Σ w_i φ_i(u), φ sorting ascending (equation 4).
func welfare(weights, u []float64) float64 {
	sum := 0.0
	for i, v := range slices.Sorted(slices.Values(u)) {
		sum += weights[i] * v
	}
	return sum
}

// fairnessInput holds the data of one federation for the measures of fairness: sums of regrets and
// simple regrets after each evaluation, a row per agent that counts.
type fairnessInput struct {
	agents             []int
	cumulative, simple [][]float64
}

// losses are the agents' sums of regrets after t evaluations.
func (j fairnessInput) losses(t int) []float64 { return column(j.cumulative, t-1) }

func (j fairnessInput) evaluations() int { return len(j.cumulative[0]) }

func (j fairnessInput) regretPerParty() float64 { return mean(j.losses(j.evaluations())) }

// unfairness is the mean over t of U_t/n - g_t. Gains are T·f* less losses, of which the
// first part cancels.
func (j fairnessInput) unfairness(weights []float64) float64 {
	sum := 0.0
	for t := 1; t <= j.evaluations(); t++ {
		gains := negated(j.losses(t))
		sum += mean(gains) - welfare(weights, gains)
	}
	return sum / float64(j.evaluations())
}

// fairRegret is S_T. Counted from t·f*, the gains U_(t-1)+f* are the negated losses after
// t-1 evaluations, so that of the sum only the last term is left.
func (j fairnessInput) fairRegret(weights []float64) float64 {
	return -welfare(weights, negated(j.losses(j.evaluations())))
}

func negated(x []float64) []float64 {
	all := make([]float64, len(x))
	for i, v := range x {
		all[i] = -v
	}
	return all
}

// judge makes what is judged of a record; nil where agents have evaluated differently
// many designs, or none can be feasible, so that there are no regrets.
func (r Record) judge() *fairnessInput {
	var j fairnessInput
	for _, m := range r.Members {
		if r.Infeasible || len(m.Regret) != len(r.Members[0].Regret) {
			return nil
		}
		j.agents = append(j.agents, m.Member)
		j.cumulative = append(j.cumulative, m.cumulative())
		j.simple = append(j.simple, m.simple())
	}
	return &j
}

// fairnessInputs is nil when one of the records cannot be judged.
func fairnessInputs(records []Record) (all []fairnessInput) {
	for _, r := range records {
		j := r.judge()
		if j == nil {
			return nil
		}
		all = append(all, *j)
	}
	return all
}

// each makes a number of every federation.
func each(all []fairnessInput, number func(j fairnessInput) float64) []float64 {
	numbers := make([]float64, len(all))
	for i, j := range all {
		numbers[i] = number(j)
	}
	return numbers
}

// estimate summarises a number of every federation; control is nil for the control.
func estimate(x, control []float64) Estimate {
	none := Number(math.NaN())
	e := Estimate{Mean: Number(mean(x)), SE: Number(standardError(x)), Difference: none, Low: none, High: none}
	if control != nil {
		diffs := differences(x, control)
		e.Difference = Number(mean(diffs))
		e.Low, e.High = e.Difference-Number(margin(diffs)), e.Difference+Number(margin(diffs))
	}
	return e
}

// estimateOf is estimate of a number of each federation of both.
func estimateOf(all, control []fairnessInput, number func(j fairnessInput) float64) Estimate {
	if control == nil {
		return estimate(each(all, number), nil)
	}
	return estimate(each(all, number), each(control, number))
}

// fairness is of at least one federation. control is nil for the control itself.
func fairness(all, control []fairnessInput) *Fairness {
	weighed := func(number func(j fairnessInput, weights []float64) float64) Estimate {
		return estimateOf(all, control, func(j fairnessInput) float64 { return number(j, judgeWeights(len(j.agents), judgeRho)) })
	}
	f := &Fairness{
		RegretPerParty: estimateOf(all, control, fairnessInput.regretPerParty),
		Unfairness:     weighed(fairnessInput.unfairness),
		FairRegret:     weighed(fairnessInput.fairRegret),
		Worst:          frontier(all, slices.Max[[]float64], slices.Max[[]float64]),
		Median:         frontier(all, median, median),
	}
	for _, agent := range all[0].agents {
		if countsIn(all, agent) {
			f.Agents = append(f.Agents, AgentRegret{agent, estimateOf(all, control, ofAgent(agent))})
		}
	}
	if control != nil {
		of := fairness(control, nil)
		f.Worst.compare(of.Worst)
		f.Median.compare(of.Median)
		f.Rationality = rationality(all, control)
	}
	return f
}

// countsIn reports whether an agent counts in all federations.
func countsIn(all []fairnessInput, agent int) bool {
	return !slices.ContainsFunc(all, func(j fairnessInput) bool { return !slices.Contains(j.agents, agent) })
}

// ofAgent is the sum of regrets of one agent that counts.
func ofAgent(agent int) func(j fairnessInput) float64 {
	return func(j fairnessInput) float64 { return j.losses(j.evaluations())[slices.Index(j.agents, agent)] }
}

// ofOthers is the mean sum of regrets of all but one.
func ofOthers(agent int) func(j fairnessInput) float64 {
	return func(j fairnessInput) float64 {
		losses := j.losses(j.evaluations())
		if i := slices.Index(j.agents, agent); i >= 0 {
			losses = slices.Delete(losses, i, i+1)
		}
		return mean(losses)
	}
}

// frontier summarises the agents of a federation, and then the federations.
func frontier(all []fairnessInput, agents, federations func([]float64) float64) Frontier {
	f := Frontier{DominatedShare: Number(math.NaN())}
	over := func(k int, curves func(j fairnessInput) [][]float64) Number {
		return Number(federations(each(all, func(j fairnessInput) float64 { return agents(column(curves(j), k)) })))
	}
	for k := range all[0].evaluations() {
		f.Cumulative = append(f.Cumulative, over(k, func(j fairnessInput) [][]float64 { return j.cumulative }))
		f.Simple = append(f.Simple, over(k, func(j fairnessInput) [][]float64 { return j.simple }))
	}
	return f
}

func (f *Frontier) compare(control Frontier) {
	f.DominatedShare = Number(dominatedShare(floats(f.Cumulative), floats(f.Simple), floats(control.Cumulative), floats(control.Simple)))
}

func floats(numbers []Number) []float64 {
	all := make([]float64, len(numbers))
	for i, n := range numbers {
		all[i] = float64(n)
	}
	return all
}

// reached is the simple regret for no larger a sum of regrets than this; infinite when
// the first evaluation was more.
func reached(cumulative, simple []float64, most float64) float64 {
	best := math.Inf(1)
	for k, sum := range cumulative {
		if sum <= most {
			best = simple[k]
		}
	}
	return best
}

// dominatedShare is the share of evaluations after which the simple regret is no larger than the
// other's for no larger a sum, among those whose sum the other has reached and not left
// behind; NaN without any.
func dominatedShare(cumulative, simple, others, theirs []float64) float64 {
	kept, known := 0, 0
	for k, sum := range cumulative {
		if sum < others[0] || sum > others[len(others)-1] {
			continue
		}
		known++
		if simple[k] <= reached(others, theirs, sum) {
			kept++
		}
	}
	return float64(kept) / float64(known)
}

// rationality compares agent by agent and federation by federation.
func rationality(all, control []fairnessInput) *Rationality {
	lower, equal := make([]float64, len(all)), make([]float64, len(all))
	var shares []float64
	for i, j := range all {
		c, n := control[i], float64(len(j.agents))
		for k := range j.agents {
			last := len(j.cumulative[k]) - 1
			most := min(j.cumulative[k][last], c.cumulative[k][last])
			mine, theirs := reached(j.cumulative[k], j.simple[k], most), reached(c.cumulative[k], c.simple[k], most)
			switch {
			case mine < theirs:
				lower[i] += 1 / n
			case mine == theirs:
				equal[i] += 1 / n
			}
			if share := dominatedShare(j.cumulative[k], j.simple[k], c.cumulative[k], c.simple[k]); !math.IsNaN(share) {
				shares = append(shares, share)
			}
		}
	}
	low, high := wilson(mean(lower), len(lower))
	return &Rationality{
		Lower: Number(mean(lower)), Equal: Number(mean(equal)), LowerLow: Number(low), LowerHigh: Number(high),
		DominatedShare: Number(mean(shares)),
	}
}

// bestAlone compares with what agents reach in the end by strategies alone, at least one.
func bestAlone(all []fairnessInput, names []string, alone [][]fairnessInput) *BestAlone {
	lower := make([]float64, len(all))
	for i, j := range all {
		last := j.evaluations() - 1
		for k := range j.agents {
			beaten := !slices.ContainsFunc(alone, func(other []fairnessInput) bool { return other[i].simple[k][last] <= j.simple[k][last] })
			if beaten {
				lower[i] += 1 / float64(len(j.agents))
			}
		}
	}
	low, high := wilson(mean(lower), len(lower))
	return &BestAlone{Strategies: names, Lower: Number(mean(lower)), LowerLow: Number(low), LowerHigh: Number(high)}
}

// understatedOf compares who understates with the same without; honest is nil when that
// was not played.
func understatedOf(by float64, name string, records []Record, all, honest []fairnessInput) *Understated {
	detected := 0
	for _, r := range records {
		detected += min(r.Warnings, 1)
	}
	return &Understated{
		By: Number(by), Honest: name,
		Agent: estimateOf(all, honest, ofAgent(0)), Others: estimateOf(all, honest, ofOthers(0)),
		Detected: Number(detected) / Number(len(records)),
	}
}

// judgesFairness reports whether the report has Fairness.
func (p Plan) judgesFairness() bool {
	return p.Fairness || slices.ContainsFunc(p.Strategies, func(s Spec) bool { return p.registrationOf(s).Roster })
}

// addFairness fills in Fairness of all strategies, where it is asked for and their
// records can be judged.
func (p Plan) addFairness(r *Report, samples []sample, reference int) {
	if !p.judgesFairness() {
		return
	}
	all := make([][]fairnessInput, len(samples))
	for i, s := range samples {
		if all[i] = fairnessInputs(s.records); all[i] == nil {
			r.warn("fairness is judged where all agents that count evaluate equally many designs and have regrets, which is not so here")
			return
		}
	}
	var names []string
	var alone [][]fairnessInput
	for i, s := range samples {
		if p.alone(s.spec) {
			names, alone = append(names, s.spec.String()), append(alone, all[i])
		}
	}
	for i, s := range samples {
		beside := all[reference]
		if i == reference {
			beside = nil
		}
		f := fairness(all[i], beside)
		if by := understated(s.spec, 0); by > 0 && countsIn(all[i], 0) {
			name, honest := p.honest(s.spec, samples, all)
			f.Understated = understatedOf(by, name, s.records, all[i], honest)
		}
		if len(alone) > 0 && !p.alone(s.spec) {
			f.Alone = bestAlone(all[i], names, alone)
		}
		f.Observed = observedRegretOf(s.records)
		r.Strategies[i].Fairness = f
	}
}

// honest finds the same strategy without the setting understate; "" when it is not in
// the plan.
func (p Plan) honest(s Spec, samples []sample, all [][]fairnessInput) (string, []fairnessInput) {
	s.Settings = slices.DeleteFunc(slices.Clone(s.Settings), func(x Setting) bool { return x.Key == understateKey })
	for i, other := range samples {
		if p.key(other.spec) == p.key(s) {
			return other.spec.String(), all[i]
		}
	}
	return "", nil
}
