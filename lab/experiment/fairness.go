package experiment

import (
	"math"
	"slices"
)

// judgeRho determines the weights for measuring inequality, whatever weights a strategy has itself:
// w_i is proportional to judgeRho^(i-1), as in the experiments of Sim et al.
const judgeRho = 0.2

// Fairness holds measures of how regret is distributed over the counting agents (Sim et al.,
// Collaborative Bayesian Optimization with Fair Regret (2021), section 5 and appendix C.5). An
// agent's reward for its t-th evaluation is the noise-free value f of its t-th design, starting
// designs included; larger is better. U_t^i is the sum of the first t rewards of agent i, n the
// number of agents, f* the optimum, and T the number of evaluations.
//
// All measures are computed from regrets f* - f. If all agents have one common function, f*
// cancels. If they have functions of their own, each agent's rewards are counted from its own
// optimum. That is an extension: the paper has one function only.
//
// The control of these measures is the report's Reference.
type Fairness struct {
	// RegretPerParty is R_T/n, the mean over agents of the sum of an agent's regrets.
	RegretPerParty Estimate `json:"regret_per_party"`
	// Unfairness is the mean over t of ΣU_t^i/n - Σw_i φ_i(U_t), in the objective's units. φ sorts
	// the agents' sums in ascending order, and w_i is proportional to 0.2^(i-1), with sum 1. It is
	// 0 if all agents have the same sums.
	Unfairness Estimate `json:"unfairness"`
	// FairRegret is S_T (equation 2) with the same weights: the sum over t of Σw_i φ_i(U_(t-1)+f*)
	// - Σw_i φ_i(U_t). The sum telescopes. As the weights sum to 1, it equals the largest possible
	// T·f* minus Σw_i φ_i(U_T).
	FairRegret Estimate `json:"fair_regret"`

	// Agents has the sum of regrets of each agent that counts in all federations.
	Agents []AgentRegret `json:"agents"`

	// Worst and Median are curves of simple regret and of the sum of regrets after each evaluation.
	// Worst takes the largest of each over all agents of all federations, separately. Median takes
	// the median over federations of the median over agents (appendix C.5).
	Worst  Frontier `json:"worst"`
	Median Frontier `json:"median"`

	// Rationality compares agents with themselves under the control; nil for the control itself.
	Rationality *Rationality `json:"rationality,omitempty"`

	// Alone compares with all strategies of the plan that use no peer information; nil for these
	// strategies, and if there are none.
	Alone *BestAlone `json:"best_alone,omitempty"`

	// Observed holds S'_T and its bound; nil for strategies without a roster.
	Observed *ObservedRegret `json:"observed,omitempty"`

	// Understated is not nil if agent 0 shares values that are worse than measured.
	Understated *Understated `json:"understated,omitempty"`
}

// Estimate holds a mean over federations, and the mean difference from the control, paired by
// federation. Each bound of the difference holds separately with the report's Confidence.
// Differences are null for the control itself.
type Estimate struct {
	Mean       Number `json:"mean"`
	SE         Number `json:"se"`
	Difference Number `json:"difference"`
	Low        Number `json:"difference_low"`
	High       Number `json:"difference_high"`
}

// AgentRegret is the sum of regrets of one agent, over all federations.
type AgentRegret struct {
	Agent  int      `json:"agent"` // from 0
	Regret Estimate `json:"regret"`
}

// Frontier holds the simple regret reached and the sum of regrets paid for it, one number each per
// evaluation.
type Frontier struct {
	Cumulative []Number `json:"cumulative_regret"`
	Simple     []Number `json:"simple_regret"`
	// DominatedShare is the share of evaluations at which the curve is no worse than the control's:
	// the control, with no larger a sum of regrets, has no smaller simple regret. Only evaluations
	// with a sum inside the range of the control's sums count. It is null for the control, and if
	// no evaluation counts.
	DominatedShare Number `json:"dominated_share"`
}

// Rationality reports whether agents are better off than with the control, which should be a
// strategy without peer information. An agent has a reason to take part if its simple regret is
// smaller for the same sum of regrets (appendix C.5).
type Rationality struct {
	// Lower is the share of agents, over all federations, whose simple regret is lower than with
	// the control. The comparison is at the largest sum of regrets that both have reached. Equal is
	// the share with the same simple regret.
	Lower Number `json:"lower"`
	Equal Number `json:"equal"`
	// LowerLow and LowerHigh are Wilson's bounds of Lower, each with the report's Confidence. Their
	// number of observations is the number of federations, not of agents, which makes the bounds
	// wide rather than narrow: a share of agents varies no more than a single coin toss.
	LowerLow  Number `json:"lower_low"`
	LowerHigh Number `json:"lower_high"`
	// DominatedShare is the mean over agents of Frontier.DominatedShare, each agent compared with
	// itself under the control. Agents without a value are left out.
	DominatedShare Number `json:"dominated_share"`
}

// BestAlone holds the share of agents that do better than with the best of several strategies
// without peers.
type BestAlone struct {
	Strategies []string `json:"strategies"` // the strategies, which use no peer information
	// Lower is the share of agents, over all federations, whose final simple regret is lower than
	// theirs with each of Strategies. LowerLow and LowerHigh are Wilson's bounds as in Rationality.
	// The comparison favours the strategies without peers: the best of them is chosen for each
	// agent after the fact, which no agent could do.
	Lower     Number `json:"lower"`
	LowerLow  Number `json:"lower_low"`
	LowerHigh Number `json:"lower_high"`
}

// Understated compares a strategy in which agent 0 shares values that are worse than measured with
// the same strategy without that setting (Honest). Agent and Others hold sums of regrets in the
// objective's units, of agent 0 and on average of the other agents. Differences are from Honest, if
// the plan has it.
type Understated struct {
	By     Number   `json:"by"`
	Honest string   `json:"honest,omitempty"`
	Agent  Estimate `json:"agent"`
	Others Estimate `json:"others"`
	// Detected is the share of federations in which an agent warned of another agent.
	Detected Number `json:"detected"`
}

// judgeWeights returns weights for n agents, with sum 1; the first is for the agent with the
// smallest reward.
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

// welfare returns W(u) = Σ w_i φ_i(u), where φ sorts u in ascending order (equation 4).
func welfare(weights, u []float64) float64 {
	sum := 0.0
	for i, v := range slices.Sorted(slices.Values(u)) {
		sum += weights[i] * v
	}
	return sum
}

// fairnessInput holds the data of one federation from which fairness is measured. cumulative and
// simple hold sums of regrets and simple regrets after each evaluation, a row per counting agent.
type fairnessInput struct {
	agents             []int
	cumulative, simple [][]float64
}

// losses returns the agents' sums of regrets after t evaluations.
func (j fairnessInput) losses(t int) []float64 { return column(j.cumulative, t-1) }

func (j fairnessInput) evaluations() int { return len(j.cumulative[0]) }

func (j fairnessInput) regretPerParty() float64 { return mean(j.losses(j.evaluations())) }

// unfairness returns the mean over t of the mean reward minus the welfare. Rewards U_t^i are T·f*
// minus losses, and T·f* cancels.
func (j fairnessInput) unfairness(weights []float64) float64 {
	sum := 0.0
	for t := 1; t <= j.evaluations(); t++ {
		gains := negated(j.losses(t))
		sum += mean(gains) - welfare(weights, gains)
	}
	return sum / float64(j.evaluations())
}

// fairRegret returns S_T. Counted from t·f*, the rewards U_(t-1)+f* are the negated losses after
// t-1 evaluations. The sum over t telescopes, so only its last term remains.
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

// judge returns the input for fairness of a record. It returns nil if agents have different numbers
// of evaluations, or if no design can be feasible, because there are no regrets then.
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

// fairnessInputs returns the inputs of all records, or nil if one of them has none.
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

// each returns one number per federation.
func each(all []fairnessInput, number func(j fairnessInput) float64) []float64 {
	numbers := make([]float64, len(all))
	for i, j := range all {
		numbers[i] = number(j)
	}
	return numbers
}

// estimate summarises x, one number per federation; control is nil for the control itself.
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

// estimateOf is estimate with a function that computes the number of each federation.
func estimateOf(all, control []fairnessInput, number func(j fairnessInput) float64) Estimate {
	if control == nil {
		return estimate(each(all, number), nil)
	}
	return estimate(each(all, number), each(control, number))
}

// fairness returns the measures over at least one federation; control is nil for the control
// itself.
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

// ofAgent returns the function that computes the sum of regrets of one counting agent.
func ofAgent(agent int) func(j fairnessInput) float64 {
	return func(j fairnessInput) float64 { return j.losses(j.evaluations())[slices.Index(j.agents, agent)] }
}

// ofOthers returns the function that computes the mean sum of regrets of all agents but one.
func ofOthers(agent int) func(j fairnessInput) float64 {
	return func(j fairnessInput) float64 {
		losses := j.losses(j.evaluations())
		if i := slices.Index(j.agents, agent); i >= 0 {
			losses = slices.Delete(losses, i, i+1)
		}
		return mean(losses)
	}
}

// frontier summarises the agents of each federation by one function, and the federations by
// another.
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

// reached returns the simple regret reached with a sum of regrets of at most `most`. It is infinite
// if the first evaluation already exceeds that.
func reached(cumulative, simple []float64, most float64) float64 {
	best := math.Inf(1)
	for k, sum := range cumulative {
		if sum <= most {
			best = simple[k]
		}
	}
	return best
}

// dominatedShare returns the share of evaluations whose simple regret is no larger than the other's
// for the same sum of regrets. Only evaluations with a sum between the other's first and last
// count. It returns NaN if no evaluation counts.
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

// rationality compares agent by agent and federation by federation with the control.
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

// bestAlone compares final simple regrets with those of the strategies in alone, of which there is
// at least one.
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

// understatedOf compares a strategy in which agent 0 understates with the same strategy without.
// honest is nil if the plan does not have the latter.
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

// judgesFairness reports whether reports of the plan have Fairness.
func (p Plan) judgesFairness() bool {
	return p.Fairness || slices.ContainsFunc(p.Strategies, func(s Spec) bool { return p.registrationOf(s).Roster })
}

// addFairness sets Fairness of all strategies, if the plan reports it and the records allow it.
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

// honest returns the name and the inputs of the same strategy without the setting understate. The
// name is "" if the plan does not have it.
func (p Plan) honest(s Spec, samples []sample, all [][]fairnessInput) (string, []fairnessInput) {
	s.Settings = slices.DeleteFunc(slices.Clone(s.Settings), func(x Setting) bool { return x.Key == understateKey })
	for i, other := range samples {
		if p.key(other.spec) == p.key(s) {
			return other.spec.String(), all[i]
		}
	}
	return "", nil
}
