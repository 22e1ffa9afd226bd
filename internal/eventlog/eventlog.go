// Package eventlog numbers events and keeps the newest ones, so that readers can come later, be
// slow or come again without blocking the writer.
//
// A reader requests the events after a number. If some of these have been dropped, it learns that
// it has missed events.
package eventlog

import "sync"

// Item is one event.
type Item[T any] struct {
	Number uint64
	Value  T
}

// Log is safe for use by several goroutines. The zero Log is not usable; see New.
type Log[T any] struct {
	mu      sync.Mutex
	kept    []Item[T] // a ring; the oldest is at next once it is full
	next    int
	last    uint64
	most    int
	changed chan struct{} // closed by the next change
	closed  bool
}

// New returns a log that keeps at most that number of items, the first of which gets the number
// after last.
func New[T any](most int, last uint64) *Log[T] {
	return &Log[T]{most: most, last: last, changed: make(chan struct{})}
}

// Add adds an item. It never blocks.
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
