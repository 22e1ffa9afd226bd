// Package eventlog numbers events and stores the newest ones. So readers can start later, be slow
// or reconnect without blocking the writer.
//
// A reader requests the events after a number. If some of these are no longer stored, the result
// says that the reader has missed events.
package eventlog

import "sync"

// Item is an event with its number.
type Item[T any] struct {
	Number uint64
	Value  T
}

// Log stores the newest events. It is safe for use by several goroutines. New creates one; the zero
// Log is not usable.
type Log[T any] struct {
	mu      sync.Mutex
	kept    []Item[T] // ring buffer; once it is full, its oldest item is at index next
	next    int
	last    uint64
	most    int
	changed chan struct{} // closed at the next change
	closed  bool
}

// New returns a log that stores at most most items. Its first item gets the number last+1.
func New[T any](most int, last uint64) *Log[T] {
	return &Log[T]{most: most, last: last, changed: make(chan struct{})}
}

// Add appends an item and never blocks. After Close it does nothing.
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

// Close ends the log: readers learn that no further items will follow.
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

// Last returns the number of the newest item.
func (f *Log[T]) Last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// Batch is the result of After.
type Batch[T any] struct {
	Items   []Item[T]
	Missed  bool            // items after the requested number and before the first of Items are no longer stored
	Changed <-chan struct{} // closed at the next change of the log
	Closed  bool            // no further items will follow
}

// After returns the stored items after the given number. A number that is larger than that of the
// newest item may come from a log before a restart. Then After returns all stored items, with
// Missed.
func (f *Log[T]) After(number uint64) Batch[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := Batch[T]{Changed: f.changed, Closed: f.closed}
	oldest := f.last - uint64(len(f.kept)) // number before that of the oldest stored item
	if number < oldest || number > f.last {
		n.Missed, number = true, oldest
	}
	for i := number - oldest; i < uint64(len(f.kept)); i++ {
		n.Items = append(n.Items, f.kept[(uint64(f.next)+i)%uint64(len(f.kept))])
	}
	return n
}
