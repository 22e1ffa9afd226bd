package protocol

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// exampleParties is how many the roster of the examples has.
const exampleParties = 3

func exampleEvaluation() Evaluation {
	value := -2.5
	return Evaluation{Number: 7, Round: 4, Point: mixedPoint(), Value: &value}
}

func exampleBatch() Batch {
	heads := make([]byte, exampleParties*HeadBytes)
	for i := range heads {
		heads[i] = byte(i)
	}
	return Batch{
		Round: 4, Turn: 1, Counts: []int{5, 0, 300}, Heads: heads,
		Lengthscales: []float64{0.25, 0.5, 1, 2}, Noise: 0.125,
		Assigned: []Assigned{{0, mixedPoint()}, {2, mixedPoint()}},
	}
}

func exampleAssignment(t testing.TB) Assignment {
	return Assignment{Round: 4, Party: idsOf(t, 1)[0], Point: mixedPoint(), Parties: 3, RewardDifference: -0.75}
}

func exampleFairMessage() FairMessage {
	return FairMessage{
		Shares:   [][]byte{[]byte("one"), []byte("three")},
		Progress: &Progress{Round: 4, Counts: []int{5, 0, 300}, Waiting: true},
		Notices:  []Notice{{Party: 2, Reason: 3}},
	}
}

func evaluations(space *task.Space) codec[Evaluation] {
	return codecIn(space, Evaluation.Encode, DecodeEvaluation)
}

func batches(space *task.Space, parties int) codec[Batch] {
	return codec[Batch]{
		func(b Batch) ([]byte, error) { return b.Encode(space) },
		func(data []byte) (Batch, error) { return DecodeBatch(data, space, parties) },
	}
}

func assignments(space *task.Space) codec[Assignment] {
	return codecIn(space, Assignment.Encode, DecodeAssignment)
}

func fairMessages(parties int) codec[FairMessage] {
	return codec[FairMessage]{FairMessage.Encode, func(data []byte) (FairMessage, error) { return DecodeFairMessage(data, parties) }}
}

// drawNumber draws what a count may be.
func drawNumber(t *rapid.T, name string, least int) int {
	return rapid.IntRange(least, maxNumber).Draw(t, name)
}

func drawCounts(t *rapid.T, parties int) []int {
	return rapid.SliceOfN(rapid.IntRange(0, maxNumber), parties, parties).Draw(t, "counts")
}

func TestEvaluationsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := drawSpace(t)
		evaluations(space).survives(t, Evaluation{
			Number:   drawNumber(t, "number", 1),
			Round:    drawNumber(t, "round", 0),
			Point:    PointOf(space, drawDesign(t, space)),
			Value:    drawUnit(t, "value"),
			Imported: rapid.Bool().Draw(t, "past"),
		})
	})
}

// A result of 0 is one, and differs from a failure.
func TestNoResultIsNotZero(t *testing.T) {
	zero := 0.0
	for _, value := range []*float64{nil, &zero} {
		e := exampleEvaluation()
		e.Value = value
		evaluations(mixedSpace(t)).survives(t, e)
	}
}

func TestEvaluationsThatAreRefused(t *testing.T) {
	space := mixedSpace(t)
	good := func() *pb.Evaluation {
		return &pb.Evaluation{Number: 7, Round: 4, Point: mixedPoint().message(), Value: proto.Float64(-2.5)}
	}
	codec := evaluations(space)
	for name, change := range map[string]func(*pb.Evaluation){
		"number 0":           func(m *pb.Evaluation) { m.Number = 0 },
		"number too large":   func(m *pb.Evaluation) { m.Number = maxNumber + 1 },
		"the largest number": func(m *pb.Evaluation) { m.Number = math.MaxUint32 },
		"round too large":    func(m *pb.Evaluation) { m.Round = maxNumber + 1 },
		"the largest round":  func(m *pb.Evaluation) { m.Round = math.MaxUint32 },
		"NaN":                func(m *pb.Evaluation) { m.Value = proto.Float64(math.NaN()) },
		"infinite":           func(m *pb.Evaluation) { m.Value = proto.Float64(math.Inf(1)) },
		"minus infinite":     func(m *pb.Evaluation) { m.Value = proto.Float64(math.Inf(-1)) },
		"huge":               func(m *pb.Evaluation) { m.Value = proto.Float64(-1.001 * MaxUnit) },
	} {
		m := good()
		change(m)
		codec.judges(t, name, m, Evaluation{Number: int(m.Number), Round: int(m.Round), Point: mixedPoint(), Value: m.Value}, false)
	}
	for name, change := range map[string]func(*Evaluation){
		"negative number": func(e *Evaluation) { e.Number = -1 },
		"negative round":  func(e *Evaluation) { e.Round = -1 },
	} {
		e := exampleEvaluation()
		change(&e)
		codec.unsendable(t, name, e)
	}
	codec.refusesDamage(t, exampleEvaluation(), pointBytes(space)+payloadOverhead, func(p *pb.Point) proto.Message {
		m := good()
		m.Point = p
		return m
	})
}

func TestBatchesSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space, parties := drawSpace(t), rapid.IntRange(1, MaxParties).Draw(t, "parties")
		hyper := rapid.Float64Range(1e-300, math.MaxFloat64)
		want := Batch{
			Round:        drawNumber(t, "round", 1),
			Turn:         drawNumber(t, "turn", 0),
			Counts:       drawCounts(t, parties),
			Heads:        rapid.SliceOfN(rapid.Byte(), parties*HeadBytes, parties*HeadBytes).Draw(t, "heads"),
			Lengthscales: rapid.SliceOfN(hyper, 1, space.Len()).Draw(t, "lengthscales"),
			Noise:        hyper.Draw(t, "noise"),
		}
		served := rapid.SliceOfNDistinct(rapid.IntRange(0, parties-1), 1, parties, rapid.ID[int]).Draw(t, "served")
		slices.Sort(served)
		for _, party := range served {
			want.Assigned = append(want.Assigned, Assigned{party, PointOf(space, drawDesign(t, space))})
		}
		batches(space, parties).survives(t, want)
		for _, other := range []int{parties - 1, parties + 1} {
			if _, err := DecodeBatch(batches(space, parties).encoded(t, want), space, other); !errors.Is(err, ErrMalformed) {
				t.Fatalf("a batch for %d parties is one for %d: %v", parties, other, err)
			}
		}
	})
}

func TestBatchesThatAreRefused(t *testing.T) {
	space := mixedSpace(t)
	codec := batches(space, exampleParties)
	good := func() *pb.Batch {
		b := exampleBatch()
		m := &pb.Batch{Round: 4, Turn: 1, Counts: unsigned(b.Counts), Heads: b.Heads, Lengthscales: slices.Clone(b.Lengthscales), Noise: b.Noise}
		for _, a := range b.Assigned {
			m.Assigned = append(m.Assigned, &pb.Assigned{Party: uint32(a.Party), Point: a.Point.message()})
		}
		return m
	}
	for name, change := range map[string]func(*pb.Batch){
		"round 0":                  func(m *pb.Batch) { m.Round = 0 },
		"round too large":          func(m *pb.Batch) { m.Round = maxNumber + 1 },
		"the largest round":        func(m *pb.Batch) { m.Round = math.MaxUint32 },
		"turn too large":           func(m *pb.Batch) { m.Turn = maxNumber + 1 },
		"the largest turn":         func(m *pb.Batch) { m.Turn = math.MaxUint32 },
		"a count less":             func(m *pb.Batch) { m.Counts = m.Counts[:2] },
		"a count more":             func(m *pb.Batch) { m.Counts = append(m.Counts, 0) },
		"no counts":                func(m *pb.Batch) { m.Counts = nil },
		"a count too large":        func(m *pb.Batch) { m.Counts[1] = maxNumber + 1 },
		"the largest count":        func(m *pb.Batch) { m.Counts[1] = math.MaxUint32 },
		"a byte of heads less":     func(m *pb.Batch) { m.Heads = m.Heads[1:] },
		"a byte of heads more":     func(m *pb.Batch) { m.Heads = append(slices.Clone(m.Heads), 0) },
		"no heads":                 func(m *pb.Batch) { m.Heads = nil },
		"a lengthscale too many":   func(m *pb.Batch) { m.Lengthscales = append(m.Lengthscales, 1) },
		"lengthscale 0":            func(m *pb.Batch) { m.Lengthscales[3] = 0 },
		"a negative lengthscale":   func(m *pb.Batch) { m.Lengthscales[3] = -1 },
		"lengthscale NaN":          func(m *pb.Batch) { m.Lengthscales[3] = math.NaN() },
		"an infinite lengthscale":  func(m *pb.Batch) { m.Lengthscales[0] = math.Inf(1) },
		"noise 0":                  func(m *pb.Batch) { m.Noise = 0 },
		"noise NaN":                func(m *pb.Batch) { m.Noise = math.NaN() },
		"infinite noise":           func(m *pb.Batch) { m.Noise = math.Inf(1) },
		"no designs":               func(m *pb.Batch) { m.Assigned = nil },
		"a design for nobody":      func(m *pb.Batch) { m.Assigned[1].Party = exampleParties },
		"a design for the largest": func(m *pb.Batch) { m.Assigned[1].Party = math.MaxUint32 },
		"two for one party":        func(m *pb.Batch) { m.Assigned[1].Party = 0 },
		"in another order":         func(m *pb.Batch) { m.Assigned[0].Party, m.Assigned[1].Party = 2, 0 },
	} {
		m := good()
		change(m)
		b := Batch{Round: int(m.Round), Turn: int(m.Turn), Heads: m.Heads, Lengthscales: m.Lengthscales, Noise: m.Noise}
		for _, count := range m.Counts {
			b.Counts = append(b.Counts, int(count))
		}
		for _, a := range m.Assigned {
			b.Assigned = append(b.Assigned, Assigned{int(a.Party), pointFrom(a.Point)})
		}
		codec.judges(t, name, m, b, false)
	}
	for name, change := range map[string]func(*Batch){
		"negative round": func(b *Batch) { b.Round = -1 },
		"negative turn":  func(b *Batch) { b.Turn = -1 },
		"negative count": func(b *Batch) { b.Counts[0] = -1 },
		"negative party": func(b *Batch) { b.Assigned[0].Party = -1 },
	} {
		b := exampleBatch()
		change(&b)
		codec.unsendable(t, name, b)
	}
	codec.refusesDamage(t, exampleBatch(), batchBytes(space, exampleParties), func(p *pb.Point) proto.Message {
		m := good()
		m.Assigned[1].Point = p
		return m
	})
}

func TestAssignmentsSurviveTheWire(t *testing.T) {
	ids := idsOf(t, 5)
	rapid.Check(t, func(t *rapid.T) {
		space := drawSpace(t)
		assignments(space).survives(t, Assignment{
			Round:            drawNumber(t, "round", 1),
			Party:            rapid.SampledFrom(ids).Draw(t, "party"),
			Point:            PointOf(space, drawDesign(t, space)),
			Parties:          rapid.IntRange(1, MaxParties).Draw(t, "parties"),
			RewardDifference: rapid.Float64Range(-MaxUnit, MaxUnit).Draw(t, "gain"),
		})
	})
}

func TestAssignmentsThatAreRefused(t *testing.T) {
	space, id := mixedSpace(t), idsOf(t, 1)[0]
	good := func() *pb.Assignment {
		return &pb.Assignment{Round: 4, Party: []byte(id), Point: mixedPoint().message(), Parties: 3, RewardDifference: -0.75}
	}
	codec := assignments(space)
	for name, change := range map[string]func(*pb.Assignment){
		"round 0":             func(m *pb.Assignment) { m.Round = 0 },
		"round too large":     func(m *pb.Assignment) { m.Round = maxNumber + 1 },
		"the largest round":   func(m *pb.Assignment) { m.Round = math.MaxUint32 },
		"no party":            func(m *pb.Assignment) { m.Party = nil },
		"a party cut short":   func(m *pb.Assignment) { m.Party = m.Party[:20] },
		"a party with more":   func(m *pb.Assignment) { m.Party = append(slices.Clone(m.Party), 0) },
		"a huge party":        func(m *pb.Assignment) { m.Party = make([]byte, 1000) },
		"no parties":          func(m *pb.Assignment) { m.Parties = 0 },
		"too many parties":    func(m *pb.Assignment) { m.Parties = MaxParties + 1 },
		"the most parties":    func(m *pb.Assignment) { m.Parties = math.MaxUint32 },
		"gain NaN":            func(m *pb.Assignment) { m.RewardDifference = math.NaN() },
		"infinite gain":       func(m *pb.Assignment) { m.RewardDifference = math.Inf(1) },
		"minus infinite gain": func(m *pb.Assignment) { m.RewardDifference = math.Inf(-1) },
		"huge gain":           func(m *pb.Assignment) { m.RewardDifference = 1.001 * MaxUnit },
	} {
		m := good()
		change(m)
		a := Assignment{Round: int(m.Round), Party: peer.ID(m.Party), Point: mixedPoint(), Parties: int(m.Parties), RewardDifference: m.RewardDifference}
		codec.judges(t, name, m, a, false)
	}
	codec.refusesDamage(t, exampleAssignment(t), pointBytes(space)+2*payloadOverhead, func(p *pb.Point) proto.Message {
		m := good()
		m.Point = p
		return m
	})
}

func TestFairMessagesSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parties := rapid.IntRange(1, MaxParties).Draw(t, "parties")
		want := FairMessage{Shares: rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 300), 1, 20).Draw(t, "statements")}
		if rapid.Bool().Draw(t, "holding") {
			want.Progress = &Progress{Round: drawNumber(t, "round", 0), Counts: drawCounts(t, parties), Waiting: rapid.Bool().Draw(t, "waiting")}
		}
		for range rapid.IntRange(0, MaxParties).Draw(t, "notices") {
			want.Notices = append(want.Notices, Notice{
				Party:  rapid.IntRange(0, parties-1).Draw(t, "party"),
				Reason: rapid.IntRange(1, maxReason).Draw(t, "reason"),
			})
		}
		fairMessages(parties).survives(t, want)
	})
}

func TestFairMessagesThatAreRefused(t *testing.T) {
	good := func() *pb.FairMessage {
		return &pb.FairMessage{
			Shares:   [][]byte{[]byte("one")},
			Progress: &pb.Progress{Round: 4, Counts: []uint32{5, 0, 300}},
			Notices:  []*pb.Notice{{Party: 2, Reason: 3}},
		}
	}
	codec := fairMessages(exampleParties)
	for name, change := range map[string]func(*pb.FairMessage){
		"too many statements":    func(m *pb.FairMessage) { m.Shares = make([][]byte, maxStatements+1) },
		"a round too large":      func(m *pb.FairMessage) { m.Progress.Round = maxNumber + 1 },
		"the largest round":      func(m *pb.FairMessage) { m.Progress.Round = math.MaxUint32 },
		"no counts":              func(m *pb.FairMessage) { m.Progress.Counts = nil },
		"a count less":           func(m *pb.FairMessage) { m.Progress.Counts = m.Progress.Counts[1:] },
		"a count more":           func(m *pb.FairMessage) { m.Progress.Counts = append(m.Progress.Counts, 0) },
		"a count too large":      func(m *pb.FairMessage) { m.Progress.Counts[0] = maxNumber + 1 },
		"the largest count":      func(m *pb.FairMessage) { m.Progress.Counts[0] = math.MaxUint32 },
		"a notice about nobody":  func(m *pb.FairMessage) { m.Notices[0].Party = exampleParties },
		"about the largest":      func(m *pb.FairMessage) { m.Notices[0].Party = math.MaxUint32 },
		"for no reason":          func(m *pb.FairMessage) { m.Notices[0].Reason = 0 },
		"for a reason too large": func(m *pb.FairMessage) { m.Notices[0].Reason = maxReason + 1 },
		"too many notices": func(m *pb.FairMessage) {
			for range MaxParties {
				m.Notices = append(m.Notices, &pb.Notice{Party: 1, Reason: 1})
			}
		},
	} {
		m := good()
		change(m)
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		codec.malformed(t, name, data)
	}
	// An author knows the roster by its counts alone.
	for name, change := range map[string]func(*FairMessage){
		"too many statements": func(m *FairMessage) { m.Shares = make([][]byte, maxStatements+1) },
		"too many bytes":      func(m *FairMessage) { m.Shares = [][]byte{make([]byte, MaxDirectBytes)} },
		"too many parties":    func(m *FairMessage) { m.Progress.Counts = make([]int, MaxParties+1) },
		"a negative round":    func(m *FairMessage) { m.Progress.Round = -1 },
		"a round too large":   func(m *FairMessage) { m.Progress.Round = maxNumber + 1 },
		"a negative count":    func(m *FairMessage) { m.Progress.Counts[1] = -1 },
		"a count too large":   func(m *FairMessage) { m.Progress.Counts[1] = maxNumber + 1 },
		"about a negative":    func(m *FairMessage) { m.Notices[0].Party = -1 },
		"about nobody":        func(m *FairMessage) { m.Notices[0].Party = exampleParties },
		"about one of many":   func(m *FairMessage) { m.Progress = nil; m.Notices[0].Party = MaxParties },
		"for no reason":       func(m *FairMessage) { m.Notices[0].Reason = 0 },
		"a negative reason":   func(m *FairMessage) { m.Notices[0].Reason = -1 },
		"too large a reason":  func(m *FairMessage) { m.Notices[0].Reason = maxReason + 1 },
		"too many notices":    func(m *FairMessage) { m.Notices = slices.Repeat(m.Notices, MaxParties+1) },
	} {
		m := exampleFairMessage()
		change(&m)
		codec.unsendable(t, name, m)
	}
	data := codec.encoded(t, exampleFairMessage())
	for name, data := range map[string][]byte{
		"garbage":        {0xff, 0xff, 0xff},
		"cut in a field": data[:len(data)-1],
		"a wrong end":    append(slices.Clone(data), 0x12),
		"too long":       ballast(t, data, MaxDirectBytes+1),
	} {
		codec.malformed(t, name, data)
	}
	if _, err := codec.decode(ballast(t, data, MaxDirectBytes)); err != nil {
		t.Errorf("%d bytes: %v", MaxDirectBytes, err)
	}
}

// A message may say nothing at all.
func TestEmptyFairMessage(t *testing.T) {
	data, err := FairMessage{}.Encode()
	if err != nil || len(data) != 0 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	if got, err := DecodeFairMessage(data, exampleParties); err != nil || !reflect.DeepEqual(got, FairMessage{}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// The largest batch there can be fits into an envelope, and its decoder takes it.
func TestLargestBatchFits(t *testing.T) {
	eachLargestPoint(t, func(t *testing.T, space *task.Space, point Point) {
		b := Batch{
			Round: maxNumber, Turn: maxNumber, Heads: bytes.Repeat([]byte{1}, MaxParties*HeadBytes), Noise: math.Pi,
			Counts:       slices.Repeat([]int{maxNumber}, MaxParties),
			Lengthscales: slices.Repeat([]float64{math.Pi}, space.Len()),
		}
		for party := range MaxParties {
			b.Assigned = append(b.Assigned, Assigned{party, point})
		}
		batches(space, MaxParties).survives(t, b)
		s := exampleShare(t)
		s.Payload = batches(space, MaxParties).encoded(t, b)
		t.Logf("%d bytes", len(seal(t, s, fbotest.Key(t, 1)).Envelope))
	})
}

func FuzzDecodeEvaluation(f *testing.F) {
	space := mixedSpace(f)
	evaluations(space).fuzz(f, exampleEvaluation(), func(_ *testing.T, e *Evaluation) { space.Decode(e.Point.Encoded(space)) })
}

func FuzzDecodeBatch(f *testing.F) {
	batches(mixedSpace(f), exampleParties).fuzz(f, exampleBatch(), func(_ *testing.T, b *Batch) {
		if len(b.Lengthscales) == 0 {
			b.Lengthscales = nil
		}
	})
}

func FuzzDecodeAssignment(f *testing.F) {
	assignments(mixedSpace(f)).fuzz(f, exampleAssignment(f), nil)
}

func FuzzDecodeFairMessage(f *testing.F) {
	fairMessages(exampleParties).fuzz(f, exampleFairMessage(), nil)
}
