package protocol

import (
	"fmt"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// Point is the form of a design in messages. It takes 4 bytes for each ordered parameter and an
// index for each categorical one.
type Point struct {
	Coordinates []float64 // one for each float or int, in order, in the unit interval; encoded as float32
	Choices     []int     // one for each categorical or bool, in order: the index of the choice; 1 for true
}

// PointOf returns the point of a design. It panics if the design is not one of the space.
//
// Decoding a point returns the same choices. It returns the same value of an int, a float in steps
// or a listed number if the parameter has fewer than 2^24 values; on log scale, if
// high·ln(high/low) is less than 2^23. Other floats, and ints with more values, are rounded to a
// float32: the error is at most half of 2^-24 of the unit interval.
func PointOf(space *task.Space, design task.Design) Point {
	return PointAt(space, space.Encode(design))
}

// PointAt returns the point of an encoded design.
func PointAt(space *task.Space, u []float64) Point {
	var p Point
	for _, block := range space.Blocks() {
		if block.Kind != task.Categorical {
			p.Coordinates = append(p.Coordinates, float64(float32(u[block.Start])))
			continue
		}
		for choice, on := range u[block.Start : block.Start+block.Len] {
			if on == 1 {
				p.Choices = append(p.Choices, choice)
			}
		}
	}
	return p
}

// Encoded returns the point as Space.Encode does, with Dim coordinates. Parameters that are inactive
// at the point have the coordinates of inactive ones, whatever those of the point. The point must be
// one of the space, such as any point that a Decode function has returned. It may violate constraints
// among parameters.
func (p Point) Encoded(space *task.Space) []float64 {
	u := make([]float64, space.Dim())
	ordered, categorical := 0, 0
	for _, block := range space.Blocks() {
		if block.Kind == task.Categorical {
			u[block.Start+p.Choices[categorical]] = 1
			categorical++
		} else {
			u[block.Start] = p.Coordinates[ordered]
			ordered++
		}
	}
	space.Impute(u)
	return u
}

// pointBytes returns the maximum encoded size of a point of the space.
func pointBytes(space *task.Space) int { return 8*space.Len() + 16 }

func (p Point) message() *pb.Point {
	m := &pb.Point{Coordinates: toFloat32(p.Coordinates)}
	for _, choice := range p.Choices {
		m.Choices = append(m.Choices, uint32(choice))
	}
	return m
}

func pointFrom(m *pb.Point) Point {
	p := Point{Coordinates: toFloat64(m.GetCoordinates())}
	for _, choice := range m.GetChoices() {
		p.Choices = append(p.Choices, int(min(choice, 1<<30))) // limited for an int of 32 bits; no parameter has that many choices
	}
	return p
}

// check returns an error if the point is not one of the space.
func (p Point) check(space *task.Space) error {
	var choices []int // number of choices of each categorical
	for _, block := range space.Blocks() {
		if block.Kind == task.Categorical {
			choices = append(choices, block.Len)
		}
	}
	if want := space.Len() - len(choices); len(p.Coordinates) != want {
		return fmt.Errorf("a point with %d coordinates, the task has %d parameters of numbers", len(p.Coordinates), want)
	}
	if len(p.Choices) != len(choices) {
		return fmt.Errorf("a point with %d choices, the task has %d categorical parameters", len(p.Choices), len(choices))
	}
	for i, v := range p.Coordinates {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("coordinate %d of a point is %g, expected 0 to 1", i, v)
		}
	}
	for i, choice := range p.Choices {
		if choice < 0 || choice >= choices[i] {
			return fmt.Errorf("choice %d of a point is %d, the parameter has %d choices", i, choice, choices[i])
		}
	}
	return nil
}
