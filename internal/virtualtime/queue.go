// Package virtualtime orders the events of a simulation.
package virtualtime

import (
	"container/heap"
	"time"
)

// Queue has the scheduled events of a simulation and its time, which begins at 0. Events with equal
// times are in the order in which they were scheduled. The zero Queue is empty.
type Queue[T any] struct {
	now    time.Duration
	count  uint64 // number of all events scheduled so far
	events events[T]
}

// Now returns the time of the event that was taken last.
func (q *Queue[T]) Now() time.Duration { return q.now }

// Schedule adds an event at a time. An event in the past is due now.
func (q *Queue[T]) Schedule(at time.Duration, value T) {
	q.count++
	heap.Push(&q.events, event[T]{max(at, q.now), q.count, value})
}

// Next returns the time of the next event. ok is false if there is none.
func (q *Queue[T]) Next() (at time.Duration, ok bool) {
	if len(q.events) == 0 {
		return 0, false
	}
	return q.events[0].at, true
}

// Take removes the next event and moves the time to it. There must be one.
func (q *Queue[T]) Take() T {
	e := heap.Pop(&q.events).(event[T])
	q.now = e.at
	return e.value
}

type event[T any] struct {
	at    time.Duration
	order uint64
	value T
}

// events is a heap with the earliest event first.
type events[T any] []event[T]

func (e events[T]) Len() int { return len(e) }
func (e events[T]) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events[T]) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events[T]) Push(x any)   { *e = append(*e, x.(event[T])) }
func (e *events[T]) Pop() any {
	last := (*e)[len(*e)-1]
	(*e)[len(*e)-1] = event[T]{} // releases what the value refers to
	*e = (*e)[:len(*e)-1]
	return last
}
