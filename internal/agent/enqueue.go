package agent

import (
	"slices"
	"time"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// giveFirst answers requests with enqueued designs. These need neither a model nor peers' shares,
// so they are never delayed.
func (a *Agent) giveFirst(now time.Time) {
	for len(a.asks) > 0 {
		design, ok := a.nextFirst()
		if !ok {
			return
		}
		id := a.trials.next()
		record := a.trialRecord(now, design, strategy.Why{Source: strategy.Enqueued})
		record.Claim = a.claims[a.asks[0]]
		a.record(Record{Trial: record})
		a.answer(id)
	}
}

// nextFirst returns the first design of Config.Enqueue that has no trial yet. The list is the same
// at every start, but each design is evaluated only once. Trials of any source count, except those
// that are set aside.
func (a *Agent) nextFirst() (design task.Design, ok bool) {
	for _, design := range a.cfg.Enqueue {
		if !slices.ContainsFunc(a.trials.list[a.trials.aside:], func(t strategy.Trial) bool { return t.Design.Equal(design) }) {
			return design, true
		}
	}
	return task.Design{}, false
}
