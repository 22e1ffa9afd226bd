package agent

import (
	"slices"
	"time"

	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/task"
)

// giveFirst answers requests with enqueued designs. They need no model and no peers, so there is no
// wait.
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

// nextFirst returns the next design of Config.Enqueue without a trial, from any source: the list is
// the same at every start, and each design is evaluated once. Trials that are set aside do not
// count.
func (a *Agent) nextFirst() (design task.Design, ok bool) {
	for _, design := range a.cfg.Enqueue {
		if !slices.ContainsFunc(a.trials.list[a.trials.aside:], func(t strategy.Trial) bool { return t.Design.Equal(design) }) {
			return design, true
		}
	}
	return task.Design{}, false
}
