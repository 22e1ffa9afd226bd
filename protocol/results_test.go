package protocol

import (
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

// limitsOfResults are the constraints of the tasks in these tests: a number and a truth value.
var limitsOfResults = []task.Constraint{{Output: "memory", Low: math.Inf(-1), High: 8}, task.TruthOf("stable")}

func exampleResults() Results {
	return Results{Observations: 12, Results: []Result{
		{Point: Point{[]float64{0, 0.5}, []int{0, 1}}, Value: -3.5, Constraints: []float64{7.25, 1}},
		{Point: mixedPoint(), Failed: true},
		{Point: mixedPoint(), Constraints: []float64{0, 0}},
	}}
}

func resultsIn(space *task.Space) codec[Results] {
	return codec[Results]{
		func(r Results) ([]byte, error) { return r.Encode(space, limitsOfResults) },
		func(data []byte) (Results, error) { return DecodeResults(data, space, limitsOfResults) },
	}
}

func TestResultsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := drawSpace(t)
		var want Results
		for range rapid.IntRange(1, MaxResults).Draw(t, "results") {
			r := Result{Point: PointOf(space, drawDesign(t, space)), Failed: rapid.Bool().Draw(t, "failed")}
			if !r.Failed {
				r.Value = rapid.Float64Range(-MaxUnit, MaxUnit).Draw(t, "value")
				r.Constraints = []float64{rapid.Float64Range(-MaxUnit, MaxUnit).Draw(t, "reading"), float64(rapid.IntRange(0, 1).Draw(t, "truth"))}
			}
			want.Results = append(want.Results, r)
		}
		want.Observations = rapid.IntRange(len(want.Results), math.MaxInt32).Draw(t, "observations")
		resultsIn(space).survives(t, want)
	})
}

func TestResultsWithoutConstraints(t *testing.T) {
	space := mixedSpace(t)
	want := Results{Observations: 2, Results: []Result{{Point: mixedPoint(), Value: 1}, {Point: mixedPoint(), Failed: true}}}
	codec[Results]{
		func(r Results) ([]byte, error) { return r.Encode(space, nil) },
		func(data []byte) (Results, error) { return DecodeResults(data, space, nil) },
	}.survives(t, want)
}

func TestResultsThatAreRefused(t *testing.T) {
	space := mixedSpace(t)
	point := mixedPoint().message()
	good := &pb.Result{Point: point, Value: proto.Float64(2), Constraints: []float64{3, 1}}
	list := func(count int) []*pb.Result { return slices.Repeat([]*pb.Result{good}, count) }
	one := func(value *float64, readings ...float64) []*pb.Result {
		return []*pb.Result{{Point: point, Value: value, Constraints: readings}}
	}
	codec := resultsIn(space)
	for _, c := range []struct {
		name         string
		observations uint32
		results      []*pb.Result
		ok           bool
	}{
		{"one result", 1, list(1), true},
		{"the most results", MaxResults, list(MaxResults), true},
		{"the most observations", math.MaxInt32, list(1), true},
		{"a failure", 1, one(nil), true},
		{"the largest value", 1, one(proto.Float64(-MaxUnit), MaxUnit, 0), true},
		{"no observations", 0, list(1), false},
		{"fewer observations than results", 1, list(2), false},
		{"observations beyond int32", 1 << 31, list(1), false},
		{"no results", 1, nil, false},
		{"too many results", 1000, list(MaxResults + 1), false},
		{"a failure with readings", 1, one(nil, 3, 1), false},
		{"a huge value", 1, one(proto.Float64(1.001*MaxUnit), 3, 1), false},
		{"an infinite value", 1, one(proto.Float64(math.Inf(-1)), 3, 1), false},
		{"no readings", 1, one(proto.Float64(2)), false},
		{"a missing reading", 1, one(proto.Float64(2), 3), false},
		{"a superfluous reading", 1, one(proto.Float64(2), 3, 1, 1), false},
		{"a huge reading", 1, one(proto.Float64(2), 1.001*MaxUnit, 1), false},
		{"half a truth", 1, one(proto.Float64(2), 3, 0.5), false},
		{"a result of nothing", 1, []*pb.Result{{Value: proto.Float64(2), Constraints: []float64{3, 1}}}, false},
	} {
		r := Results{Observations: int(c.observations)}
		for _, m := range c.results {
			r.Results = append(r.Results, Result{pointFrom(m.Point), m.Value == nil, m.GetValue(), m.Constraints})
		}
		codec.judges(t, c.name, &pb.Results{Observations: c.observations, Results: c.results}, r, c.ok)
	}
	codec.malformed(t, "a value that is no number", codecBytes(t, &pb.Results{Observations: 1, Results: one(proto.Float64(math.NaN()), 3, 1)}))
	codec.malformed(t, "a reading that is no number", codecBytes(t, &pb.Results{Observations: 1, Results: one(proto.Float64(2), math.NaN(), 1)}))
	codec.refusesDamage(t, exampleResults(), maxResultsBytes(space, limitsOfResults), func(p *pb.Point) proto.Message {
		return &pb.Results{Observations: 2, Results: []*pb.Result{good, {Point: p, Value: proto.Float64(2), Constraints: []float64{3, 1}}}}
	})
}

func codecBytes(t *testing.T, m proto.Message) []byte {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func FuzzDecodeResults(f *testing.F) {
	space := mixedSpace(f)
	resultsIn(space).fuzz(f, exampleResults(), func(_ *testing.T, r *Results) {
		for _, one := range r.Results {
			space.Decode(one.Point.Encoded(space))
		}
	})
}
