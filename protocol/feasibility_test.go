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

func exampleFeasibility() Feasibility {
	return Feasibility{Observations: 12, Labels: []Label{
		{Point: Point{[]float64{0, 0.5}, []int{0, 1}}},
		{Point: mixedPoint(), Feasible: true},
	}}
}

func feasibilities(space *task.Space) codec[Feasibility] {
	return codecIn(space, Feasibility.Encode, DecodeFeasibility)
}

func TestLabelsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := drawSpace(t)
		var want Feasibility
		for range rapid.IntRange(1, MaxLabels).Draw(t, "labels") {
			want.Labels = append(want.Labels, Label{PointOf(space, drawDesign(t, space)), rapid.Bool().Draw(t, "feasible")})
		}
		want.Observations = rapid.IntRange(len(want.Labels), math.MaxInt32).Draw(t, "observations")
		feasibilities(space).survives(t, want)
	})
}

func TestLabelsThatAreRefused(t *testing.T) {
	space := mixedSpace(t)
	labels := func(count int) []*pb.Label {
		return slices.Repeat([]*pb.Label{{Point: mixedPoint().message(), Feasible: true}}, count)
	}
	codec := feasibilities(space)
	for _, c := range []struct {
		name         string
		observations uint32
		labels       []*pb.Label
		ok           bool
	}{
		{"one label", 1, labels(1), true},
		{"the most labels", MaxLabels, labels(MaxLabels), true},
		{"the most observations", math.MaxInt32, labels(1), true},
		{"no observations", 0, labels(1), false},
		{"fewer observations than labels", 1, labels(2), false},
		{"observations beyond int32", 1 << 31, labels(1), false},
		{"all observations", math.MaxUint32, labels(1), false},
		{"no labels", 1, nil, false},
		{"too many labels", 1000, labels(MaxLabels + 1), false},
		{"far too many labels", 1000, labels(1000), false},
		{"a label of nothing", 2, append(labels(1), &pb.Label{Feasible: true}), false},
	} {
		f := Feasibility{Observations: int(c.observations)}
		for _, m := range c.labels {
			f.Labels = append(f.Labels, Label{pointFrom(m.Point), m.Feasible})
		}
		codec.judges(t, c.name, &pb.Feasibility{Observations: c.observations, Labels: c.labels}, f, c.ok)
	}
	codec.refusesDamage(t, exampleFeasibility(), MaxLabels*(pointBytes(space)+8)+payloadOverhead, func(p *pb.Point) proto.Message {
		return &pb.Feasibility{Observations: 2, Labels: append(labels(1), &pb.Label{Point: p})}
	})
}

func FuzzDecodeFeasibility(f *testing.F) {
	space := mixedSpace(f)
	feasibilities(space).fuzz(f, exampleFeasibility(), func(_ *testing.T, labels *Feasibility) {
		for _, l := range labels.Labels {
			space.Decode(l.Point.Encoded(space))
		}
	})
}
