package acquisition

import (
	"math"

	"github.com/fbo-node/fbo/task"
)

// intValues turns the value of an int parameter into a coordinate and back,
// without a whole design and without allocating. A value's coordinates are a bin
// of the axis: bins of equal width on linear scale, [log(v-1/2), log(v+1/2)] on
// log scale.
type intValues struct {
	low, high     float64
	log           bool
	origin, width float64 // on log scale
}

func newIntValues(p task.Parameter) intValues {
	v := intValues{low: p.Low, high: p.High, log: p.Scale == task.Log}
	if v.log {
		v.origin = math.Log(p.Low - 0.5)
		v.width = math.Log(p.High+0.5) - v.origin
	}
	return v
}

// coordinate returns one inside the bin of the value; Space.Snap then moves it
// to the one that encodes the value.
func (v *intValues) coordinate(value float64) float64 {
	if v.log {
		return (math.Log(value) - v.origin) / v.width
	}
	return (value - v.low + 0.5) / (v.high - v.low + 1)
}

// at returns the value whose bin holds u.
func (v *intValues) at(u float64) float64 {
	value := v.low + math.Floor(u*(v.high-v.low+1))
	if v.log {
		value = math.Round(math.Exp(v.origin + u*v.width))
	}
	return min(max(value, v.low), v.high)
}
