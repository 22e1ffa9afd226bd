package fair

import (
	"fmt"
	"strconv"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/strategy"
)

// totals returns the reward of each party relative to the mean, in units of the objective: the sum
// over the party's results of the difference to the mean of all results. Larger is better. Failed
// and imported evaluations are left out.
func (e *Exchange) totals() []float64 {
	mean, count := 0.0, 0
	for _, list := range e.book.entries {
		for _, entry := range list {
			if entry.isGain() {
				count++
				mean += (*entry.Value - mean) / float64(count)
			}
		}
	}
	totals := make([]float64, len(e.roster))
	for party, list := range e.book.entries {
		for _, entry := range list {
			if entry.isGain() {
				totals[party] += *entry.Value - mean
			}
		}
	}
	return totals
}

// Reward is the cumulative reward of one party, in the objective's units. It leaves out failed and
// imported evaluations.
type Reward struct {
	Party       peer.ID `json:"party"`
	Evaluations int     `json:"evaluations"`
	Sum         float64 `json:"sum"`
	Best        float64 `json:"best"` // best result; 0 if there is none
	// RelativeToMean is the sum over the party's results of the difference to the mean of all
	// results. Larger values are better, whatever the goal.
	RelativeToMean float64 `json:"relative_to_mean"`
	// Alone is the estimated reward of the party without peers; nil while it is not known.
	Alone *Estimate `json:"alone,omitempty"`
}

// Estimate is the reward of a party without peers that a model of the objective predicts, in the
// objective's units.
type Estimate struct {
	Evaluations int     `json:"evaluations"` // the estimate covers this number of the party's first evaluations
	Sum         float64 `json:"sum"`
	Best        float64 `json:"best"`       // best outcome
	ActualSum   float64 `json:"actual_sum"` // sum of the party's actual outcomes of these evaluations
}

// rewards returns the rewards that this node knows. The mediator, and every node if there is no
// mediator, knows those of all parties. Other nodes know only their own.
func (e *Exchange) rewards() (all []Reward) {
	totals := e.totals()
	for party, list := range e.book.entries {
		if !e.chooses() && party != e.self {
			continue
		}
		r := Reward{Party: e.roster[party], RelativeToMean: totals[party]}
		if !e.chooses() {
			r.RelativeToMean = e.against
		}
		if party == e.self {
			r.Alone = e.estimate.latest
		}
		for _, entry := range list {
			if !entry.isGain() {
				continue
			}
			value := e.task.Goal.Sign() * *entry.Value
			if r.Evaluations == 0 || e.task.Goal.Sign()*(value-r.Best) > 0 {
				r.Best = value
			}
			r.Evaluations++
			r.Sum += value
		}
		all = append(all, r)
	}
	return all
}

// Status implements strategy.StatusReporter. It returns one item: a table of the rewards of the
// parties, and the estimate of this node's reward without peers as text.
func (r Round) Status() []strategy.StatusItem {
	if len(r.rewards) == 0 {
		return nil
	}
	item := strategy.StatusItem{
		Key:   "rewards",
		Label: "rewards",
		Value: r.rewards,
		Rows:  [][]string{{"party", "evaluations", "best", "sum", "better than average by"}},
	}
	for _, reward := range r.rewards {
		name := "…" + strategy.ShortID(reward.Party)
		if reward.Party == r.self {
			name += " (this node)"
			item.Text = reward.Alone.text()
		}
		best := "-"
		if reward.Evaluations > 0 {
			best = number(reward.Best)
		}
		item.Rows = append(item.Rows, []string{name, strconv.Itoa(reward.Evaluations), best, number(reward.Sum), fmt.Sprintf("%+.6g", reward.RelativeToMean)})
	}
	return []strategy.StatusItem{item}
}

// text describes the estimate for people. It returns an empty string for nil.
func (e *Estimate) text() string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf("alone this node would have reached a sum of about %s, best %s, in its first %s (an estimate from the model); its sum of as many is %s",
		number(e.Sum), number(e.Best), sanitize.Count(e.Evaluations, "evaluation"), number(e.ActualSum))
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
