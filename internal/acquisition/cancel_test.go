package acquisition

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
	"github.com/fbo-node/fbo/task"
)

// cancelling ends a context at one of its calls and counts those that come later. On
// its many hills a search takes many calls.
type cancelling struct {
	cancel context.CancelFunc
	at     int64
	calls  *atomic.Int64
}

func (c cancelling) Value(x []float64) float64 {
	if c.calls.Add(1) == c.at {
		c.cancel()
	}
	sum := 0.0
	for i, u := range x {
		sum += math.Sin(40*u + float64(i))
	}
	return sum
}

func (c cancelling) Gradient(grad, x []float64) float64 {
	for i, u := range x {
		grad[i] = 40 * math.Cos(40*u+float64(i))
	}
	return c.Value(x)
}

// A search ends soon after its context, wherever it is, with the error of the context
// and nothing else; with a context that has ended it does not begin.
func TestMaximizeEndsWithItsContext(t *testing.T) {
	small, err := task.NewSpace([]task.Parameter{{Name: "n", Kind: task.Int, Low: 1, High: 4000}})
	if err != nil {
		t.Fatal(err)
	}
	for name, space := range map[string]*task.Space{"floats": floats(t, 6), "mixed": mixed(t), "enumerated": small} {
		for _, workers := range []int{1, 4} {
			m := Maximizer{Space: space, Workers: workers}
			var calls atomic.Int64
			maximize := func(ctx context.Context, f Function) error {
				calls.Store(0)
				x, value, err := m.Maximize(ctx, f, nil, random.SeedOf(1).Stream("t", 0))
				if err != nil && (x != nil || value != 0) {
					t.Errorf("%s: %v and %g beside an error", name, x, value)
				}
				return err
			}
			if err := maximize(t.Context(), cancelling{at: -1, calls: &calls}); err != nil {
				t.Fatal(err)
			}
			whole := calls.Load()
			for _, at := range []int64{1, whole / 2, whole * 9 / 10} {
				ctx, cancel := context.WithCancel(t.Context())
				err := maximize(ctx, cancelling{cancel, at, &calls})
				// A stage of each worker, with its line searches, may come to its end.
				if bound := at + int64(workers)*lastGradients*trials; !errors.Is(err, context.Canceled) || calls.Load() > bound {
					t.Errorf("%s, %d workers: ended at call %d of %d: %v after %d, at most %d are accepted", name, workers, at, whole, err, calls.Load(), bound)
				}
				if err := maximize(ctx, cancelling{at: -1, calls: &calls}); !errors.Is(err, context.Canceled) || calls.Load() > 0 {
					t.Errorf("%s, %d workers: a context that has ended: %v after %d calls", name, workers, err, calls.Load())
				}
			}
		}
	}
}
