// Package designvector converts designs to vectors, to which package ledger can add noise. It also
// converts noisy vectors back to designs.
//
// A number becomes its coordinate in the unit cube minus 1/2. A category with L choices becomes L
// numbers: (1 − 1/L)/√2 for the selected choice and −1/(L√2) for each other one. Two choices then
// have the same distance as the two ends of a number. The way back leads to the nearest design. A
// number outside the unit interval becomes the nearest end, and a category the choice with the
// largest number. Both depend only on the noisy vector, and therefore cost no privacy. With two
// choices the wrong one is released with probability Φ(−1/2σ), where σ is the standard deviation of
// the noise. This is randomised response, at the cost that the ledger counts for the vector.
//
// The vectors of a space lie in a ball around 0 of radius [Norm], half the diagonal of the cube.
// The design depends on data, and a single observation can move it from one corner to the opposite
// one. Therefore the sensitivity to one observation is the same as that to all of them: the
// diagonal.
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

// Vector returns the vector of a point of the space. Its length is space.Dim.
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

// Point returns the point of the space that is nearest to a vector. If several choices are equally
// near, it takes the first. The vector must be finite and have length space.Dim.
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
