package protocol

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// exampleDensity has numbers that are exact as float32.
func exampleDensity() Density {
	return Density{Observations: 12, Components: []Component{
		{Weight: 0.75, Std: 0.125, Center: mixedPoint()},
		{Weight: 0.25, Std: 2, Center: Point{[]float64{0, 0.5}, []int{0, 1}}},
	}}
}

func densities(space *task.Space) codec[Density] {
	return codecIn(space, Density.Encode, DecodeDensity)
}

func drawDensity(t *rapid.T, space *task.Space) Density {
	d := Density{Observations: rapid.IntRange(1, math.MaxInt32).Draw(t, "observations"), Release: rapid.IntRange(0, math.MaxInt32).Draw(t, "release")}
	weights := rapid.SliceOfN(rapid.Float64Range(1e-9, 1), 1, MaxComponents).Draw(t, "weights")
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for _, w := range weights {
		d.Components = append(d.Components, Component{
			Weight: w / sum,
			Std:    rapid.Float64Range(MinSpread, MaxSpread).Draw(t, "spread"),
			Center: PointOf(space, drawDesign(t, space)),
		})
	}
	return d
}

func TestDensitiesSurviveTheWireAsFloat32(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := drawSpace(t)
		want := drawDensity(t, space)
		got, err := DecodeDensity(densities(space).encoded(t, want), space)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want.Components {
			c := &want.Components[i]
			c.Weight, c.Std = float64(float32(c.Weight)), float64(float32(c.Std))
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		densities(space).survives(t, got)
	})
}

// Both ends of what a spread may be are no float32.
func TestSpreadsAtTheBounds(t *testing.T) {
	space := mixedSpace(t)
	for _, spread := range []float64{MinSpread, MaxSpread} {
		d := Density{Observations: 1, Components: []Component{{1, spread, mixedPoint()}}}
		if got, err := DecodeDensity(densities(space).encoded(t, d), space); err != nil || math.Abs(got.Components[0].Std/spread-1) > 1e-7 {
			t.Errorf("spread %g: %+v, %v", spread, got, err)
		}
	}
}

// What a node encodes, its peers must accept, whatever rounding does.
func TestEncodedDensitiesAreAccepted(t *testing.T) {
	space := mixedSpace(t)
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.OneOf(
			rapid.Float64Range(0, 1),
			rapid.SampledFrom([]float64{0.5, 0.5 + weightsOff/2, 0.5 - weightsOff/2, weightsOff, 1, 1 + weightsOff, 1 - weightsOff, 1e-46, 1e-300}),
		), 1, 4).Draw(t, "weights")
		d := Density{Observations: 1}
		for _, w := range weights {
			d.Components = append(d.Components, Component{w, rapid.SampledFrom([]float64{MinSpread, math.Nextafter(MinSpread, 0), 1, MaxSpread, math.Nextafter(MaxSpread, 11)}).Draw(t, "spread"), mixedPoint()})
		}
		payload, err := d.Encode(space)
		if err != nil {
			return
		}
		if _, err := DecodeDensity(payload, space); err != nil {
			t.Fatalf("weights %v: %v", weights, err)
		}
	})
}

func TestDensitiesThatAreRefused(t *testing.T) {
	space := mixedSpace(t)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	component := func(weight, spread float32) *pb.Component {
		return &pb.Component{Weight: weight, Std: spread, Center: mixedPoint().message()}
	}
	codec := densities(space)
	even := func(count int) []*pb.Component {
		var all []*pb.Component
		for range count {
			all = append(all, component(1/float32(count), 0.5))
		}
		return all
	}
	for _, c := range []struct {
		name         string
		observations uint32
		components   []*pb.Component
		ok           bool
	}{
		{"one component", 1, even(1), true},
		{"the most components", math.MaxInt32, even(MaxComponents), true},
		{"a third each", 1, even(3), true},
		{"a sum that rounding may give", 1, []*pb.Component{component(1-weightsOff/2, 0.5)}, true},
		{"no observations", 0, even(1), false},
		{"observations beyond int32", 1 << 31, even(1), false},
		{"the most observations", math.MaxUint32, even(1), false},
		{"no components", 1, nil, false},
		{"too many components", 1, even(MaxComponents + 1), false},
		{"far too many components", 1, even(1000), false},
		{"weights below 1", 1, []*pb.Component{component(0.5, 0.5), component(0.499, 0.5)}, false},
		{"weights above 1", 1, []*pb.Component{component(0.5, 0.5), component(0.501, 0.5)}, false},
		{"a weight above 1", 1, []*pb.Component{component(1.001, 0.5)}, false},
		{"a huge weight", 1, []*pb.Component{component(math.MaxFloat32, 0.5)}, false},
		{"no weight", 1, []*pb.Component{component(1, 0.5), component(0, 0.5)}, false},
		{"a negative weight", 1, []*pb.Component{component(0.75, 0.5), component(0.5, 0.5), component(-0.25, 0.5)}, false},
		{"NaN weight", 1, []*pb.Component{component(nan, 0.5)}, false},
		{"infinite weight", 1, []*pb.Component{component(inf, 0.5)}, false},
		{"no spread", 1, []*pb.Component{component(1, 0)}, false},
		{"a narrow spread", 1, []*pb.Component{component(1, 0.00099)}, false},
		{"a wide spread", 1, []*pb.Component{component(1, 10.001)}, false},
		{"a negative spread", 1, []*pb.Component{component(1, -0.5)}, false},
		{"NaN spread", 1, []*pb.Component{component(1, nan)}, false},
		{"infinite spread", 1, []*pb.Component{component(1, inf)}, false},
		{"an empty component", 1, []*pb.Component{component(1, 0.5), {}}, false},
	} {
		d := Density{Observations: int(c.observations)}
		for _, m := range c.components {
			d.Components = append(d.Components, Component{float64(m.Weight), float64(m.Std), pointFrom(m.Center)})
		}
		codec.judges(t, c.name, &pb.Density{Observations: c.observations, Components: c.components}, d, c.ok)
	}
	codec.refusesDamage(t, exampleDensity(), MaxComponents*(pointBytes(space)+24)+payloadOverhead, func(p *pb.Point) proto.Message {
		return &pb.Density{Observations: 1, Components: []*pb.Component{component(0.5, 0.5), {Weight: 0.5, Std: 0.5, Center: p}}}
	})
	payload := codec.encoded(t, exampleDensity())
	for end := range payload { // a density that lacks a component lacks its weight
		codec.malformed(t, fmt.Sprintf("the first %d bytes", end), payload[:end])
	}
}

// The number of a release stands in a payload as it is, and only within an int32.
func TestReleasesOfDensities(t *testing.T) {
	space := mixedSpace(t)
	for release, ok := range map[int64]bool{-1: false, 0: true, 1: true, math.MaxInt32: true, math.MaxInt32 + 1: false} {
		d := exampleDensity()
		d.Release = int(release) // where an int has 32 bits the last is negative, and refused as well
		m := &pb.Density{Observations: 12, Release: uint32(release)}
		for _, c := range d.Components {
			m.Components = append(m.Components, &pb.Component{Weight: float32(c.Weight), Std: float32(c.Std), Center: c.Center.message()})
		}
		densities(space).judges(t, fmt.Sprintf("release %d", release), m, d, ok)
	}
}

func FuzzDecodeDensity(f *testing.F) {
	space := mixedSpace(f)
	codec, payload := densities(space), densities(space).encoded(f, exampleDensity())
	var releases [][]byte
	for _, release := range []byte{0, 3, 0x80} { // field 3, none, a number and one cut short
		releases = append(releases, append(slices.Clone(payload), 0x18, release))
	}
	codec.fuzz(f, exampleDensity(), func(_ *testing.T, d *Density) {
		for _, c := range d.Components {
			space.Decode(c.Center.Encoded(space))
		}
	}, releases...)
}
