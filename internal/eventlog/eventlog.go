// Package eventlog numbers what happens and keeps the newest of it, so that readers can
// come later, be slow or come again without holding up who writes.
//
// A reader asks for what comes after a number. Who was away for too long is told that it
// has missed something.
package eventlog

import "sync"

// Item is something that happened.
type Item[T any] struct {
	Number uint64
	Value  T
}

// Log is safe for use by several goroutines. The zero Feed is not usable; see New.
type Log[T any] struct {
	mu      sync.Mutex
	kept    []Item[T] // a ring; the oldest is at next once it is full
	next    int
	last    uint64
	most    int
	changed chan struct{} // closed by the next change
	closed  bool
}

// New makes a feed that keeps so many items, of which the first gets the number after
// last.
func New[T any](most int, last uint64) *Log[T] {
	return &Log[T]{most: most, last: last, changed: make(chan struct{})}
}

// Add never waits.
func (f *Log[T]) Add(value T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.last++
	item := Item[T]{f.last, value}
	if len(f.kept) < f.most {
		f.kept = append(f.kept, item)
	} else {
		f.kept[f.next] = item
		f.next = (f.next + 1) % f.most
	}
	f.wake()
}

// Close ends the feed for its readers.
func (f *Log[T]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed = true
		f.wake()
	}
}

func (f *Log[T]) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// Last is the number of the newest item.
func (f *Log[T]) Last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// Batch is what a reader finds.
type Batch[T any] struct {
	Items   []Item[T]
	Missed  bool            // what came between the number and the first item is not kept
	Changed <-chan struct{} // closed when there is more
	Closed  bool            // there will be no more
}

// After returns what came after a number. A number that is not of this feed, which may be
// of one before a restart, counts as one from long ago.
func (f *Log[T]) After(number uint64) Batch[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := Batch[T]{Changed: f.changed, Closed: f.closed}
	oldest := f.last - uint64(len(f.kept)) // the number before it
	if number < oldest || number > f.last {
		n.Missed, number = true, oldest
	}
	for i := number - oldest; i < uint64(len(f.kept)); i++ {
		n.Items = append(n.Items, f.kept[(uint64(f.next)+i)%uint64(len(f.kept))])
	}
	return n
}
