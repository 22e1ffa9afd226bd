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

func exampleFeasibility() Feasibility {
	return Feasibility{Observations: 12, Labels: []Label{
		{Point: Point{[]float64{0, 0.5}, []int{0, 1}}},
		{Point: mixedPoint(), Feasible: true},
	}}
}

func TestLabelsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		space := drawSpace(t)
		var want Feasibility
		for range rapid.IntRange(1, MaxLabels).Draw(t, "labels") {
			want.Labels = append(want.Labels, Label{PointOf(space, drawDesign(t, space)), rapid.Bool().Draw(t, "feasible")})
		}
		want.Observations = rapid.IntRange(len(want.Labels), math.MaxInt32).Draw(t, "observations")
		payload, err := want.Encode(space)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeFeasibility(payload, space); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, %v; want %+v", got, err, want)
		}
	})
}

func TestLabelsThatAreRefused(t *testing.T) {
	space := mixedSpace(t)
	labels := func(count int) []*pb.Label {
		return slices.Repeat([]*pb.Label{{Point: mixedPoint().message(), Feasible: true}}, count)
	}
	decode := func(data []byte) error {
		_, err := DecodeFeasibility(data, space)
		return err
	}
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
		data, err := proto.Marshal(&pb.Feasibility{Observations: c.observations, Labels: c.labels})
		if err != nil {
			t.Fatal(err)
		}
		if err := decode(data); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", c.name, err)
		}
		f := Feasibility{Observations: int(c.observations)}
		for _, m := range c.labels {
			f.Labels = append(f.Labels, Label{pointFrom(m.Point), m.Feasible})
		}
		if _, err := f.Encode(space); (err == nil) != c.ok {
			t.Errorf("%s: Encode: %v", c.name, err)
		}
	}
	refusesPoints(t, func(p *pb.Point) proto.Message {
		return &pb.Feasibility{Observations: 2, Labels: append(labels(1), &pb.Label{Point: p})}
	}, decode)
	payload, err := exampleFeasibility().Encode(space)
	if err != nil {
		t.Fatal(err)
	}
	refusesBytes(t, payload, MaxLabels*(pointBytes(space)+8)+roomBytes, decode)
}

// Whatever is accepted can be sent again and is the same then.
func FuzzDecodeFeasibility(f *testing.F) {
	space := mixedSpace(f)
	payload, err := exampleFeasibility().Encode(space)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	f.Add(payload[:9])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		labels, err := DecodeFeasibility(data, space)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("the error %v is not ErrMalformed", err)
			}
			return
		}
		for _, l := range labels.Labels {
			space.Decode(l.Point.Encoded(space))
		}
		again, err := labels.Encode(space)
		if err != nil {
			t.Fatalf("%+v was accepted and cannot be sent: %v", labels, err)
		}
		if back, err := DecodeFeasibility(again, space); err != nil || !reflect.DeepEqual(back, labels) {
			t.Errorf("%+v came back as %+v, %v", labels, back, err)
		}
	})
}
