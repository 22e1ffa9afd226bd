package multitask

import (
	"slices"
	"sync"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// Spec returns the process of several tasks. Its points have the coordinates of a design, followed by
// this number of coordinates for the task, at least 1. These have one lengthscale, which is the last.
func Spec(spec gp.Spec, coordinates int) gp.Spec {
	whole := gp.Spec{Kernel: spec.Kernel, Groups: slices.Clone(spec.Groups), Centred: spec.Centred}
	block := slices.Max(spec.Groups) + 1
	for range coordinates {
		whole.Groups = append(whole.Groups, block)
	}
	return whole
}

// Equidistant returns the coordinates of a task, 0 to tasks-1, if all pairs of tasks have the same
// distance: √2 over the lengthscale of the tasks' coordinates.
func Equidistant(of, tasks int) []float64 {
	coordinates := make([]float64, tasks)
	coordinates[of] = 1
	return coordinates
}

// Fixed returns the function of a design that f is if the last coordinates of its points have these
// values. Without values it returns f.
func Fixed(f acquisition.Function, values []float64) acquisition.Function {
	if len(values) == 0 {
		return f
	}
	return &fixed{f: f, values: values}
}

// fixed is a function f whose last coordinates are fixed.
type fixed struct {
	f      acquisition.Function
	values []float64
	memory sync.Pool // of *[]float64
}

var _ acquisition.Function = (*fixed)(nil)

// point returns x followed by the fixed coordinates, and memory for the gradient at that point.
func (s *fixed) point(x []float64) (held *[]float64, point, grad []float64) {
	n := len(x) + len(s.values)
	held, ok := s.memory.Get().(*[]float64)
	if !ok {
		held = new(make([]float64, 2*n))
		copy((*held)[len(x):], s.values)
	}
	copy(*held, x)
	return held, (*held)[:n], (*held)[n:]
}

// Value implements acquisition.Function.
func (s *fixed) Value(x []float64) float64 {
	held, point, _ := s.point(x)
	value := s.f.Value(point)
	s.memory.Put(held)
	return value
}

// Gradient implements acquisition.Function.
func (s *fixed) Gradient(grad, x []float64) float64 {
	held, point, whole := s.point(x)
	value := s.f.Gradient(whole, point)
	copy(grad, whole)
	s.memory.Put(held)
	return value
}
