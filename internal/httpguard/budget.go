package httpguard

import (
	"net/http"

	"golang.org/x/sync/semaphore"
)

// freeBody is how many bytes a body has at most that no budget counts.
const freeBody = 64 << 10

// Budget bounds the bytes of the bodies of requests under way. A request that is read takes several
// times its body in memory.
type Budget struct {
	bytes *semaphore.Weighted
	most  int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{semaphore.NewWeighted(bytes), bytes} }

// take waits until the body of a request has its place, which done gives back. A body of unknown
// length counts as one of most bytes. The error is that of the request's context.
func (b *Budget) take(r *http.Request, most int64) (done func(), err error) {
	size := r.ContentLength
	if size < 0 || size > most {
		size = most
	}
	if size <= freeBody {
		return func() {}, nil
	}
	size = min(size, b.most)
	if err := b.bytes.Acquire(r.Context(), size); err != nil {
		return nil, err
	}
	return func() { b.bytes.Release(size) }, nil
}
