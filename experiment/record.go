package experiment

import (
	"encoding/json"
	"math"
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

	Goal    string  `json:"goal"`
	Seconds float64 `json:"seconds"`      // real
	Core    float64 `json:"core_seconds"` // of processors
	// Drawing is the processor seconds that making the federation took, in the one
	// record of the repeat that had to.
	Drawing float64 `json:"drawing_core_seconds"`
	// Memory is the most that this process had held until then, in bytes; 0 where
	// the operating system does not tell.
	Memory int64  `json:"memory,omitempty"`
	Build  string `json:"build"`
}

// MemberRecord is what became of one member. Regrets are noise-free and 0 or
// more, in the units of its objective.
type MemberRecord struct {
	Member      int      `json:"member"`
	Regret      []Number `json:"regret"`      // of each evaluated design, in order
	Recommended []Number `json:"recommended"` // of the recommended design, per checkpoint, at the end of the budget if that comes first; NaN when there is none
	PeerQueries int      `json:"peer_queries"`

	// Excess is by how much a design was better than what the family says is the
	// best possible; 0 when none was.
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

// simple returns the regret of the best design so far, after each evaluation.
func (m MemberRecord) simple() []float64 {
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
			curve[k] = 1 - simple[k]/first
		}
	}
	return curve
}

// cumulative returns the sum of the regrets so far.
func (m MemberRecord) cumulative() []float64 {
	sum := 0.0
	curve := make([]float64, len(m.Regret))
	for i, r := range m.Regret {
		sum += float64(r)
		curve[i] = sum
	}
	return curve
}

func (m MemberRecord) recommended() []float64 {
	curve := make([]float64, len(m.Recommended))
	for i, r := range m.Recommended {
		curve[i] = float64(r)
	}
	return curve
}

// complete tells whether the record is one of a plan of this size.
func (r Record) complete(p Plan) bool {
	for _, m := range r.Members {
		if len(m.Regret) < p.LeastEvaluations || len(m.Regret) > p.Evaluations || len(m.Recommended) != len(p.Checkpoints) {
			return false
		}
	}
	return len(r.Members) > 0
}
