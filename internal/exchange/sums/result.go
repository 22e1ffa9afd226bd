package sums

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// Sum is the sum of the peers' vectors in one round. The contribution of the node itself is
// subtracted.
type Sum struct {
	Round        int       `json:"round"`        // from 1
	Contributors int       `json:"contributors"` // number of peers
	Observations int       `json:"observations"` // number of the peers' observations
	Values       []float64 `json:"-"`            // of the length Statistic.Numbers
}

// Result is the value of the exchange's Result in View.Results, under the name Kind.
type Result struct {
	Sums        []Sum  // in order of rounds; those of peers only
	Contributed int    // number of own observations in contributions
	Failed      int    // number of rounds of this run without a sum
	Reason      string // reason of the latest failure; empty without one
	Refused     string // reason why this node contributes nothing more; empty if it does
}

// Of returns the sums of a view, in order of rounds. The caller must not change them.
func Of(view strategy.View) []Sum {
	result, _ := strategy.ResultOf[Result](view, Kind)
	return result.Sums
}

// Status implements strategy.StatusReporter.
func (r Result) Status() []strategy.StatusItem {
	observations := 0
	for _, s := range r.Sums {
		observations += s.Observations
	}
	counts := sumCounts{Known: len(r.Sums), Observations: observations, Contributed: r.Contributed, Failed: r.Failed, Reason: r.Reason, Refused: r.Refused}
	item := strategy.StatusItem{
		Key: "sums", Label: "sums", Value: counts,
		Text: fmt.Sprintf("%d known with %s of peers; %s contributed", counts.Known,
			sanitize.Count(observations, "observation"), sanitize.Count(r.Contributed, "own observation")),
	}
	if r.Failed > 0 {
		item.Text += fmt.Sprintf("; %s without a sum in this run, the last: %s", sanitize.Count(r.Failed, "round"), r.Reason)
	}
	if r.Refused != "" {
		item.Text += "; this node contributes nothing more: " + r.Refused
	}
	if counts.Known+counts.Contributed+counts.Failed > 0 {
		item.Notice = "sums without noise: " + item.Text
	}
	return []strategy.StatusItem{item}
}

// sumCounts is the value of the status item "sums".
type sumCounts struct {
	Known        int    `json:"known"`            // sums of all runs
	Observations int    `json:"observations"`     // of peers, in these sums
	Contributed  int    `json:"contributed"`      // own observations
	Failed       int    `json:"failed"`           // rounds of this run without a sum
	Reason       string `json:"reason,omitempty"` // of the latest of these
	Refused      string `json:"refused,omitempty"`
}
