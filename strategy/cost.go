package strategy

import (
	"errors"
	"fmt"
	"math"
)

// ErrBadCost means that a cost is not accepted.
var ErrBadCost = errors.New("cost is not accepted")

// CheckCost returns an error unless the cost is a finite number of 0 or more. Nil is an unknown cost.
// Error: ErrBadCost.
func CheckCost(cost *float64) error {
	if cost == nil || *cost >= 0 && !math.IsInf(*cost, 1) {
		return nil
	}
	return fmt.Errorf("%w: cost %g; expected a finite number of 0 or more", ErrBadCost, *cost)
}

// LargerCost returns the larger of two costs, of which nil is the smallest.
func LargerCost(a, b *float64) *float64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// Spending is what the evaluations of a node have cost.
type Spending struct {
	// Spent is the sum over the trials that have begun. An ended trial without a cost counts with Mean,
	// and a running one with the larger of its cost and Mean.
	Spent float64 `json:"spent"`
	// Mean is the mean of the known costs of ended trials; 0 if there are none.
	Mean float64 `json:"mean"`
	// Known is the number of trials with a cost.
	Known int `json:"known"`
}

// SpendingOf returns what the trials have cost. Imported trials do not count: other runs paid for
// them. An interrupted trial that waits counts with its cost.
func SpendingOf(trials []Trial) (s Spending) {
	ended, sum := 0, 0.0
	for i := range trials {
		t := &trials[i]
		if t.Why.Source == Imported || t.Cost == nil {
			continue
		}
		s.Known++
		if t.State.Ended() {
			ended++
			sum += *t.Cost
		}
	}
	if ended > 0 {
		s.Mean = sum / float64(ended)
	}
	for i := range trials {
		t := &trials[i]
		if t.Why.Source == Imported {
			continue
		}
		cost := 0.0
		if t.Cost != nil {
			cost = *t.Cost
		}
		if t.State == Running {
			cost = max(cost, s.Mean)
		} else if t.State.Ended() && t.Cost == nil {
			cost = s.Mean
		}
		s.Spent += cost
	}
	return s
}

// smallestCost is the fraction of the mean cost that smaller costs count as, for example zero.
const smallestCost = 1e-3

// LogCosts returns the logarithm of the cost of each trial with an outcome, and NaN for others. The
// costs of stopped and failed trials are those of a part of an evaluation. Costs below a thousandth of
// the mean count as this.
func LogCosts(trials []Trial) []float64 {
	logs := make([]float64, len(trials))
	mean, known := 0.0, 0.0
	for i := range trials {
		if trials[i].hasWholeCost() {
			known++
			mean += (*trials[i].Cost - mean) / known
		}
	}
	for i := range trials {
		switch {
		case !trials[i].hasWholeCost():
			logs[i] = math.NaN()
		case mean > 0:
			logs[i] = math.Log(max(*trials[i].Cost, smallestCost*mean))
		}
	}
	return logs
}

// CountCosts returns the number of trials with an outcome and a cost.
func CountCosts(trials []Trial) (count int) {
	for i := range trials {
		if trials[i].hasWholeCost() {
			count++
		}
	}
	return count
}

func (t *Trial) hasWholeCost() bool { return t.State == Done && t.Cost != nil }
