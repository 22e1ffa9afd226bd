package experiment

import (
	"fmt"
	"math"
	"slices"

	"github.com/fbo-node/fbo/internal/sanitize"
)

// Ratios treat a regret as zero if it is below a millionth of the objective's standard deviation,
// which is rounding, or below a tenth of the noise's: who evaluates that well by chance cannot know
// it.
const (
	relativeFloor = 1e-6
	noiseFloor    = 0.1
)

// floor returns the regret below which differences have no meaning, for objectives with this
// deviation and noise. The family may set the smallest meaningful part of the deviation; that part
// does not apply to violations, which replace regrets in infeasible federations.
func (p Plan) floor(deviation, noise float64, infeasible bool) float64 {
	part := relativeFloor
	if !infeasible {
		part = max(part, p.Family.Floor)
	}
	return max(part*deviation, noiseFloor*noise, math.SmallestNonzeroFloat64)
}

// Report holds the results of a plan. Its JSON is the same on any number of cores, except build,
// command and keys for seconds or memory.
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
	Network           Network  `json:"network"`
	EvaluationSeconds float64  `json:"evaluation_seconds"` // on the virtual clock
	ResultsVersion    int      `json:"results_version"`
	Builds            []string `json:"builds"` // of this program, that made the runs
	Command           string   `json:"command"`

	// Control is a strategy or best-alone. That is another strategy at each checkpoint:
	// Controls has them, in the order of Checkpoints, and FirstControl that for
	// Feasibility.FirstRatio; Added has those that the plan did not name.
	Control      string   `json:"control"`
	Controls     []string `json:"controls,omitempty"`
	FirstControl string   `json:"first_feasible_control,omitempty"`
	Added        []string `json:"added_strategies,omitempty"`
	// Reference is the strategy with which is compared what is not of one checkpoint,
	// StrategyReport.Hit and Fairness: the control, or ts where that is best-alone.
	Reference string `json:"reference"`

	Checkpoints []int  `json:"checkpoints"`
	Confidence  Number `json:"confidence"`  // of each bound, one-sided
	Deviation   Number `json:"deviation"`   // of the noise-free objectives over the space, on average
	RatioFloor  Number `json:"ratio_floor"` // on average: regrets below count as this in ratios
	// RatioFloors are the least and the largest of which RatioFloor is the average.
	RatioFloors [2]Number `json:"ratio_floors"`
	CoreSeconds Number    `json:"core_seconds"` // of all runs in the report

	// DrawingCoreSeconds is the part of CoreSeconds that making the federations took.
	DrawingCoreSeconds Number `json:"drawing_core_seconds"`

	// Memory is the most that a process which made runs of these held, in bytes; 0 where the
	// operating system does not report it.
	Memory int64 `json:"memory_bytes"`

	// Constraints lists the constraints, as in "c1 at most 0".
	Constraints []string `json:"constraints,omitempty"`
	// Infeasible is true if no design can satisfy them: regrets are then violations without noise.
	Infeasible bool `json:"infeasible,omitempty"`

	// Unit is what standard errors and bounds are over: "federation", or "member" where
	// federations are drawn from the same members, each with the mean over its
	// federations. Units is how many there are.
	Unit  string `json:"unit"`
	Units int    `json:"units"`

	Strategies []StrategyReport `json:"strategies"`
	Warnings   []string         `json:"warnings,omitempty"`
}

// Network is sim.Network and Schedule in the words of the command line.
type Network struct {
	DelaySeconds  float64 `json:"delay_seconds"`
	JitterSeconds float64 `json:"jitter_seconds"`
	Loss          float64 `json:"loss"`
	Degree        int     `json:"degree"` // 0: all agents are connected

	JoinWithinSeconds float64 `json:"join_within_seconds"`
	MaxSlowdown       float64 `json:"max_slowdown"` // how many times EvaluationSeconds an evaluation lasts at most, agent by agent
	Straggler         float64 `json:"straggler"`    // how many times as long as that the last agent's last
	MinEvaluations    int     `json:"min_evaluations"`
	Churn             float64 `json:"churn"` // part of the time that an agent is away

	Parallel     int  `json:"parallel,omitempty"` // evaluations at a time; left out where it is 1
	Asynchronous bool `json:"asynchronous,omitempty"`

	Partitions []Partition `json:"partitions,omitempty"`
}

// Partition is a span of virtual time in which agents receive each other's shares only when their
// numbers leave the same remainder on division by Parts.
type Partition struct {
	FromSeconds  float64 `json:"from_seconds"`
	UntilSeconds float64 `json:"until_seconds"`
	Parts        int     `json:"parts"`
}

// networkOf describes in words of the command line the faults and adversaries of a plan, which is
// from Complete, beyond honest agents and a perfect network.
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

// StrategyReport is one strategy's part. Series have a number per evaluation, but
// Recommended one per checkpoint.
type StrategyReport struct {
	Strategy    string `json:"strategy"`
	OtherBuilds int    `json:"other_builds,omitempty"` // how many of its runs other builds of the program have made
	Simple      Series `json:"simple_regret"`
	Cumulative  Series `json:"cumulative_regret"`
	Recommended Series `json:"recommended_regret"`

	// Gap is the part of the regret after an agent's starting designs that has been
	// made good since, 0 to 1: (y_init-y_best)/(y_init-f*), noise-free. It is 0
	// before their end, and 1 from there on where they had no regret.
	Gap Series `json:"gap"`

	PeerInformedTrials Number `json:"peer_informed_trials"` // per counting agent
	BytesPerAgent      Number `json:"bytes_per_agent"`      // sent, on average over all agents
	Seconds            Number `json:"seconds"`              // real, of all its runs together
	CoreSeconds        Number `json:"core_seconds"`

	// Hit is after how many evaluations the mean regret is first at most what the
	// reference's is in the end; nil when never.
	Hit *int `json:"hit"`

	// HitHigh bounds Hit from above with the report's Confidence: it is the first number of
	// evaluations after which the regret is below the reference's final regret by more than its
	// margin, unit by unit. Nil when never.
	HitHigh *int `json:"hit_high"`

	// Feasibility is there where the task has constraints that can be kept.
	Feasibility *Feasibility `json:"feasibility,omitempty"`

	// Fairness is there where Plan.Fairness asks for it or a strategy of the plan has a
	// roster, if all agents that count evaluate equally many designs.
	Fairness *Fairness `json:"fairness,omitempty"`

	// PeerEffects is there where nodes measure the effect of peers' shares on predictions.
	PeerEffects *PeerEffects `json:"peer_effects,omitempty"`

	// Compared has the comparisons with the control; none for the control itself.
	Compared []Comparison `json:"compared,omitempty"`
}

// Feasibility holds how soon feasible designs were found. A design is feasible here if it is
// without noise. Shares, 0 to 1, are of all counting members of all federations.
type Feasibility struct {
	// NoFeasibleDesign is the share that reports no feasible design, after each evaluation,
	// and InfeasibleReported the part of it that reports an infeasible one.
	NoFeasibleDesign   []Number `json:"no_feasible_design"`
	InfeasibleReported []Number `json:"infeasible_reported"`

	// Recommended is the share whose recommended design is infeasible, per checkpoint.
	Recommended []Number `json:"recommended_infeasible"`

	// First is after how many evaluations a member had evaluated a feasible design:
	// quartiles, null when that is never.
	First [3]Number `json:"first"`
	// Never is the share that never had.
	Never Number `json:"never"`

	// FirstRatio is the geometric mean over the report's units of First/control's, a
	// federation's being the mean of its counting members' and never one evaluation
	// more than there are; each bound holds alone with the report's Confidence. Null
	// for the control.
	FirstRatio Number `json:"first_ratio"`
	FirstLow   Number `json:"first_ratio_low"`
	FirstHigh  Number `json:"first_ratio_high"`
}

// Series summarises regrets, or gaps. A federation's regret is the mean over its counting
// members; Mean, SE and Median are over the report's units, the others over all counting
// members of all federations.
type Series struct {
	Mean   []Number `json:"mean"`
	SE     []Number `json:"se"`
	Median []Number `json:"median"`

	AgentQ1     []Number `json:"agent_q1"`
	AgentMedian []Number `json:"agent_median"`
	AgentQ3     []Number `json:"agent_q3"`
}

// Comparison compares a strategy's simple regret with the control's, unit by unit of the report.
// Every bound holds alone with the report's Confidence.
type Comparison struct {
	Evaluations int    `json:"evaluations"`
	Ratio       Number `json:"ratio"` // geometric mean of strategy/control
	RatioLow    Number `json:"ratio_low"`
	RatioHigh   Number `json:"ratio_high"`
	Difference  Number `json:"difference"` // mean of strategy-control
	Upper       Number `json:"difference_high"`

	// OtherBuilds is true if the comparison includes runs of other builds of the program.
	OtherBuilds bool `json:"other_builds,omitempty"`

	// GapClosed is log(control/strategy)/log(control/pooled), by mean logarithms;
	// null unless pooled is among the strategies and better than the control.
	GapClosed Number `json:"gap_closed"`
}

// NewReport summarises what the store has of a plan, which is from Complete; all
// of it must be there. command is how to make it again.
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
	return r, nil
}

// records returns what the store has of each strategy, in the order of repeats.
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

// addControl adds the control at each checkpoint, if it differs.
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

// gapsClosed fills in how much of the control's distance to pooled each strategy
// makes good. Without comparisons pooled is the control.
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

// report fills in what concerns all strategies.
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
		Network:           networkOf(p),
		EvaluationSeconds: EvaluationTime.Seconds(),
		ResultsVersion:    resultsVersion,
		Control:           p.Control,
		Added:             p.added,
		Checkpoints:       p.Checkpoints,
		Confidence:        confidence,
		Infeasible:        samples[0].records[0].Infeasible,
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
