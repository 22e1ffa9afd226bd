package progress

import (
	"slices"
	"sync"
	"time"

	"github.com/fbo-node/fbo/internal/httpapi"
	"github.com/fbo-node/fbo/internal/sanitize"
)

// maxWarned is the maximum number of stored warnings of a process.
const maxWarned = 200

// warned keeps the newest warnings for later views.
type warned struct {
	mu     sync.Mutex
	count  uint64
	newest []httpapi.Warning
}

func (w *warned) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	w.newest = append(w.newest, httpapi.Warning{ID: w.count, Time: time.Now().UTC(), Text: sanitize.Text(text, 1000)})
	w.newest = slices.Delete(w.newest, 0, max(len(w.newest)-maxWarned, 0))
}

func (w *warned) list() []httpapi.Warning {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.newest)
}

// Warnings returns the newest warnings.
func (p *Printer) Warnings() []httpapi.Warning { return p.warned.list() }
