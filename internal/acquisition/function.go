package acquisition

// Function is a function of encoded designs, to be maximised. A Maximizer with several workers
// calls it from several goroutines at once.
type Function interface {
	// Value returns the function at x. A Maximizer treats NaN as the worst value.
	Value(x []float64) float64
	// Gradient fills grad, which has the length of x, and returns the value. It neither keeps nor
	// alters x.
	Gradient(grad, x []float64) float64
}

// Batch is an optional interface of a Function that evaluates many points at once faster than one
// by one. The value at a point must not depend on the other points. It may differ from Value by
// rounding.
type Batch interface {
	// Values fills dst with the values at len(dst) points; points holds their coordinates one after
	// the other.
	Values(dst, points []float64)
}

// evaluate fills dst with the values of f at len(dst) points.
func evaluate(f Function, dst, points []float64) {
	if batch, ok := f.(Batch); ok {
		batch.Values(dst, points)
		return
	}
	for i := range dst {
		dst[i] = f.Value(rowOf(points, len(dst), i))
	}
}

// rowOf returns point i of count.
func rowOf(points []float64, count, i int) []float64 {
	dim := len(points) / count
	return points[i*dim : (i+1)*dim : (i+1)*dim]
}
