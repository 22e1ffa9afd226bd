package protocol

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// Bounds of a density.
const (
	MaxComponents = 16
	MinSpread     = 1e-3
	MaxSpread     = 10.0

	// weightsOff is the maximum difference of the sum of weights from 1, as they are float32.
	weightsOff = 1e-4
)

// Density is its author's belief about the location of the optimum.
type Density struct {
	Observations int         // behind it, at least 1
	Components   []Component // 1 to MaxComponents
	Release      int         // number of this DP release among its author's, from 1; 0 for tasks without privacy
}

// Component of a density is a normal, truncated to the unit cube.
type Component struct {
	Weight float64 // positive; all together 1
	Std    float64 // standard deviation of each coordinate in the unit cube
	Center Point
}

// Encode returns the payload. It returns an error for values that Decode would refuse.
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

// DecodeDensity decodes a Density. It returns an error if a centre is not a point of the space.
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
		return fmt.Errorf("a density of %d components, accepted are 1 to %d", n, MaxComponents)
	}
	sum := 0.0
	for i, c := range d.Components {
		weight := float64(float32(c.Weight)) // as encoded: a weight that is too small for a float32 would be decoded as 0
		switch {
		case !(weight > 0 && weight <= 1+weightsOff):
			return fmt.Errorf("component %d of a density has weight %g, accepted is more than 0 and up to 1", i, c.Weight)
		case !(float32(c.Std) >= MinSpread && float32(c.Std) <= MaxSpread):
			return fmt.Errorf("component %d of a density has std %g, accepted is %g to %g", i, c.Std, MinSpread, MaxSpread)
		}
		if err := c.Center.check(space); err != nil {
			return fmt.Errorf("component %d of a density: %w", i, err)
		}
		sum += weight
	}
	if math.Abs(sum-1) > weightsOff {
		return fmt.Errorf("a density whose weights sum to %g, accepted is 1", sum)
	}
	return nil
}
