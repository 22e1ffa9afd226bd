package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// In ratios, a regret below a floor counts as the floor. The floor is a millionth of the
// objective's standard deviation, which is the size of rounding errors, or a tenth of the noise's
// standard deviation: an agent cannot tell smaller regrets apart.
const (
	relativeFloor = 1e-6
	noiseFloor    = 0.1
)

// floor returns the regret below which differences have no meaning, for objectives with this
// standard deviation and noise. The family may set a larger floor, as a fraction of the standard
// deviation. That fraction does not apply to violations, which replace regrets in infeasible
// federations.
func (p Plan) floor(deviation, noise float64, infeasible bool) float64 {
	part := relativeFloor
	if !infeasible {
		part = max(part, p.Family.Floor)
	}
	return max(part*deviation, noiseFloor*noise, math.SmallestNonzeroFloat64)
}

// Report holds the results of a plan. Its JSON does not depend on the number of cores, except for
// the builds, the command, and keys for seconds and memory.
type Report struct {
	Family            string   `json:"family"`
	Goal              string   `json:"goal"`
	Agents            int      `json:"agents"`
	Counting          Number   `json:"counting_agents"` // per federation, on average
	Evaluations       int      `json:"evaluations"`
	Repeats           int      `json:"repeats"`
	Seed              uint64   `json:"seed"`
	Surrogate         string   `json:"surrogate"`
	Initial           int      `json:"initial_designs"`
	Dealt             bool     `json:"dealt_designs,omitempty"`
	Network           Network  `json:"network"`
	EvaluationSeconds float64  `json:"evaluation_seconds"` // duration of an evaluation on the virtual clock
	ResultsVersion    int      `json:"results_version"`
	Builds            []string `json:"builds"` // builds of this program that made the runs
	Command           string   `json:"command"`

	// Control is the name of a strategy, or best-alone. With best-alone the control may be another
	// strategy at each checkpoint: Controls has them in the order of Checkpoints, and FirstControl
	// is the one for Feasibility.FirstRatio. Added has the strategies that the plan did not name.
	Control      string   `json:"control"`
	Controls     []string `json:"controls,omitempty"`
	FirstControl string   `json:"first_feasible_control,omitempty"`
	Added        []string `json:"added_strategies,omitempty"`
	// Reference is the strategy for comparisons that are not at a single checkpoint,
	// StrategyReport.Hit and Fairness. It is the control, or ts if the control is best-alone.
	Reference string `json:"reference"`

	Checkpoints []int  `json:"checkpoints"`
	Confidence  Number `json:"confidence"`  // of each one-sided bound
	Deviation   Number `json:"deviation"`   // standard deviation of the noise-free objectives over the space, on average
	RatioFloor  Number `json:"ratio_floor"` // regrets below this count as this in ratios; mean over federations or members
	// RatioFloors are the smallest and the largest of the floors that RatioFloor averages.
	RatioFloors [2]Number `json:"ratio_floors"`
	CoreSeconds Number    `json:"core_seconds"` // processor time of all runs in the report

	// DrawingCoreSeconds is the part of CoreSeconds that was needed to draw the federations.
	DrawingCoreSeconds Number `json:"drawing_core_seconds"`

	// Memory is the largest memory that a process held while it made runs of this report, in bytes;
	// 0 if the operating system does not report it.
	Memory int64 `json:"memory_bytes"`

	// Objectives lists the objectives of tasks with several. A regret is then the missing part of the
	// largest hypervolume.
	Objectives []string `json:"objectives,omitempty"`
	// Constraints lists the constraints, as in "c1 at most 0".
	Constraints []string `json:"constraints,omitempty"`
	// Infeasible is true if no design can satisfy the constraints. Regrets are then replaced by
	// violations without noise.
	Infeasible bool `json:"infeasible,omitempty"`

	// Unit is the unit over which standard errors and bounds are computed: "federation", or
	// "member" if all federations are drawn from the same members. In that case a member's value is
	// the mean over its federations. Units is the number of units.
	Unit  string `json:"unit"`
	Units int    `json:"units"`

	Strategies []StrategyReport `json:"strategies"`
	Warnings   []string         `json:"warnings,omitempty"`
}

// Network describes sim.Network and Schedule with the names of the command line.
type Network struct {
	DelaySeconds  float64 `json:"delay_seconds"`
	JitterSeconds float64 `json:"jitter_seconds"`
	Loss          float64 `json:"loss"`
	Degree        int     `json:"degree"` // 0 means that all agents are connected

	JoinWithinSeconds float64 `json:"join_within_seconds"`
	MaxSlowdown       float64 `json:"max_slowdown"` // the largest duration of an agent's evaluations, divided by EvaluationSeconds
	Straggler         float64 `json:"straggler"`    // the additional factor for the duration of the last agent's evaluations
	MinEvaluations    int     `json:"min_evaluations"`
	Churn             float64 `json:"churn"` // fraction of the time in which an agent is disconnected

	Parallel     int  `json:"parallel,omitempty"` // evaluations at a time; omitted if it is 1
	Asynchronous bool `json:"asynchronous,omitempty"`

	Partitions []Partition `json:"partitions,omitempty"`
}

// Partition is a span of virtual time in which the network is divided. Agents then receive shares
// only from agents whose number has the same remainder when divided by Parts.
type Partition struct {
	FromSeconds  float64 `json:"from_seconds"`
	UntilSeconds float64 `json:"until_seconds"`
	Parts        int     `json:"parts"`
}

// networkOf describes how the network and the schedule of a plan differ from a perfect network. The
// plan must come from Complete.
func networkOf(p Plan) Network {
	n := Network{
		DelaySeconds:  p.Network.Delay.Seconds(),
		JitterSeconds: p.Network.Jitter.Seconds(),
		Loss:          p.Network.Loss,
		Degree:        p.Network.Degree,

		JoinWithinSeconds: p.JoinWithin.Seconds(),
		MaxSlowdown:       p.MaxSlowdown,
		Straggler:         p.Straggler,
		MinEvaluations:    p.MinEvaluations,
		Churn:             p.Churn,
		Asynchronous:      p.Asynchronous,
	}
	if p.Parallel > 1 {
		n.Parallel = p.Parallel
	}
	for _, cut := range p.Network.Partitions {
		n.Partitions = append(n.Partitions, Partition{cut.From.Seconds(), cut.Until.Seconds(), cut.Parts})
	}
	return n
}

// StrategyReport is the part of a report about one strategy. Each Series has one number per
// evaluation, except Recommended, which has one per checkpoint.
type StrategyReport struct {
	Strategy    string `json:"strategy"`
	OtherBuilds int    `json:"other_builds,omitempty"` // number of its runs that other builds of the program made
	Simple      Series `json:"simple_regret"`
	Cumulative  Series `json:"cumulative_regret"`
	Recommended Series `json:"recommended_regret"`

	// Gap is the fraction of the regret after an agent's starting designs that has been removed
	// since, 0 to 1: (y_init-y_best)/(y_init-f*), without noise. It is 0 before all starting
	// designs are evaluated, and 1 afterwards if they left no regret.
	Gap Series `json:"gap"`

	PeerInformedTrials Number `json:"peer_informed_trials"` // mean per counting agent
	BytesPerAgent      Number `json:"bytes_per_agent"`      // bytes sent, mean over all agents
	Seconds            Number `json:"seconds"`              // elapsed time of all its runs together
	CoreSeconds        Number `json:"core_seconds"`

	// Hit is the first number of evaluations after which the mean regret is at most the reference's
	// final mean regret; nil if that never happens.
	Hit *int `json:"hit"`

	// HitHigh is an upper bound of Hit with the report's Confidence. It is the first number of
	// evaluations after which the regret is significantly below the reference's final regret: the
	// mean difference over units exceeds its margin. Nil if that never happens.
	HitHigh *int `json:"hit_high"`

	// Feasibility is set if the task has constraints that can be satisfied.
	Feasibility *Feasibility `json:"feasibility,omitempty"`

	// Fairness is set if Plan.Fairness requests it or a strategy of the plan has a roster. All
	// counting agents must have the same number of evaluations.
	Fairness *Fairness `json:"fairness,omitempty"`

	// OneDesign is set if Plan.OneDesign requests it.
	OneDesign *OneDesign `json:"one_design,omitempty"`

	// ThompsonBound is set for strategy fts, if the theorem applies to all its runs.
	ThompsonBound *ThompsonBound `json:"thompson_bound,omitempty"`

	// PeerEffects is set if nodes measure the effect of peers' shares on their predictions.
	PeerEffects *PeerEffects `json:"peer_effects,omitempty"`

	// Compared has the comparisons with the control; empty for the control itself.
	Compared []Comparison `json:"compared,omitempty"`
}

// Feasibility reports how soon feasible designs were found. Feasible means feasible without noise.
// Shares, 0 to 1, are over all counting members of all federations.
type Feasibility struct {
	// NoFeasibleDesign is the share of members that report no feasible design, after each
	// evaluation. InfeasibleReported is the share of members that report an infeasible design; the
	// first includes the second.
	NoFeasibleDesign   []Number `json:"no_feasible_design"`
	InfeasibleReported []Number `json:"infeasible_reported"`

	// Recommended is the share of members whose recommended design is infeasible, per checkpoint.
	Recommended []Number `json:"recommended_infeasible"`

	// First has the quartiles of the number of evaluations until a member had evaluated a feasible
	// design. A quartile is null if it is never.
	First [3]Number `json:"first"`
	// Never is the share of members that never evaluated a feasible design.
	Never Number `json:"never"`

	// FirstRatio is the geometric mean over the report's units of the ratio to the control's First.
	// The value of a federation is the mean over its counting members. A member without a feasible
	// design counts as one evaluation more than there are. Each bound holds separately with the
	// report's Confidence. Null for the control.
	FirstRatio Number `json:"first_ratio"`
	FirstLow   Number `json:"first_ratio_low"`
	FirstHigh  Number `json:"first_ratio_high"`
}

// Series summarises regrets or gaps. Mean, SE and Median are over the report's units; the value of
// a federation is the mean over its counting members. The other fields are quartiles over all
// counting members of all federations.
type Series struct {
	Mean   []Number `json:"mean"`
	SE     []Number `json:"se"`
	Median []Number `json:"median"`

	AgentQ1     []Number `json:"agent_q1"`
	AgentMedian []Number `json:"agent_median"`
	AgentQ3     []Number `json:"agent_q3"`
}

// Comparison compares the simple regrets of a strategy and the control, paired by unit of the
// report. Each bound holds separately with the report's Confidence.
type Comparison struct {
	Evaluations int    `json:"evaluations"`
	Ratio       Number `json:"ratio"` // geometric mean of strategy divided by control
	RatioLow    Number `json:"ratio_low"`
	RatioHigh   Number `json:"ratio_high"`
	Difference  Number `json:"difference"` // mean of strategy minus control
	Upper       Number `json:"difference_high"`

	// OtherBuilds is true if the comparison includes runs of other builds of the program.
	OtherBuilds bool `json:"other_builds,omitempty"`

	// GapClosed is log(control/strategy)/log(control/pooled), computed from mean logarithms. It is
	// null unless pooled is among the strategies and better than the control.
	GapClosed Number `json:"gap_closed"`
}

// NewReport summarises the stored results of a plan, which must come from Complete. The store must
// have all of them. command is the command line that makes the report again.
func NewReport(p Plan, store *Store, command string) (Report, error) {
	all, err := p.records(store)
	if err != nil {
		return Report{}, err
	}
	units, err := newUnits(all)
	if err != nil {
		return Report{}, err
	}
	var samples []sample
	for i, s := range p.Strategies {
		one := sample{spec: s, initial: p.Initial, length: p.Evaluations, units: units}
		for _, record := range all[i] {
			one.add(p, record)
			if store.foreign(record) {
				one.foreign++
			}
		}
		samples = append(samples, one)
	}
	r := p.report(samples)
	r.Command = command
	for _, s := range samples {
		r.Strategies = append(r.Strategies, s.report())
	}
	control := p.control(samples)
	r.addControl(control)
	for i := range samples {
		r.Strategies[i].Hit = hit(r.Strategies[i].Simple.Mean, r.Strategies[control.reference].Simple.Mean)
		if i != control.reference {
			r.Strategies[i].HitHigh = hitHigh(samples[i].simple, samples[control.reference].simple, units)
		}
		r.Strategies[i].PeerEffects = samples[i].peerEffects(samples[control.reference])
		if !control.is(i) {
			r.Strategies[i].Compared = p.compare(samples[i], control)
			r.Strategies[i].Feasibility.compare(samples[i], control)
		}
	}
	if pooled := slices.IndexFunc(samples, func(s sample) bool { return s.spec.Name == pooledName }); pooled >= 0 {
		gapsClosed(r.Strategies, r.Strategies[pooled].Compared)
	}
	p.addFairness(&r, samples, control.reference)
	p.addOneDesign(&r, samples, control)
	return r, nil
}

// records returns the stored records of each strategy, in the order of repeats.
func (p Plan) records(store *Store) ([][]Record, error) {
	all := make([][]Record, len(p.Strategies))
	for i, s := range p.Strategies {
		for repeat := range p.Repeats {
			record, ok := store.get(repeat, p.key(s))
			if !ok {
				return nil, fmt.Errorf("repeat %d of %s is missing", repeat, s)
			}
			all[i] = append(all[i], record)
		}
	}
	return all, nil
}

// addControl sets the reference. If the control is best-alone, it also adds the control at each
// checkpoint.
func (r *Report) addControl(c control) {
	r.Reference = r.Strategies[c.reference].Strategy
	if len(c.candidates) == 1 {
		return
	}
	for _, t := range r.Checkpoints {
		r.Controls = append(r.Controls, c.at(t).spec.String())
	}
	if r.Strategies[0].Feasibility != nil {
		r.FirstControl = c.first().spec.String()
	}
}

func hit(mine, control []Number) *int {
	target := control[len(control)-1]
	if i := slices.IndexFunc(mine, func(m Number) bool { return m <= target }); i >= 0 {
		return new(i + 1)
	}
	return nil
}

func hitHigh(mine, control [][]float64, u units) *int {
	last := len(control[0]) - 1
	for k := range mine[0] {
		diffs := u.means(differences(column(mine, k), column(control, last)))
		if mean(diffs)+margin(diffs) <= 0 {
			return new(k + 1)
		}
	}
	return nil
}

func (p Plan) compare(s sample, c control) []Comparison {
	var all []Comparison
	for _, t := range p.Checkpoints {
		x, y := column(s.simple, t-1), column(c.at(t).simple, t-1)
		logs, diffs := s.units.means(logRatios(x, y, s.floors)), s.units.means(differences(x, y))
		all = append(all, Comparison{
			Evaluations: t,
			Ratio:       Number(math.Exp(mean(logs))),
			RatioLow:    Number(math.Exp(mean(logs) - margin(logs))),
			RatioHigh:   Number(math.Exp(mean(logs) + margin(logs))),
			Difference:  Number(mean(diffs)),
			Upper:       Number(mean(diffs) + margin(diffs)),
			OtherBuilds: s.foreign > 0 || c.foreign(),
			GapClosed:   Number(math.NaN()),
		})
	}
	return all
}

// gapsClosed sets GapClosed of each strategy: the fraction of the distance from the control to
// pooled that the strategy closes. Without comparisons pooled is the control.
func gapsClosed(all []StrategyReport, pooled []Comparison) {
	if pooled == nil {
		return
	}
	for _, s := range all {
		for k := range s.Compared {
			if pooled[k].Ratio < 1 {
				s.Compared[k].GapClosed = Number(math.Log(1/float64(s.Compared[k].Ratio)) / math.Log(1/float64(pooled[k].Ratio)))
			}
		}
	}
}

// report returns a Report with the fields that do not belong to a single strategy.
func (p Plan) report(samples []sample) Report {
	r := Report{
		Family:            p.Family.Name,
		Goal:              samples[0].records[0].Goal,
		Agents:            p.Agents,
		Evaluations:       p.Evaluations,
		Repeats:           p.Repeats,
		Seed:              p.Seed,
		Surrogate:         p.Surrogate.String(),
		Initial:           p.Initial,
		Dealt:             p.Dealt,
		Network:           networkOf(p),
		EvaluationSeconds: EvaluationTime.Seconds(),
		ResultsVersion:    resultsVersion,
		Control:           p.Control,
		Added:             p.added,
		Checkpoints:       p.Checkpoints,
		Confidence:        confidence,
		Infeasible:        samples[0].records[0].Infeasible,
	}
	for _, o := range p.Family.Objectives {
		r.Objectives = append(r.Objectives, fmt.Sprintf("%s %s", o.Goal, o.Name))
	}
	for _, c := range p.Family.Constraints {
		r.Constraints = append(r.Constraints, fmt.Sprintf("%s %s", c.Output, c))
	}
	var counting, deviations []float64
	for _, record := range samples[0].records {
		counting = append(counting, float64(len(record.Members)))
		deviations = append(deviations, record.Deviation)
	}
	r.Counting, r.Deviation = Number(mean(counting)), Number(mean(deviations))
	floors := samples[0].floors
	r.RatioFloor = Number(mean(floors))
	r.RatioFloors = [2]Number{Number(slices.Min(floors)), Number(slices.Max(floors))}
	runs, foreign, exceeded := 0, 0, 0
	for _, s := range samples {
		foreign += s.foreign
		for _, record := range s.records {
			r.DrawingCoreSeconds += Number(record.Drawing)
			r.CoreSeconds += Number(record.Core + record.Drawing)
			r.Memory = max(r.Memory, record.Memory)
			runs++
			if !slices.Contains(r.Builds, record.Build) {
				r.Builds = append(r.Builds, record.Build)
			}
			for _, m := range record.Members {
				if m.Excess > relativeFloor*record.Deviation {
					exceeded++
				}
			}
		}
	}
	slices.Sort(r.Builds)
	if exceeded > 0 {
		r.warn("an agent found a better design than the optimum that the family states, %s; its regret counts as 0", sanitize.Count(exceeded, "time"))
	}
	if foreign > 0 {
		r.warn("rows marked with %s use runs that other builds of this program have made, %d of %d in all, which may compute differently; so does what is compared with these rows; without --other-builds such runs are made anew", foreignMark, foreign, runs)
	}
	samples[0].units.describe(&r)
	return r
}

func (r *Report) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}
