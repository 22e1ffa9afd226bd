package agent

import (
	"fmt"

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
// ones, and others are dropped. Repair also drops the notes of exchanges, which depend on each
// other, and records that the next start creates again.
func Repair(records []Record, complete int, strategies strategy.Set) (m Repaired, err error) {
	m.Keep = make([]bool, len(records))
	t, err := taskOf(records, strategies)
	if err != nil {
		return Repaired{}, err
	}
	table := newTrials(t)
	displaced := map[uint64]*TrialRecord{}           // copies
	annotations := map[uint64]strategy.Annotations{} // of displaced trials
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
		if trial.Imported == nil {
			continue
		}
		add := Record{Trial: &TrialRecord{ID: table.next(), Design: trial.Design, Why: trial.Why, Time: trial.Time, Imported: trial.Imported, Queued: trial.Queued}}
		if table.apply(add) == nil {
			m.Add, kept = append(m.Add, add), append(kept, add)
			m.Imported++
			if of := annotations[trial.ID]; strategy.HasAnnotations(of) {
				annotate := Record{Annotate: &AnnotateRecord{ID: add.Trial.ID, Annotations: of}}
				m.Add, kept = append(m.Add, annotate), append(kept, annotate)
			}
		}
	}
	m.History, err = ReadHistory(kept, strategies)
	return m, err
}
