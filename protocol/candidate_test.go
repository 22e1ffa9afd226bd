package protocol

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol/pb"
)

const exampleRounds = 50

func exampleCandidate() Candidate {
	response := -3.5e7
	return Candidate{Round: 7, Point: mixedPoint(), Response: &response, Neighbours: 3}
}

// drawUnit draws an optional number in units of the objective.
func drawUnit(t *rapid.T, name string) *float64 {
	return rapid.Ptr(rapid.Float64Range(-MaxUnit, MaxUnit), true).Draw(t, name)
}

func TestCandidatesSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space, rounds := drawSpace(t), rapid.IntRange(1, 100000).Draw(t, "rounds")
		want := Candidate{
			Round:      rapid.IntRange(1, rounds).Draw(t, "round"),
			Point:      PointOf(space, drawDesign(t, space)),
			Response:   drawUnit(t, "response"),
			Neighbours: rapid.IntRange(0, maxNeighbours).Draw(t, "neighbours"),
		}
		payload, err := want.Encode(space, rounds)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeCandidate(payload, space, rounds); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
	})
}

// A response of 0 is one, and differs from none.
func TestNoResponseIsNotZero(t *testing.T) {
	space, zero := mixedSpace(t), 0.0
	for _, response := range []*float64{nil, &zero} {
		c := exampleCandidate()
		c.Response = response
		payload, err := c.Encode(space, exampleRounds)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeCandidate(payload, space, exampleRounds); err != nil || !reflect.DeepEqual(got.Response, response) {
			t.Errorf("%v became %v, %v", response, got.Response, err)
		}
	}
}

func TestCandidatesThatAreRefused(t *testing.T) {
	space := mixedSpace(t)
	good := func() *pb.Candidate {
		return &pb.Candidate{Round: 7, Point: mixedPoint().message(), Response: proto.Float64(-3.5e7), Neighbours: 3}
	}
	decode := func(data []byte) error {
		_, err := DecodeCandidate(data, space, exampleRounds)
		return err
	}
	for name, change := range map[string]func(*pb.Candidate){
		"round 0":               func(m *pb.Candidate) { m.Round = 0 },
		"beyond the rounds":     func(m *pb.Candidate) { m.Round = exampleRounds + 1 },
		"a round beyond int32":  func(m *pb.Candidate) { m.Round = 1 << 31 },
		"the largest round":     func(m *pb.Candidate) { m.Round = math.MaxUint32 },
		"too many neighbours":   func(m *pb.Candidate) { m.Neighbours = maxNeighbours + 1 },
		"the most neighbours":   func(m *pb.Candidate) { m.Neighbours = math.MaxUint32 },
		"NaN response":          func(m *pb.Candidate) { m.Response = proto.Float64(math.NaN()) },
		"infinite response":     func(m *pb.Candidate) { m.Response = proto.Float64(math.Inf(1)) },
		"minus infinite":        func(m *pb.Candidate) { m.Response = proto.Float64(math.Inf(-1)) },
		"huge response":         func(m *pb.Candidate) { m.Response = proto.Float64(1.001 * MaxUnit) },
		"hugely small response": func(m *pb.Candidate) { m.Response = proto.Float64(-math.MaxFloat64) },
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
		c := Candidate{Round: int(m.Round), Point: mixedPoint(), Response: m.Response, Neighbours: int(m.Neighbours)}
		if _, err := c.Encode(space, exampleRounds); err == nil {
			t.Errorf("%s: was encoded", name)
		}
	}
	for name, c := range map[string]Candidate{
		"negative round":      {Round: -1, Point: mixedPoint()},
		"negative neighbours": {Round: 1, Point: mixedPoint(), Neighbours: -1},
	} {
		if _, err := c.Encode(space, exampleRounds); err == nil {
			t.Errorf("%s: was encoded", name)
		}
	}
	refusesPoints(t, func(p *pb.Point) proto.Message {
		m := good()
		m.Point = p
		return m
	}, decode)
	payload, err := exampleCandidate().Encode(space, exampleRounds)
	if err != nil {
		t.Fatal(err)
	}
	refusesBytes(t, payload, pointBytes(space)+roomBytes, decode)
	if _, err := DecodeCandidate(payload, space, 6); !errors.Is(err, ErrMalformed) {
		t.Errorf("round 7 of 6: %v", err)
	}
}

// Wherever a candidate is cut before its point ends, it is malformed; behind
// that only a cut between two fields leaves a candidate.
func TestCandidatesThatAreCutShort(t *testing.T) {
	space := mixedSpace(t)
	payload, err := exampleCandidate().Encode(space, exampleRounds)
	if err != nil {
		t.Fatal(err)
	}
	least, err := Candidate{Round: 7, Point: mixedPoint()}.Encode(space, exampleRounds)
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for end := range payload {
		switch _, err := DecodeCandidate(payload[:end], space, exampleRounds); {
		case err == nil && end >= len(least):
			accepted++
		case !errors.Is(err, ErrMalformed):
			t.Errorf("the first %d bytes: %v", end, err)
		}
	}
	if accepted != 2 { // without the neighbours, and without the response too
		t.Errorf("%d beginnings are accepted", accepted)
	}
}

// Whatever is accepted can be sent again and is the same then.
func FuzzDecodeCandidate(f *testing.F) {
	space := mixedSpace(f)
	payload, err := exampleCandidate().Encode(space, exampleRounds)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	f.Add(payload[:9])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeCandidate(data, space, exampleRounds)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("the error %v is not ErrMalformed", err)
			}
			return
		}
		space.Decode(c.Point.Encoded(space))
		again, err := c.Encode(space, exampleRounds)
		if err != nil {
			t.Fatalf("%+v was accepted and cannot be sent: %v", c, err)
		}
		if back, err := DecodeCandidate(again, space, exampleRounds); err != nil || !reflect.DeepEqual(back, c) {
			t.Errorf("%+v came back as %+v, %v", c, back, err)
		}
	})
}
