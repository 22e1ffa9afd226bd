package experiment

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/fbo-node/fbo/strategy"
)

// Record is the result of one strategy on the federation of one repeat.
type Record struct {
	Repeat   int            `json:"repeat"`
	Strategy string         `json:"strategy"` // the spec with all defaults, see Plan.key
	Members  []MemberRecord `json:"members"`  // members that count

	// Deviation is the standard deviation of the members' noise-free objectives over the space,
	// averaged over members.
	Deviation float64 `json:"deviation"`
	// Noise is the standard deviation of the noise of evaluations, averaged over members.
	Noise float64 `json:"noise"`
	// Bytes is the number of bytes that a member of the federation sent, averaged over all members.
	Bytes float64 `json:"bytes"`

	// Observed is set for strategies with a roster, if all agents count.
	Observed *Observed `json:"observed,omitempty"`

	// ThompsonBound is set for runs of fts to which the theorem applies.
	ThompsonBound *ThompsonBound `json:"thompson_bound,omitempty"`

	// OneDesign is set if the plan requests it.
	OneDesign *OneDesignRecord `json:"one_design,omitempty"`

	// Warnings is the number of warnings of agents about other agents, if agent 0 understates.
	Warnings int `json:"warnings,omitempty"`

	// Infeasible is true if no design satisfies the constraints of these members. Regrets are then
	// replaced by violations without noise (task.Task.Violation), and Noise is that of the
	// constraints.
	Infeasible bool `json:"infeasible,omitempty"`

	Goal    string  `json:"goal"`
	Seconds float64 `json:"seconds"`      // elapsed time
	Core    float64 `json:"core_seconds"` // processor time
	// Drawing is the processor time in seconds for drawing the federation. Only one record of the
	// repeat has it; in the others it is 0.
	Drawing float64 `json:"drawing_core_seconds"`
	// Memory is the largest memory that this process had held until the end of the run, in bytes; 0
	// if the operating system does not report it.
	Memory int64  `json:"memory,omitempty"`
	Build  string `json:"build"`
}

// MemberRecord is the result of one member. Regrets are without noise, at least 0, and in the units
// of the member's objective. They are NaN for designs that are infeasible without noise.
type MemberRecord struct {
	Member             int      `json:"member"`
	Regret             []Number `json:"regret"`      // of each evaluated design, in order
	Recommended        []Number `json:"recommended"` // of the design recommended at each checkpoint, or at the end of the budget if that is earlier; NaN if none
	PeerInformedTrials int      `json:"peer_queries"`

	// PeerEffect is the effect of peers' shares on the member's predictions; nil if not measured.
	PeerEffect *strategy.PeerEffect `json:"peer_effect,omitempty"`

	// Name is family.Member.Name. If it is set, Deviation and Noise are the standard deviation of
	// the member's noise-free objective over the space, and that of its evaluations' noise.
	Name      string  `json:"name,omitempty"`
	Deviation float64 `json:"deviation,omitempty"`
	Noise     float64 `json:"noise,omitempty"`

	// The next fields are set if the task has constraints that can be satisfied.
	Violation            []Number `json:"violation,omitempty"`             // of each evaluated design, without noise; 0 if it is feasible
	Best                 []int    `json:"best,omitempty"`                  // after each evaluation, the number of the trial that a node would report as the best by its measurements; 0 if none
	RecommendedViolation []Number `json:"recommended_violation,omitempty"` // of the design recommended at each checkpoint; NaN if none
	Nothing              Number   `json:"nothing,omitempty"`               // the largest regret that counts; it also counts for infeasible designs

	// Excess is the amount by which a design was better than the family's stated optimum; 0 if none
	// was.
	Excess float64 `json:"excess,omitempty"`
}

// Number is a float64 whose JSON is null if it is NaN or infinite.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}

// held extends a member's curve beyond the end of its budget to the plan's number of evaluations,
// by repeating the last value.
func held(curve []float64, evaluations int) []float64 {
	for len(curve) < evaluations {
		curve = append(curve, curve[len(curve)-1])
	}
	return curve
}

// constrained reports whether the task has constraints that can be satisfied.
func (m MemberRecord) constrained() bool { return m.Violation != nil }

// count returns the regret with which a design counts: at most m.Nothing if there are constraints.
func (m MemberRecord) count(regret Number) float64 {
	if m.constrained() && !(regret < m.Nothing) {
		return float64(m.Nothing)
	}
	return float64(regret)
}

// simple returns the regret of the best design so far, after each evaluation. With constraints it
// is the regret of the design that a node would report as the best.
func (m MemberRecord) simple() []float64 {
	if m.constrained() {
		curve := make([]float64, len(m.Regret))
		for i, best := range m.Best {
			curve[i] = float64(m.Nothing)
			if best > 0 {
				curve[i] = m.count(m.Regret[best-1])
			}
		}
		return curve
	}
	best := math.Inf(1)
	curve := make([]float64, len(m.Regret))
	for i, r := range m.Regret {
		best = min(best, float64(r))
		curve[i] = best
	}
	return curve
}

// gap returns, after each evaluation, the fraction of the regret after the first `initial` designs
// that has been removed since: (y_init-y_best)/(y_init-f*) of Yue et al. (2023) and Al Kontar
// (2024). It is 0 before all initial designs are evaluated, and afterwards 1 if no regret remained.
func (m MemberRecord) gap(initial int) []float64 {
	curve := make([]float64, len(m.Regret))
	simple := m.simple()
	for k := initial - 1; k < len(curve); k++ {
		curve[k] = 1
		if first := simple[initial-1]; first > 0 {
			curve[k] = max(1-simple[k]/first, 0) // below 0 only if an infeasible design is reported as the best
		}
	}
	return curve
}

// cumulative returns the sum of regrets so far, after each evaluation.
func (m MemberRecord) cumulative() []float64 {
	sum := 0.0
	curve := make([]float64, len(m.Regret))
	for i, r := range m.Regret {
		sum += m.count(r)
		curve[i] = sum
	}
	return curve
}

func (m MemberRecord) recommended() []float64 {
	curve := make([]float64, len(m.Recommended))
	for i, r := range m.Recommended {
		curve[i] = float64(r)
		if m.constrained() && m.RecommendedViolation[i] > 0 {
			curve[i] = m.count(r)
		}
	}
	return curve
}

// nothing returns two indicators for each evaluation. The first is 1 if the reported design is not
// feasible or there is none. The second is 1 if the reported design is infeasible.
func (m MemberRecord) nothing() (nothing, mistaken []float64) {
	nothing, mistaken = make([]float64, len(m.Best)), make([]float64, len(m.Best))
	for i, best := range m.Best {
		switch {
		case best == 0:
			nothing[i] = 1
		case m.Violation[best-1] > 0:
			nothing[i], mistaken[i] = 1, 1
		}
	}
	return nothing, mistaken
}

// first returns the number of the evaluation of the first feasible design. It returns evaluations+1
// if there was none.
func (m MemberRecord) first(evaluations int) float64 {
	if i := slices.Index(m.Violation, 0); i >= 0 {
		return float64(i + 1)
	}
	return float64(evaluations + 1)
}

// consistent reports whether the fields for constraints have lengths and values that match the
// regrets.
func (m MemberRecord) consistent() bool {
	return len(m.Violation) == len(m.Regret) && len(m.Best) == len(m.Regret) && len(m.RecommendedViolation) == len(m.Recommended) &&
		!slices.ContainsFunc(m.Best, func(best int) bool { return best < 0 || best > len(m.Regret) })
}

// complete reports whether the record has the sizes that a run of the plan produces.
func (r Record) complete(p Plan) bool {
	for _, m := range r.Members {
		if len(m.Regret) < p.MinEvaluations || len(m.Regret) > p.Evaluations || len(m.Recommended) != len(p.Checkpoints) {
			return false
		}
		if m.constrained() && !m.consistent() {
			return false
		}
	}
	return len(r.Members) > 0
}
