package store

import (
	"errors"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/sharecache"
)

// A failed write is repeated, at the latest by Finish, and reported once.
func TestShareCacheWritesAgain(t *testing.T) {
	c := (&Store{dir: t.TempDir()}).ShareCache("task")
	c.Note(true)
	c.Begin(sharecache.Contents{Task: "task"})
	if err := <-c.Written(); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	if err := c.Ended(full); err == nil || !c.timer.Stop() {
		t.Errorf("the first failure: %v, or no further try is planned", err)
	}
	if err := c.Ended(full); err != nil {
		t.Errorf("the second failure is reported too: %v", err)
	}
	contents := sharecache.Contents{Task: "task", Shares: []sharecache.Share{{Envelope: []byte("x"), Sent: time.Unix(1, 0).UTC()}}}
	if err := c.Finish(contents); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Read(); err != nil || len(got.Shares) != 1 {
		t.Errorf("after Finish: %+v, %v", got, err)
	}
}
