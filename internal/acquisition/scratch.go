package acquisition

import "sync"

// scratch lends vectors to evaluations of a function on any goroutine. Once enough vectors exist,
// it allocates no memory. Its zero value is ready for use.
type scratch struct {
	pool sync.Pool
}

// take lends a vector of this length with arbitrary contents; put returns it.
func (s *scratch) take(length int) *[]float64 {
	held, ok := s.pool.Get().(*[]float64)
	if !ok || cap(*held) < length {
		fresh := make([]float64, length)
		return &fresh
	}
	*held = (*held)[:length]
	return held
}

func (s *scratch) put(held *[]float64) { s.pool.Put(held) }
