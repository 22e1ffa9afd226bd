package experiment

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/fbo-node/fbo/strategy"
)

// Record is one strategy's result on the federation of one repeat.
type Record struct {
	Repeat   int            `json:"repeat"`
	Strategy string         `json:"strategy"` // what the spec means, with all defaults
	Members  []MemberRecord `json:"members"`  // that count

	// Deviation is the standard deviation over the space of the noise-free
	// objectives of these members, on average.
	Deviation float64 `json:"deviation"`
	// Noise is the standard deviation of their evaluations' noise, on average.
	Noise float64 `json:"noise"`
	// Bytes is what a member of the federation sent, on average.
	Bytes float64 `json:"bytes"`

	// Observed is there for strategies with a roster, where all agents count.
	Observed *Observed `json:"observed,omitempty"`

	// Warnings is how often agents warned of one another where one understates.
	Warnings int `json:"warnings,omitempty"`

	// Infeasible is true if no design satisfies the constraints of these members. Regrets then are
	// violations (task.Task.Violation), without noise, and Noise is that of the constraints.
	Infeasible bool `json:"infeasible,omitempty"`

	Goal    string  `json:"goal"`
	Seconds float64 `json:"seconds"`      // real
	Core    float64 `json:"core_seconds"` // of processors
	// Drawing is the processor seconds that making the federation took, in the one
	// record of the repeat that had to.
	Drawing float64 `json:"drawing_core_seconds"`
	// Memory is the most that this process had held until then, in bytes; 0 where the operating
	// system does not report it.
	Memory int64  `json:"memory,omitempty"`
	Build  string `json:"build"`
}

// MemberRecord is what became of one member. Regrets are noise-free and 0 or
// more, in the units of its objective, and NaN for designs that are infeasible
// without noise.
type MemberRecord struct {
	Member             int      `json:"member"`
	Regret             []Number `json:"regret"`      // of each evaluated design, in order
	Recommended        []Number `json:"recommended"` // of the recommended design, per checkpoint, at the end of the budget if that comes first; NaN when there is none
	PeerInformedTrials int      `json:"peer_queries"`

	// PeerEffect is the effect of peers' shares on the member's predictions; nil where it is not measured.
	PeerEffect *strategy.PeerEffect `json:"peer_effect,omitempty"`

	// Name is family.Member.Name. With it go the standard deviation of its own objective
	// over the space, without noise, and that of its evaluations' noise.
	Name      string  `json:"name,omitempty"`
	Deviation float64 `json:"deviation,omitempty"`
	Noise     float64 `json:"noise,omitempty"`

	// These are there where the task has constraints that can be kept.
	Violation            []Number `json:"violation,omitempty"`             // of each evaluated design, without noise; 0 when it is feasible
	Best                 []int    `json:"best,omitempty"`                  // after each evaluation, the number of the one that a node would report as the best, by what it measured; 0 for none
	RecommendedViolation []Number `json:"recommended_violation,omitempty"` // per checkpoint; NaN when nothing is recommended
	Nothing              Number   `json:"nothing,omitempty"`               // the regret, at most, that counts for a design, and for none that is feasible

	// Excess is by how much a design was better than the family's stated optimum; 0 when none was.
	Excess float64 `json:"excess,omitempty"`
}

// Number is a float64 whose JSON is null where a number has no meaning.
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

// held continues a member's curve after the end of its budget, to the plan's number of
// evaluations, with what it was there.
func held(curve []float64, evaluations int) []float64 {
	for len(curve) < evaluations {
		curve = append(curve, curve[len(curve)-1])
	}
	return curve
}

// constrained reports whether designs can be infeasible, and others not.
func (m MemberRecord) constrained() bool { return m.Violation != nil }

// count returns what a regret counts as.
func (m MemberRecord) count(regret Number) float64 {
	if m.constrained() && !(regret < m.Nothing) {
		return float64(m.Nothing)
	}
	return float64(regret)
}

// simple returns the regret of the best design so far, after each evaluation; with
// constraints of the one that is reported as the best.
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

// gap returns which part of the regret after the first initial designs has been
// made good, after each evaluation: (y_init-y_best)/(y_init-f*) of Yue et al.
// (2023) and Al Kontar (2024). Before there is y_init it is 0; where nothing was
// left to gain, 1.
func (m MemberRecord) gap(initial int) []float64 {
	curve := make([]float64, len(m.Regret))
	simple := m.simple()
	for k := initial - 1; k < len(curve); k++ {
		curve[k] = 1
		if first := simple[initial-1]; first > 0 {
			curve[k] = max(1-simple[k]/first, 0) // less only where an infeasible design is reported
		}
	}
	return curve
}

// cumulative returns the sum of the regrets so far.
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

// nothing returns two indicators for each evaluation: nothing is 1 if no feasible design is
// reported, and mistaken is 1 if an infeasible one is.
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

// first returns which evaluation was the first of a feasible design, and one more than
// there could be when none was.
func (m MemberRecord) first(evaluations int) float64 {
	if i := slices.Index(m.Violation, 0); i >= 0 {
		return float64(i + 1)
	}
	return float64(evaluations + 1)
}

// consistent reports whether the values of constraints match the regrets.
func (m MemberRecord) consistent() bool {
	return len(m.Violation) == len(m.Regret) && len(m.Best) == len(m.Regret) && len(m.RecommendedViolation) == len(m.Recommended) &&
		!slices.ContainsFunc(m.Best, func(best int) bool { return best < 0 || best > len(m.Regret) })
}

// complete reports whether the record is one of a plan of this size.
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
