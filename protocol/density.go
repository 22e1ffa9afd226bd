package protocol

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// Limits of a density.
const (
	MaxComponents = 16
	MinSpread     = 1e-3
	MaxSpread     = 10.0

	// weightsOff is the maximum difference between the sum of the weights and 1. It allows for
	// rounding to float32.
	weightsOff = 1e-4
)

// Density is the share with its author's posterior density of the optimum's location, a mixture of
// normals.
type Density struct {
	Observations int         // number of observations behind the density, at least 1
	Components   []Component // 1 to MaxComponents
	Release      int         // consecutive number of the DP release among those of its author, from 1; 0 on tasks without privacy
}

// Component is one component of a density: a normal distribution, truncated to the unit cube.
type Component struct {
	Weight float64 // positive; all weights sum to 1
	Std    float64 // standard deviation of each coordinate, in the unit cube
	Center Point
}

// Encode returns the payload. It returns an error for values that Decode would reject.
func (d Density) Encode(space *task.Space) ([]byte, error) {
	if err := d.validate(space); err != nil {
		return nil, err
	}
	m := &pb.Density{Observations: uint32(d.Observations), Release: uint32(d.Release)}
	for _, c := range d.Components {
		m.Components = append(m.Components, &pb.Component{Weight: float32(c.Weight), Std: float32(c.Std), Center: c.Center.message()})
	}
	return proto.Marshal(m)
}

// DecodeDensity is the inverse of Encode. All centres must be points of the space.
func DecodeDensity(payload []byte, space *task.Space) (Density, error) {
	if limit := MaxComponents*(pointBytes(space)+24) + payloadOverhead; len(payload) > limit {
		return Density{}, fmt.Errorf("%w: a density of %d bytes, the limit is %d", ErrMalformed, len(payload), limit)
	}
	var m pb.Density
	if err := proto.Unmarshal(payload, &m); err != nil {
		return Density{}, fmt.Errorf("%w: density: %w", ErrMalformed, err)
	}
	d := Density{Observations: int(m.Observations), Release: int(m.Release)}
	for _, c := range m.Components {
		d.Components = append(d.Components, Component{Weight: float64(c.Weight), Std: float64(c.Std), Center: pointFrom(c.Center)})
	}
	if err := d.validate(space); err != nil {
		return Density{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return d, nil
}

func (d Density) validate(space *task.Space) error {
	if err := checkObservations("density", d.Observations); err != nil {
		return err
	}
	if err := checkRelease("density", d.Release); err != nil {
		return err
	}
	if n := len(d.Components); n < 1 || n > MaxComponents {
		return fmt.Errorf("a density of %d components, expected 1 to %d", n, MaxComponents)
	}
	sum := 0.0
	for i, c := range d.Components {
		weight := float64(float32(c.Weight)) // the encoded value: a very small weight becomes 0 as float32
		switch {
		case !(weight > 0 && weight <= 1+weightsOff):
			return fmt.Errorf("component %d of a density has weight %g, expected more than 0 and up to 1", i, c.Weight)
		case !(float32(c.Std) >= MinSpread && float32(c.Std) <= MaxSpread):
			return fmt.Errorf("component %d of a density has std %g, expected %g to %g", i, c.Std, MinSpread, MaxSpread)
		}
		if err := c.Center.check(space); err != nil {
			return fmt.Errorf("component %d of a density: %w", i, err)
		}
		sum += weight
	}
	if math.Abs(sum-1) > weightsOff {
		return fmt.Errorf("a density whose weights sum to %g, expected 1", sum)
	}
	return nil
}
