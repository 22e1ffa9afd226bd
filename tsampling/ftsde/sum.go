package ftsde

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/fbo-node/fbo/internal/privacy/ledger"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// Sum is the result of a round of private sums: the average of the contributors' weights for each
// cell, and the noise on it.
type Sum struct {
	Round        int         `json:"round"`
	Contributors int         `json:"contributors"`
	Observations int         `json:"observations"` // number of observations at which the round is due (dueAt)
	Weights      [][]float64 `json:"weights"`      // by cell, over the shared features; zeros if the sum has no information on the cell
	Noise        []float64   `json:"noise"`        // by cell, standard deviation on each weight
}

// Result is the value of the exchange's Result in View.Results, under the name
// protocol.AggregateKind.
type Result struct {
	ledger.State
	Sums   []Sum  `json:"-"` // in order of their rounds
	Failed int    `json:"failed"`
	Reason string `json:"reason,omitempty"` // reason of the latest failure
}

// Status implements strategy.StatusReporter.
func (r Result) Status() []strategy.StatusItem {
	sums := strategy.StatusItem{
		Key:   "sums",
		Label: "sums",
		Value: sumCounts{Known: len(r.Sums), Failed: r.Failed, Reason: r.Reason},
		Text:  fmt.Sprintf("%d known", len(r.Sums)),
	}
	if r.Failed > 0 {
		sums.Text += fmt.Sprintf(", %s without one in this run; the last: %s", sanitize.Count(r.Failed, "round"), r.Reason)
	}
	if len(r.Sums)+r.Failed > 0 {
		sums.Notice = "private sums: " + sums.Text
	}
	return []strategy.StatusItem{strategy.PrivacyItem(r.State), sums}
}

// sumCounts is the value of the status item "sums".
type sumCounts struct {
	Known  int    `json:"known"`            // sums of all runs
	Failed int    `json:"failed"`           // rounds of this run without a sum
	Reason string `json:"reason,omitempty"` // of the latest of these
}

// average sets Contributors, Weights and Noise of a round. units is the round's sum, in the integer
// units of the ledger. members has the number of contributors that explore each cell. other is the
// scale of a contribution to cells other than the contributor's own.
func (s Sum) average(terms ledger.Terms, units []int64, members []int, other float64) Sum {
	for _, n := range members {
		s.Contributors += n
	}
	weights := terms.Weights(units)
	features := len(weights) / len(members)
	honest := terms.Clip / math.Sqrt(float64(len(members)))
	for cell, own := range members {
		scale := float64(own) + float64(s.Contributors-own)*other
		part := weights[cell*features : (cell+1)*features]
		for i := range part {
			part[i] /= scale
		}
		noise := terms.Sigma * math.Sqrt(float64(s.Contributors)) / scale
		ofNoise := noise * math.Sqrt(float64(features))
		Shorten(part, honest+farNoise*ofNoise)
		if ofNoise > drowned*honest {
			clear(part)
		}
		s.Weights = append(s.Weights, part)
		s.Noise = append(s.Noise, noise)
	}
	return s
}

// farNoise limits the norm of an average, in typical norms of its noise, beyond the norm of an
// honest average. An average with a larger norm must be poisoned and is scaled down to the limit.
const farNoise = 4

// drowned is the largest ratio of the noise's norm to that of an honest average at which an average
// is used. A cell without own contributors in an early round exceeds it. Its weights then carry no
// information and are set to zero.
const drowned = 100

// Shorten scales v down to a Euclidean norm of at most limit.
func Shorten(v []float64, limit float64) {
	square := 0.0
	for _, x := range v {
		square += x * x
	}
	if norm := math.Sqrt(square); norm > limit {
		for i := range v {
			v[i] *= limit / norm
		}
	}
}

func (s Sum) encode() []byte {
	data, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("ftsde: %v", err)) // all numbers are finite
	}
	return data
}
