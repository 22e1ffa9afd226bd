package httpaccess

import (
	"context"
	"io"
	"net/http"

	"golang.org/x/sync/semaphore"
)

// freeBody is the maximum size, in bytes, of a body that does not count toward a budget.
const freeBody = 64 << 10

// Budget limits the total size of the bodies of concurrent requests. Processing a request takes
// several times the size of its body in memory.
type Budget struct {
	bytes *semaphore.Weighted
	most  int64
}

// NewBudget returns a budget of the given number of bytes.
func NewBudget(bytes int64) *Budget { return &Budget{semaphore.NewWeighted(bytes), bytes} }

// admit reserves space in the budget for the body of a request; done releases it. If the length of
// the body is known, admit waits for the space. If it is unknown, the body reserves most bytes once
// more than freeBody bytes have been read. The error is that of the request's context.
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
	size   int64 // bytes to reserve
	taken  int64 // bytes reserved: 0 or size
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
		p = p[:min(int64(len(p)), freeBody+1-u.read)] // one more byte than freeBody, so that a longer body is detected
	}
	n, err = u.ReadCloser.Read(p)
	u.read += int64(n)
	return n, err
}
