package protocol

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

func exampleNearOptimal() NearOptimal {
	bound := 0.125
	return NearOptimal{Observations: 12, Point: mixedPoint(), Bound: &bound}
}

func nearOptimals(space *task.Space) codec[NearOptimal] {
	return codecIn(space, NearOptimal.Encode, DecodeNearOptimal)
}

func TestNearOptimalDesignsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := drawSpace(t)
		nearOptimals(space).survives(t, NearOptimal{
			Observations: rapid.IntRange(1, math.MaxInt32).Draw(t, "observations"),
			Point:        PointOf(space, drawDesign(t, space)),
			Bound:        drawUnit(t, "bound"),
			Release:      rapid.IntRange(0, math.MaxInt32).Draw(t, "release"),
		})
	})
}

func TestNearOptimalDesignsThatAreRefused(t *testing.T) {
	space := mixedSpace(t)
	good := func() *pb.NearOptimal {
		return &pb.NearOptimal{Observations: 12, Point: mixedPoint().message(), Bound: proto.Float64(0.125)}
	}
	codec := nearOptimals(space)
	for name, change := range map[string]func(*pb.NearOptimal){
		"no observations":           func(m *pb.NearOptimal) { m.Observations = 0 },
		"observations beyond int32": func(m *pb.NearOptimal) { m.Observations = 1 << 31 },
		"the most observations":     func(m *pb.NearOptimal) { m.Observations = math.MaxUint32 },
		"release beyond int32":      func(m *pb.NearOptimal) { m.Release = 1 << 31 },
		"the most releases":         func(m *pb.NearOptimal) { m.Release = math.MaxUint32 },
		"NaN bound":                 func(m *pb.NearOptimal) { m.Bound = proto.Float64(math.NaN()) },
		"infinite bound":            func(m *pb.NearOptimal) { m.Bound = proto.Float64(math.Inf(1)) },
		"minus infinite bound":      func(m *pb.NearOptimal) { m.Bound = proto.Float64(math.Inf(-1)) },
		"huge bound":                func(m *pb.NearOptimal) { m.Bound = proto.Float64(-1.001 * MaxUnit) },
	} {
		m := good()
		change(m)
		codec.judges(t, name, m, NearOptimal{Observations: int(m.Observations), Point: mixedPoint(), Bound: m.Bound, Release: int(m.Release)}, false)
	}
	codec.unsendable(t, "fewer than no observations", NearOptimal{Observations: -1, Point: mixedPoint()})
	codec.unsendable(t, "a negative release", NearOptimal{Observations: 1, Point: mixedPoint(), Release: -1})
	codec.refusesDamage(t, exampleNearOptimal(), pointBytes(space)+payloadOverhead, func(p *pb.Point) proto.Message {
		m := good()
		m.Point = p
		return m
	})
}

// Only what is cut exactly before the bound is a design, one without a bound.
func TestNearOptimalDesignsThatAreCutShort(t *testing.T) {
	space := mixedSpace(t)
	n := exampleNearOptimal()
	payload := nearOptimals(space).encoded(t, n)
	n.Bound = nil
	least := nearOptimals(space).encoded(t, n)
	for end := range payload {
		got, err := DecodeNearOptimal(payload[:end], space)
		if end == len(least) {
			if err != nil || !reflect.DeepEqual(got, n) {
				t.Errorf("without the bound: %+v, %v", got, err)
			}
		} else if !errors.Is(err, ErrMalformed) {
			t.Errorf("the first %d bytes: %v", end, err)
		}
	}
}

func FuzzDecodeNearOptimal(f *testing.F) {
	space := mixedSpace(f)
	codec, payload := nearOptimals(space), nearOptimals(space).encoded(f, exampleNearOptimal())
	var releases [][]byte
	for _, release := range []byte{0, 3, 0x80} { // field 4, none, a number and one cut short
		releases = append(releases, append(slices.Clone(payload), 0x20, release))
	}
	codec.fuzz(f, exampleNearOptimal(), func(_ *testing.T, n *NearOptimal) { space.Decode(n.Point.Encoded(space)) }, releases...)
}
