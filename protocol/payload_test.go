package protocol

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/pb"
)

func weightsOf(features int) codec[Weights] {
	return codec[Weights]{Weights.Encode, func(data []byte) (Weights, error) { return DecodeWeights(data, features) }}
}

func presences() codec[Presence] { return codec[Presence]{Presence.Encode, DecodePresence} }

func TestWeightsSurviveTheWireAsFloat32(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Weights{
			Observations: rapid.IntRange(1, math.MaxInt32).Draw(t, "observations"),
			Values:       rapid.SliceOfN(rapid.Float64Range(-MaxWeight, MaxWeight), 0, 64).Draw(t, "values"),
		}
		codec := weightsOf(len(w.Values))
		got, err := codec.decode(codec.encoded(t, w))
		if err != nil {
			t.Fatal(err)
		}
		if got.Observations != w.Observations || len(got.Values) != len(w.Values) {
			t.Fatalf("got %+v, want %+v", got, w)
		}
		for i, v := range w.Values {
			if got.Values[i] != float64(float32(v)) {
				t.Fatalf("weight %d: %v became %v", i, v, got.Values[i])
			}
		}
	})
}

func TestWeightsThatAreRefused(t *testing.T) {
	large := float32(MaxWeight)
	for _, c := range []struct {
		name     string
		m        *pb.Weights
		features int
		ok       bool
	}{
		{"good", &pb.Weights{Observations: 1, Values: []float32{1, -2}}, 2, true},
		{"of a private release", &pb.Weights{Observations: 1, Values: []float32{1, -2}, Release: 7}, 2, true},
		{"of a release beyond", &pb.Weights{Observations: 1, Values: []float32{1, -2}, Release: 1 << 31}, 2, false},
		{"largest", &pb.Weights{Observations: math.MaxInt32, Values: []float32{large, -large}}, 2, true},
		{"beyond the largest", &pb.Weights{Observations: 1, Values: []float32{0, math.Nextafter32(large, 2*large)}}, 2, false},
		{"NaN", &pb.Weights{Observations: 1, Values: []float32{0, float32(math.NaN())}}, 2, false},
		{"infinite", &pb.Weights{Observations: 1, Values: []float32{float32(math.Inf(1)), 0}}, 2, false},
		{"minus infinite", &pb.Weights{Observations: 1, Values: []float32{float32(math.Inf(-1)), 0}}, 2, false},
		{"too few", &pb.Weights{Observations: 1, Values: []float32{1}}, 2, false},
		{"too many", &pb.Weights{Observations: 1, Values: []float32{1, 2, 3}}, 2, false},
		{"none", &pb.Weights{Observations: 1}, 2, false},
		{"no observations", &pb.Weights{Values: []float32{1, 2}}, 2, false},
		{"observations beyond an int32", &pb.Weights{Observations: 1 << 31, Values: []float32{1, 2}}, 2, false},
	} {
		payload, err := proto.Marshal(c.m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeWeights(payload, c.features); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// What a node encodes, its peers must accept.
func TestWeightsThatCannotBeEncoded(t *testing.T) {
	for name, w := range map[string]Weights{
		"NaN":                        {Observations: 1, Values: []float64{math.NaN()}},
		"infinite":                   {Observations: 1, Values: []float64{math.Inf(1)}},
		"large":                      {Observations: 1, Values: []float64{-1.001 * MaxWeight}},
		"no observations":            {Observations: 0, Values: []float64{1}},
		"fewer than no observations": {Observations: -1, Values: []float64{1}},
		"negative release":           {Observations: 1, Values: []float64{1}, Release: -1},
	} {
		weightsOf(1).unsendable(t, name, w)
	}
	if strconv.IntSize == 32 {
		return // an int cannot hold more than the wire accepts
	}
	beyond := math.MaxInt32
	beyond++
	weightsOf(1).unsendable(t, "observations beyond an int32", Weights{Observations: beyond, Values: []float64{1}})
}

func idsOf(t testing.TB, n byte) []peer.ID {
	ids := make([]peer.ID, n)
	for i := range ids {
		var err error
		if ids[i], err = peer.IDFromPrivateKey(fbotest.Key(t, i+1)); err != nil {
			t.Fatal(err)
		}
	}
	return ids
}

func TestMembersAreASet(t *testing.T) {
	ids := idsOf(t, 4)
	all := MembersOf(ids)
	slices.Reverse(ids)
	if MembersOf(ids) != all {
		t.Error("the order of the IDs matters")
	}
	for i := range ids {
		if MembersOf(slices.Delete(slices.Clone(ids), i, i+1)) == all {
			t.Errorf("without %v the set is the same", ids[i])
		}
	}
	if MembersOf([]peer.ID{"ab", "c"}) == MembersOf([]peer.ID{"a", "bc"}) {
		t.Error("where one ID ends does not matter")
	}
	if reversed := MembersOf(ids); reversed.Count != 4 || ids[0] != idsOf(t, 4)[3] {
		t.Error("MembersOf altered its argument")
	}
}

func TestPresenceRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Presence{
			Members: Members{Hash: [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash")), Count: rapid.IntRange(0, 1<<20).Draw(t, "count")},
			Leaving: rapid.Bool().Draw(t, "leaving"),
		}
		presences().survives(t, p)
	})
}

func TestPresenceThatIsRefused(t *testing.T) {
	for name, m := range map[string]*pb.Presence{
		"no hash":    {Members: 1},
		"short hash": {Members: 1, MembersHash: make([]byte, 31)},
		"long hash":  {Members: 1, MembersHash: make([]byte, 33)},
	} {
		payload, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		presences().malformed(t, name, payload)
	}
	presences().malformed(t, "noise", []byte{0xff})
}

// A decoder that skipped whatever it does not know would let a peer attach a
// quarter of a megabyte to a statement of forty bytes.
func TestPayloadsCarryNoBallast(t *testing.T) {
	junk := protowire.AppendTag(nil, 100, protowire.BytesType)
	junk = protowire.AppendBytes(junk, make([]byte, 1000))
	presence := presences().encoded(t, Presence{Members: MembersOf(nil)})
	presences().malformed(t, "presence", append(presence, junk...))
	weights := weightsOf(1).encoded(t, Weights{Observations: 1, Values: []float64{1}})
	weightsOf(1).malformed(t, "weights", append(weights, junk...))
}
