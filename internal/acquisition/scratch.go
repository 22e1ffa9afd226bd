package acquisition

import "sync"

// scratch lends vectors of numbers to evaluations of a function.
type scratch = lender[float64]

// lender lends vectors to evaluations of a function on any goroutine. Once enough vectors exist, it
// allocates no memory. Its zero value is ready for use.
type lender[T any] struct {
	pool sync.Pool
}

// take lends a vector of this length with arbitrary contents; put returns it.
func (s *lender[T]) take(length int) *[]T {
	held, ok := s.pool.Get().(*[]T)
	if !ok || cap(*held) < length {
		fresh := make([]T, length)
		return &fresh
	}
	*held = (*held)[:length]
	return held
}

func (s *lender[T]) put(held *[]T) { s.pool.Put(held) }
