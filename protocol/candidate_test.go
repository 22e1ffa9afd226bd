package protocol

import (
	"errors"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

const exampleRounds = 50

func exampleCandidate() Candidate {
	response := -3.5e7
	return Candidate{Round: 7, Point: mixedPoint(), Response: &response, VisiblePeers: 3}
}

func candidates(space *task.Space, rounds int) codec[Candidate] {
	return codec[Candidate]{
		func(c Candidate) ([]byte, error) { return c.Encode(space, rounds) },
		func(data []byte) (Candidate, error) { return DecodeCandidate(data, space, rounds) },
	}
}

// drawUnit draws an optional number in units of the objective.
func drawUnit(t *rapid.T, name string) *float64 {
	return rapid.Ptr(rapid.Float64Range(-MaxUnit, MaxUnit), true).Draw(t, name)
}

func TestCandidatesSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space, rounds := drawSpace(t), rapid.IntRange(1, 100000).Draw(t, "rounds")
		candidates(space, rounds).survives(t, Candidate{
			Round:        rapid.IntRange(1, rounds).Draw(t, "round"),
			Point:        PointOf(space, drawDesign(t, space)),
			Response:     drawUnit(t, "response"),
			VisiblePeers: rapid.IntRange(0, maxNeighbours).Draw(t, "neighbours"),
		})
	})
}

// A response of 0 is one, and differs from none.
func TestNoResponseIsNotZero(t *testing.T) {
	zero := 0.0
	for _, response := range []*float64{nil, &zero} {
		c := exampleCandidate()
		c.Response = response
		candidates(mixedSpace(t), exampleRounds).survives(t, c)
	}
}

func TestCandidatesThatAreRefused(t *testing.T) {
	space := mixedSpace(t)
	good := func() *pb.Candidate {
		return &pb.Candidate{Round: 7, Point: mixedPoint().message(), Response: proto.Float64(-3.5e7), VisiblePeers: 3}
	}
	codec := candidates(space, exampleRounds)
	for name, change := range map[string]func(*pb.Candidate){
		"round 0":               func(m *pb.Candidate) { m.Round = 0 },
		"beyond the rounds":     func(m *pb.Candidate) { m.Round = exampleRounds + 1 },
		"a round beyond int32":  func(m *pb.Candidate) { m.Round = 1 << 31 },
		"the largest round":     func(m *pb.Candidate) { m.Round = math.MaxUint32 },
		"too many neighbours":   func(m *pb.Candidate) { m.VisiblePeers = maxNeighbours + 1 },
		"the most neighbours":   func(m *pb.Candidate) { m.VisiblePeers = math.MaxUint32 },
		"NaN response":          func(m *pb.Candidate) { m.Response = proto.Float64(math.NaN()) },
		"infinite response":     func(m *pb.Candidate) { m.Response = proto.Float64(math.Inf(1)) },
		"minus infinite":        func(m *pb.Candidate) { m.Response = proto.Float64(math.Inf(-1)) },
		"huge response":         func(m *pb.Candidate) { m.Response = proto.Float64(1.001 * MaxUnit) },
		"hugely small response": func(m *pb.Candidate) { m.Response = proto.Float64(-math.MaxFloat64) },
	} {
		m := good()
		change(m)
		codec.judges(t, name, m, Candidate{Round: int(m.Round), Point: mixedPoint(), Response: m.Response, VisiblePeers: int(m.VisiblePeers)}, false)
	}
	for name, c := range map[string]Candidate{
		"negative round":      {Round: -1, Point: mixedPoint()},
		"negative neighbours": {Round: 1, Point: mixedPoint(), VisiblePeers: -1},
	} {
		codec.unsendable(t, name, c)
	}
	codec.refusesDamage(t, exampleCandidate(), pointBytes(space)+payloadOverhead, func(p *pb.Point) proto.Message {
		m := good()
		m.Point = p
		return m
	})
	candidates(space, 6).malformed(t, "round 7 of 6", codec.encoded(t, exampleCandidate()))
}

// Wherever a candidate is cut before its point ends, it is malformed; behind
// that only a cut between two fields leaves a candidate.
func TestCandidatesThatAreCutShort(t *testing.T) {
	space := mixedSpace(t)
	codec := candidates(space, exampleRounds)
	payload, least := codec.encoded(t, exampleCandidate()), codec.encoded(t, Candidate{Round: 7, Point: mixedPoint()})
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

func FuzzDecodeCandidate(f *testing.F) {
	space := mixedSpace(f)
	candidates(space, exampleRounds).fuzz(f, exampleCandidate(), func(_ *testing.T, c *Candidate) { space.Decode(c.Point.Encoded(space)) })
}
