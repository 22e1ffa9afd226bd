package main

import (
	"io"
	"slices"
	"sync"
	"time"

	"github.com/fbo-node/fbo/internal/evaluator/triallog"
	"github.com/fbo-node/fbo/internal/httpapi"
	"github.com/fbo-node/fbo/internal/sanitize"
	"github.com/fbo-node/fbo/task"
)

// maxWarned is how many warnings of a process can be read again.
const maxWarned = 200

// warned keeps the newest warnings, for who looks later.
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

// printed writes what the command of a trial has printed, as log does.
func printed(dataDir string) func(of *task.Task, trial uint64, out io.Writer) error {
	return func(of *task.Task, trial uint64, out io.Writer) error {
		reader := triallog.NewReader(logDir(dataDir, of), trial)
		defer reader.Close()
		_, err := reader.CopyTo(out)
		return err
	}
}
