package agent

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/curves"
	"github.com/fbo-node/fbo/strategy"
)

// Repaired holds the result of Repair.
type Repaired struct {
	Keep     []bool   // for each record of the damaged journal, whether it is kept
	Add      []Record // records to append after the kept ones
	Imported int      // number of trials in Add, of which only design and outcome remain
	Dropped  int      // number of records that are dropped, since they are invalid without the missing ones
	History  History  // history of the repaired journal
}

// Repair determines which records of a journal remain valid if some are missing. The first records,
// as many as complete, have no gap and must be valid; any number may be missing after them.
//
// After a gap trials cannot keep their numbers. Displaced trials with an outcome become imported
// ones, stopped ones get new numbers, and others are dropped. Repair also drops the notes of
// exchanges, which depend on each other, and records that the next start creates again.
func Repair(records []Record, complete int, strategies strategy.Set) (m Repaired, err error) {
	m.Keep = make([]bool, len(records))
	t, err := taskOf(records, strategies)
	if err != nil {
		return Repaired{}, err
	}
	table := newTrials(t)
	displaced := map[uint64]*TrialRecord{}           // copies
	annotations := map[uint64]strategy.Annotations{} // of displaced trials
	costs := map[uint64]*float64{}                   // of displaced trials
	values := map[uint64]curves.Curve{}              // by step, of displaced trials
	stops := map[uint64][]Record{}                   // StopTrial and Stopped, of displaced trials
	var kept []Record
	var order []*TrialRecord
	for i, r := range records {
		keep := true
		switch {
		case i < complete:
			if err := table.apply(r); err != nil {
				return Repaired{}, fmt.Errorf("journal record %d: %w", i+1, err)
			}
		case r.Task != nil, r.Epoch != nil, r.Sent != nil:
		case r.Note != nil, r.Fit != nil, r.Reply != nil, r.Stop != nil:
			keep = false
		case r.Trial != nil && r.Trial.ID > table.next():
			trial := *r.Trial
			displaced[trial.ID], order, keep = &trial, append(order, &trial), false
		case r.Tell != nil && displaced[r.Tell.ID] != nil:
			displaced[r.Tell.ID].Imported, keep = &r.Tell.Outcome, false
		case r.Annotate != nil && displaced[r.Annotate.ID] != nil:
			annotations[r.Annotate.ID], keep = r.Annotate.Annotations, false
		case r.Cost != nil && displaced[r.Cost.ID] != nil:
			costs[r.Cost.ID], keep = &r.Cost.Cost, false
		case r.Steps != nil && displaced[r.Steps.ID] != nil:
			if curve := values[r.Steps.ID]; r.Steps.From <= len(curve) {
				values[r.Steps.ID] = append(curve[:r.Steps.From:r.Steps.From], r.Steps.Steps...)
			}
			keep = false
		case r.StopTrial != nil && displaced[r.StopTrial.ID] != nil:
			stops[r.StopTrial.ID], keep = append(stops[r.StopTrial.ID], r), false
		case r.Stopped != nil && displaced[r.Stopped.ID] != nil:
			stops[r.Stopped.ID], keep = append(stops[r.Stopped.ID], r), false
		default:
			keep = table.apply(r) == nil
		}
		if m.Keep[i] = keep; keep {
			kept = append(kept, r)
		} else {
			m.Dropped++
		}
	}
	for _, trial := range order {
		id := table.next()
		add := []Record{{Trial: &TrialRecord{ID: id, Design: trial.Design, Why: trial.Why, Time: trial.Time, Imported: trial.Imported, Queued: trial.Queued}}}
		add = append(add, stepsRecords(id, values[trial.ID], 0)...)
		stopped := false
		for _, r := range stops[trial.ID] {
			if r.StopTrial != nil {
				r = Record{StopTrial: &StopTrialRecord{ID: id, Stop: r.StopTrial.Stop}}
			} else {
				r, stopped = Record{Stopped: &StoppedRecord{ID: id, Time: r.Stopped.Time}}, true
			}
			add = append(add, r)
		}
		if of := annotations[trial.ID]; strategy.HasAnnotations(of) {
			add = append(add, Record{Annotate: &AnnotateRecord{ID: id, Annotations: of}})
		}
		if cost := costs[trial.ID]; cost != nil {
			add = append(add, Record{Cost: &CostRecord{ID: id, Cost: *cost}})
		}
		if trial.Imported == nil && !stopped {
			continue
		}
		for _, r := range add {
			if table.apply(r) == nil {
				m.Add, kept = append(m.Add, r), append(kept, r)
			}
		}
		if table.next() > id {
			m.Imported++
		}
	}
	m.History, err = ReadHistory(kept, strategies)
	return m, err
}
