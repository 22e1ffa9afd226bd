package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fbo-node/fbo/internal/sharecache"
)

// shareCacheDir is the folder in a data directory with the shares of peers, one file a task.
const shareCacheDir = "peer-shares"

// shareCachePause is the time from a change to a write of the file; each MiB adds a second, so that
// a large federation writes at most a MiB per second to the disk.
const shareCachePause = time.Second

// ShareCache writes the shares of peers on one task to a file, in the background. One goroutine owns
// it. It selects on Due and Written and calls Begin and Ended.
type ShareCache struct {
	path    string
	task    string
	changed bool        // since the last snapshot was taken
	timer   *time.Timer // runs while something is to be written
	writing chan error  // receives when a write has ended; nil when none is in progress
	bytes   int         // of the last snapshot
	failed  bool        // a failed write was reported, and none has succeeded since
}

// ShareCache returns the cache of a task.
func (s *Store) ShareCache(task string) *ShareCache {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &ShareCache{path: filepath.Join(s.dir, shareCacheDir, task+".jsonl"), task: task, timer: timer}
}

// Read returns the data that an earlier run has stored. The error wraps sharecache.ErrDamaged if
// the file is damaged or of another task; it is then removed, because Begin writes it anew.
func (c *ShareCache) Read() (sharecache.Contents, error) {
	contents, err := sharecache.Read(c.path)
	if err == nil && contents.Task != c.task && (contents.Task != "" || len(contents.Shares) > 0) {
		err = fmt.Errorf("%s is of task %q: %w", c.path, contents.Task, sharecache.ErrDamaged)
	}
	if errors.Is(err, sharecache.ErrDamaged) {
		_ = os.Remove(c.path)
	}
	return contents, err
}

// Note schedules a write if there is a change.
func (c *ShareCache) Note(changed bool) {
	if changed && !c.changed && c.writing == nil {
		c.plan()
	}
	c.changed = c.changed || changed
}

func (c *ShareCache) plan() {
	c.timer.Reset(shareCachePause + time.Duration(c.bytes)*time.Second/(1<<20))
}

// Due receives a time when the owner must call Begin.
func (c *ShareCache) Due() <-chan time.Time { return c.timer.C }

// Written receives the result of a write, for Ended.
func (c *ShareCache) Written() <-chan error { return c.writing }

// Begin writes a snapshot in the background.
func (c *ShareCache) Begin(contents sharecache.Contents) {
	c.changed, c.bytes = false, 0
	for _, share := range contents.Shares {
		c.bytes += len(share.Envelope)
	}
	c.writing = make(chan error, 1)
	go func(done chan<- error) { done <- sharecache.Write(c.path, contents) }(c.writing)
}

// Ended processes the result of a write and schedules the next one if needed. It returns an error
// that the user does not know yet: the first since the last successful write.
func (c *ShareCache) Ended(written error) error {
	c.writing = nil
	c.changed = c.changed || written != nil // the same contents must still be written
	if c.changed {
		c.plan()
	}
	known := c.failed
	if c.failed = written != nil; c.failed && !known {
		return written
	}
	return nil
}

// Finish waits for a write in progress and writes later changes. The owner calls it last.
func (c *ShareCache) Finish(contents sharecache.Contents) error {
	c.timer.Stop()
	if c.writing != nil {
		err := <-c.writing
		c.changed = c.changed || err != nil
	}
	if !c.changed {
		return nil
	}
	return sharecache.Write(c.path, contents)
}
