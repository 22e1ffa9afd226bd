package trialserver

import (
	"fmt"
	"sync"
	"time"
)

// delays warns about requests for trials without an answer for a long time, once until a client
// gets a trial.
type delays struct {
	patience time.Duration
	warn     func(string)

	mu     sync.Mutex
	warned bool
}

// note warns about a request for trials of a task that has been open for this time.
func (d *delays) note(task, waitsFor string, open time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if open < d.patience || d.warned {
		return
	}
	d.warned = true
	d.warn(fmt.Sprintf("task %q: a request for trials has no answer after %v: %s", task, open.Round(time.Second), waitsFor))
}

// over permits the next warning.
func (d *delays) over() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.warned = false
}
