package httpaccess

import (
	"context"
	"io"
	"net/http"

	"golang.org/x/sync/semaphore"
)

// freeBody is the largest body, in bytes, that no budget counts.
const freeBody = 64 << 10

// Budget limits the bytes in bodies of concurrent requests. Reading a request takes several times
// its body in memory.
type Budget struct {
	bytes *semaphore.Weighted
	most  int64
}

// NewBudget returns a budget of that number of bytes.
func NewBudget(bytes int64) *Budget { return &Budget{semaphore.NewWeighted(bytes), bytes} }

// admit reserves space in the budget for the body of a request; done returns it. A body of known
// length waits for the space at once. A body of unknown length reserves most bytes as soon as more
// than freeBody bytes are read. The error is that of the request's context.
func (b *Budget) admit(r *http.Request, most int64) (done func(), err error) {
	switch {
	case r.ContentLength > freeBody:
		size := min(r.ContentLength, most, b.most)
		return func() { b.bytes.Release(size) }, b.bytes.Acquire(r.Context(), size)
	case r.ContentLength >= 0:
		return func() {}, nil
	}
	body := &unmeasured{ReadCloser: r.Body, budget: b, ctx: r.Context(), size: min(most, b.most)}
	r.Body = body
	return func() { b.bytes.Release(body.taken) }, nil
}

// unmeasured is a body of unknown length.
type unmeasured struct {
	io.ReadCloser
	budget *Budget
	ctx    context.Context
	size   int64 // that it reserves
	taken  int64 // size, or 0 so far
	read   int64
}

// Read implements io.Reader.
func (u *unmeasured) Read(p []byte) (n int, err error) {
	if u.taken == 0 && u.read > freeBody {
		if err := u.budget.bytes.Acquire(u.ctx, u.size); err != nil {
			return 0, err
		}
		u.taken = u.size
	}
	if u.taken == 0 {
		p = p[:min(int64(len(p)), freeBody+1-u.read)] // one more, to detect the end
	}
	n, err = u.ReadCloser.Read(p)
	u.read += int64(n)
	return n, err
}
