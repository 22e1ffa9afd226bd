package store

import (
	"time"

	"github.com/fbo-node/fbo/internal/agent"
	"github.com/fbo-node/fbo/internal/journal"
	"github.com/fbo-node/fbo/strategy"
)

// Annotate changes the annotations of a trial of a task on which no session works. The change is on
// disk when it returns. Errors are those of Archive.History, agent.ErrUnknownTrial and
// strategy.ErrBadAnnotation.
func (s *Store) Annotate(id string, trial uint64, change strategy.AnnotationChange, now time.Time) (strategy.Trial, error) {
	h, err := s.History(id)
	if err != nil {
		return strategy.Trial{}, err
	}
	records, err := h.Annotate(now, trial, change)
	if err != nil || len(records) == 0 {
		return h.Trial(trial), err
	}
	log, err := s.journal.Log(id)
	if err != nil {
		return strategy.Trial{}, err
	}
	entries, err := EntriesOf(records)
	if err != nil {
		return strategy.Trial{}, err
	}
	return h.Trial(trial), log.Append(entries...)
}

// EntriesOf returns the journal entries of records.
func EntriesOf(records []agent.Record) (entries []journal.Entry, err error) {
	for _, r := range records {
		data, err := r.Encode()
		if err != nil {
			return nil, err
		}
		entries = append(entries, journal.Entry{Key: r.Key(), Data: data})
	}
	return entries, nil
}
