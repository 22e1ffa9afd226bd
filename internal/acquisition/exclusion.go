package acquisition

import (
	"math"

	"github.com/fbo-node/fbo/task"
)

// Box is a neighbourhood of Centre: the points whose coordinates all differ from those of Centre by
// less than Radius. With a radius of at most 1, a design with a different category lies outside.
type Box struct {
	Centre []float64 // encoded
	Radius float64   // more than 0
}

// Contains reports whether x lies inside the box.
func (b Box) Contains(x []float64) bool {
	for i, u := range b.Centre {
		if math.Abs(x[i]-u) >= b.Radius {
			return false
		}
	}
	return true
}

// past is the distance by which a point is moved beyond the face of a box. It is large enough that
// the point is outside in spite of rounding; coordinates are at most 1.
const past = 1e-15

// Outside is a function that excludes boxes. A point inside a box has the value of the nearest
// point outside all boxes that differs in one active float only, and is feasible. Searches can
// therefore move along the faces of boxes. If there is no such point, for example with listed
// designs, the value is -Inf.
type Outside struct {
	f         Function
	space     *task.Space
	boxes     []Box
	floats    []int // coordinates
	dependent bool  // points may have inactive floats or be infeasible
	memory    scratch
}

var (
	_ Function = (*Outside)(nil)
	_ Batch    = (*Outside)(nil)
)

// NewOutside returns f with the boxes in this space excluded.
func NewOutside(f Function, space *task.Space, boxes []Box) *Outside {
	return &Outside{f: f, space: space, boxes: boxes, floats: newNeighbours(space).floats, dependent: isDependent(space)}
}

// Leave moves x out of all boxes, to the point that determines its value. It returns the coordinate
// that it changed, or -1 if x was outside. ok is false if x cannot be moved out.
func (o *Outside) Leave(x []float64) (moved int, ok bool) {
	if !o.inside(x) {
		return -1, true
	}
	moved, to, least := -1, 0.0, math.Inf(1)
	for _, i := range o.floats {
		from := x[i]
		for _, direction := range [2]float64{-1, 1} {
			u, ok := o.exit(x, i, direction)
			ok = ok && (!o.dependent || o.remains(x))
			if x[i] = from; ok && math.Abs(u-from) < least {
				moved, to, least = i, u, math.Abs(u-from)
			}
		}
	}
	if moved >= 0 {
		x[moved] = to
	}
	return moved, moved >= 0
}

// exit moves coordinate i of x in the given direction until x is outside all boxes, and returns the
// new coordinate. ok is false if x would leave the unit cube.
func (o *Outside) exit(x []float64, i int, direction float64) (u float64, ok bool) {
	for in := true; in; {
		in = false
		for _, b := range o.boxes {
			if b.Contains(x) {
				x[i] = b.Centre[i] + direction*(b.Radius+past)
				in = true
			}
		}
		if x[i] < 0 || x[i] > 1 {
			return x[i], false
		}
	}
	return x[i], true
}

// remains reports whether the design at x is feasible and outside of all boxes. A move in an inactive
// float, or in one that other parameters depend on, can leave the boxes without such a design.
func (o *Outside) remains(x []float64) bool {
	held := o.memory.take(len(x))
	defer o.memory.put(held)
	copy(*held, x)
	return o.space.Settle(*held) && !o.inside(*held)
}

func (o *Outside) inside(x []float64) bool {
	for _, b := range o.boxes {
		if b.Contains(x) {
			return true
		}
	}
	return false
}

// Value implements Function.
func (o *Outside) Value(x []float64) float64 {
	if !o.inside(x) {
		return o.f.Value(x)
	}
	held := o.memory.take(len(x))
	defer o.memory.put(held)
	copy(*held, x)
	if _, ok := o.Leave(*held); !ok {
		return math.Inf(-1)
	}
	return o.f.Value(*held)
}

// Values implements Batch.
func (o *Outside) Values(dst, points []float64) {
	held := o.memory.take(len(points))
	defer o.memory.put(held)
	copy(*held, points)
	lost := o.memory.take(len(dst))
	defer o.memory.put(lost)
	for i := range dst {
		(*lost)[i] = 0
		if _, ok := o.Leave(rowOf(*held, len(dst), i)); !ok {
			(*lost)[i] = math.Inf(-1)
		}
	}
	evaluate(o.f, dst, *held)
	for i, l := range *lost {
		if l != 0 {
			dst[i] = l
		}
	}
}

// Gradient implements Function.
func (o *Outside) Gradient(grad, x []float64) float64 {
	if !o.inside(x) {
		return o.f.Gradient(grad, x)
	}
	held := o.memory.take(len(x))
	defer o.memory.put(held)
	copy(*held, x)
	moved, ok := o.Leave(*held)
	if !ok {
		clear(grad)
		return math.Inf(-1)
	}
	value := o.f.Gradient(grad, *held)
	grad[moved] = 0
	return value
}
