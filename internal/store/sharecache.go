package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fbo-node/fbo/internal/sharecache"
)

// shareCacheDir is the folder in a data directory with the shares of peers, one file per task.
const shareCacheDir = "peer-shares"

// shareCachePause is the minimum time between a change and the write of the file. Each MiB of the
// file adds a second, so that a large federation writes at most one MiB per second to the disk.
const shareCachePause = time.Second

// ShareCache writes the shares of peers on one task to a file, in the background. Only one
// goroutine may use it. That goroutine selects on Due and Written, and calls Begin and Ended for
// them.
type ShareCache struct {
	path    string
	task    string
	changed bool        // there were changes after the last snapshot
	timer   *time.Timer // runs while a write is planned
	writing chan error  // receives the result of the write in progress; nil if there is none
	bytes   int         // size of the last snapshot
	failed  bool        // the last write failed, and this was reported
}

// ShareCache returns the cache of a task.
func (s *Store) ShareCache(task string) *ShareCache {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &ShareCache{path: filepath.Join(s.dir, shareCacheDir, task+".jsonl"), task: task, timer: timer}
}

// Read returns the content that an earlier run has stored. If the file is damaged or belongs to
// another task, the error wraps sharecache.ErrDamaged. Read then removes the file, since a later
// write creates it again.
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

// Note plans a write if changed is true.
func (c *ShareCache) Note(changed bool) {
	if changed && !c.changed && c.writing == nil {
		c.plan()
	}
	c.changed = c.changed || changed
}

func (c *ShareCache) plan() {
	c.timer.Reset(shareCachePause + time.Duration(c.bytes)*time.Second/(1<<20))
}

// Due receives a value when the owner must call Begin.
func (c *ShareCache) Due() <-chan time.Time { return c.timer.C }

// Written receives the result of a write, which the owner must pass to Ended.
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

// Ended handles the result of a write, and plans the next write if needed. It returns an error only
// for the first failure since the last successful write, so that the user gets one warning.
func (c *ShareCache) Ended(written error) error {
	c.writing = nil
	c.changed = c.changed || written != nil // after a failure the same content must still be written
	if c.changed {
		c.plan()
	}
	known := c.failed
	if c.failed = written != nil; c.failed && !known {
		return written
	}
	return nil
}

// Flush writes the content now, after a write in progress. Then the content is on disk.
func (c *ShareCache) Flush(contents sharecache.Contents) error {
	c.timer.Stop()
	if c.writing != nil {
		<-c.writing
		c.writing = nil
	}
	c.changed = false
	if err := sharecache.Write(c.path, contents); err != nil {
		c.changed = true
		c.plan()
		return err
	}
	return nil
}

// Finish waits for a write in progress, and then writes the content if there are later changes. It
// must be the owner's last call.
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

// CachedShares returns the number of peers' shares on a task in the cache of a data directory.
func CachedShares(dir, task string) (count int, err error) {
	contents, err := sharecache.Read(filepath.Join(dir, shareCacheDir, task+".jsonl"))
	for _, share := range contents.Shares {
		if share.ConflictingShare == nil {
			count++
		}
	}
	return count, err
}
