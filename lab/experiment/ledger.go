package experiment

import (
	"sync"
	"time"
)

// ledger divides the processor time of this process among what is under way, in
// equal parts at each moment: the only fair measure where runs share processors
// and a run spreads over several. On a machine that does nothing else it is what
// a run would have taken on one processor, up to caches.
type ledger struct {
	processor func() time.Duration // used by this process so far

	mu     sync.Mutex
	at     time.Duration
	active map[*account]bool
}

// account is what one activity has cost.
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
