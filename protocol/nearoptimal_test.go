package protocol

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol/pb"
)

func exampleNearOptimal() NearOptimal {
	bound := 0.125
	return NearOptimal{Observations: 12, Point: mixedPoint(), Bound: &bound}
}

func TestNearOptimalDesignsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := drawSpace(t)
		want := NearOptimal{
			Observations: rapid.IntRange(1, math.MaxInt32).Draw(t, "observations"),
			Point:        PointOf(space, drawDesign(t, space)),
			Bound:        drawUnit(t, "bound"),
			Release:      rapid.IntRange(0, math.MaxInt32).Draw(t, "release"),
		}
		payload, err := want.Encode(space)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeNearOptimal(payload, space); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
	})
}

func TestNearOptimalDesignsThatAreRefused(t *testing.T) {
	space := mixedSpace(t)
	good := func() *pb.NearOptimal {
		return &pb.NearOptimal{Observations: 12, Point: mixedPoint().message(), Bound: proto.Float64(0.125)}
	}
	decode := func(data []byte) error {
		_, err := DecodeNearOptimal(data, space)
		return err
	}
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
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := decode(data); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
		n := NearOptimal{Observations: int(m.Observations), Point: mixedPoint(), Bound: m.Bound, Release: int(m.Release)}
		if _, err := n.Encode(space); err == nil {
			t.Errorf("%s: was encoded", name)
		}
	}
	if _, err := (NearOptimal{Observations: -1, Point: mixedPoint()}).Encode(space); err == nil {
		t.Error("fewer than no observations: was encoded")
	}
	if _, err := (NearOptimal{Observations: 1, Point: mixedPoint(), Release: -1}).Encode(space); err == nil {
		t.Error("a negative release: was encoded")
	}
	refusesPoints(t, func(p *pb.Point) proto.Message {
		m := good()
		m.Point = p
		return m
	}, decode)
	payload, err := exampleNearOptimal().Encode(space)
	if err != nil {
		t.Fatal(err)
	}
	refusesBytes(t, payload, pointBytes(space)+roomBytes, decode)
}

// Only what is cut exactly before the bound is a design, one without a bound.
func TestNearOptimalDesignsThatAreCutShort(t *testing.T) {
	space := mixedSpace(t)
	n := exampleNearOptimal()
	payload, err := n.Encode(space)
	if err != nil {
		t.Fatal(err)
	}
	n.Bound = nil
	least, err := n.Encode(space)
	if err != nil {
		t.Fatal(err)
	}
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

// Whatever is accepted can be sent again and is the same then.
func FuzzDecodeNearOptimal(f *testing.F) {
	space := mixedSpace(f)
	payload, err := exampleNearOptimal().Encode(space)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	f.Add(payload[:9])
	f.Add([]byte{})
	for _, release := range []byte{0, 3, 0x80} { // field 4, none, a number and one cut short
		f.Add(append(slices.Clone(payload), 0x20, release))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := DecodeNearOptimal(data, space)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("the error %v is not ErrMalformed", err)
			}
			return
		}
		space.Decode(n.Point.Encoded(space))
		again, err := n.Encode(space)
		if err != nil {
			t.Fatalf("%+v was accepted and cannot be sent: %v", n, err)
		}
		if back, err := DecodeNearOptimal(again, space); err != nil || !reflect.DeepEqual(back, n) {
			t.Errorf("%+v came back as %+v, %v", n, back, err)
		}
	})
}
