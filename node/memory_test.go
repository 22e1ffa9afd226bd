package node

import (
	"errors"
	"testing"
	"time"

	"github.com/fbo-node/fbo/internal/sharecache"
	"github.com/fbo-node/fbo/strategy/all"
)

// What could not be written is written later, at the latest at the end, and the user
// is told once.
func TestMemoryWritesAgain(t *testing.T) {
	m := newShareCache(&Node{Strategies: all.Strategies(), Dir: t.TempDir()}, "task")
	m.note(true)
	m.begin(sharecache.Contents{Task: "task"})
	if w := <-m.writing; w.err != nil {
		t.Fatal(w.err)
	}
	full := writtenFile{errors.New("no space left on device")}
	if err := m.ended(full); err == nil || !m.timer.Stop() {
		t.Errorf("the first failure: %v, or no further try is planned", err)
	}
	if err := m.ended(full); err != nil {
		t.Errorf("the second failure is told too: %v", err)
	}
	c := sharecache.Contents{Task: "task", Shares: []sharecache.Share{{Envelope: []byte("x"), Sent: time.Unix(1, 0).UTC()}}}
	if err := m.finish(c); err != nil {
		t.Fatal(err)
	}
	if got, err := sharecache.Read(m.path); err != nil || len(got.Shares) != 1 {
		t.Errorf("after the end: %+v, %v", got, err)
	}
}
