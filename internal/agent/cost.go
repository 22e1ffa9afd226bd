package agent

import (
	"fmt"

	"github.com/fbo-node/fbo/strategy"
)

// CostRecord holds the cost of a trial. Only the newest of a trial is kept, which is the largest.
type CostRecord struct {
	ID   uint64  `json:"id"`
	Cost float64 `json:"cost"`
}

// ReportCost reports what the evaluation of a trial in any state has cost so far. The largest reported
// cost counts, and nil changes nothing. Errors: ErrUnknownTrial, strategy.ErrBadCost.
func (a *Agent) ReportCost(id uint64, cost *float64) error {
	trial, err := a.trials.get(id)
	if err == nil {
		err = checkCost(id, cost)
	}
	if err == nil && strategy.LargerCost(trial.Cost, cost) != trial.Cost {
		a.record(Record{Cost: &CostRecord{ID: id, Cost: *cost}})
	}
	return err
}

func checkCost(id uint64, cost *float64) error {
	if err := strategy.CheckCost(cost); err != nil {
		return fmt.Errorf("trial %d: %w", id, err)
	}
	return nil
}

func (t *trials) cost(r CostRecord) error {
	trial, err := t.get(r.ID)
	if err == nil {
		err = checkCost(r.ID, &r.Cost)
	}
	if err != nil {
		return err
	}
	if trial.Cost == nil && trial.State == strategy.Done {
		t.costs++
	}
	t.shown, trial.Cost = nil, &r.Cost
	return nil
}
