// Package designvector converts designs to vectors, to which package ledger can add noise, and
// noisy vectors back to designs.
//
// A number is its coordinate in the unit cube minus 1/2. A category of L choices is L numbers: (1 −
// 1/L)/√2 for the choice and −1/(L√2) for each other one, so that two choices have the distance of
// the two ends of a number. The result is the nearest design: a number outside the unit interval
// becomes its end, and a category takes the choice with the largest number. Both are functions of
// the noisy vector alone, and therefore cost no privacy. With two choices the wrong one is released
// with probability Φ(−1/2σ), where σ is the deviation of the noise. This is randomised response, at
// the cost that the ledger counts for the vector.
//
// The vectors of a space lie in a ball around 0 of radius [Norm], half the diagonal of the cube. A
// single observation can move a design that depends on data from one corner to the opposite one.
// Therefore the sensitivity to one observation equals that to all of them: the diagonal.
package designvector

import (
	"math"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// Release returns the description of a DP release of a design of the space.
func Release(space *task.Space) task.Release {
	return task.Release{Numbers: space.Dim(), Of: "a design", Norm: Norm(space), Place: true}
}

// Norm returns the largest Euclidean norm of a Vector of the space: √d/2 for d parameters that are
// numbers or have two choices.
func Norm(space *task.Space) float64 {
	square := 0.0
	for _, block := range space.Blocks() {
		if block.Kind == task.Categorical {
			square += (1 - 1/float64(block.Len)) / 2
		} else {
			square += 0.25
		}
	}
	return math.Sqrt(square)
}

// Vector returns the vector of a point of the space, as long as space.Dim.
func Vector(space *task.Space, p protocol.Point) []float64 {
	v := p.Encoded(space)
	for _, block := range space.Blocks() {
		if block.Kind != task.Categorical {
			v[block.Start] -= 0.5
			continue
		}
		for i := range block.Len {
			v[block.Start+i] = (v[block.Start+i] - 1/float64(block.Len)) / math.Sqrt2
		}
	}
	return v
}

// Point returns the point of the space that is nearest to a vector; of equally near choices, the
// first. The vector must be finite and as long as space.Dim.
func Point(space *task.Space, v []float64) protocol.Point {
	var p protocol.Point
	for _, block := range space.Blocks() {
		if block.Kind != task.Categorical {
			p.Coordinates = append(p.Coordinates, float64(float32(min(max(v[block.Start]+0.5, 0), 1))))
			continue
		}
		largest := 0
		for i := range block.Len {
			if v[block.Start+i] > v[block.Start+largest] {
				largest = i
			}
		}
		p.Choices = append(p.Choices, largest)
	}
	return p
}
