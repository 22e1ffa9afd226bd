package experiment

import (
	"sync"
	"time"
)

// ledger divides the processor time of this process among its open activities, at each moment in
// equal parts. That is the only fair measure if runs share processors and one run uses several. On
// a machine without other load, the result is the time that a run would have taken on one
// processor, except for effects of caches.
type ledger struct {
	processor func() time.Duration // returns the processor time that this process has used so far

	mu     sync.Mutex
	at     time.Duration
	active map[*account]bool
}

// account holds the cost of one activity: core is processor time, real is elapsed time.
type account struct {
	begun time.Time
	core  time.Duration
	real  time.Duration
}

func newLedger(processor func() time.Duration) *ledger {
	return &ledger{processor: processor, at: processor(), active: map[*account]bool{}}
}

func (l *ledger) open() *account {
	a := &account{begun: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle()
	l.active[a] = true
	return a
}

func (l *ledger) close(a *account) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle()
	delete(l.active, a)
	a.real = time.Since(a.begun)
}

func (l *ledger) settle() {
	now := l.processor()
	if len(l.active) > 0 {
		part := (now - l.at) / time.Duration(len(l.active))
		for a := range l.active {
			a.core += part
		}
	}
	l.at = now
}
