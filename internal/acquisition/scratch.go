package acquisition

import "sync"

// scratch lends vectors to evaluations of a function, from any goroutine, and in steady state does
// not allocate. Its zero value is ready.
type scratch struct {
	pool sync.Pool
}

// take lends a vector of this length with arbitrary contents.
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
