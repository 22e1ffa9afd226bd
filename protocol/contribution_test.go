package protocol

import (
	"errors"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/protocol/pb"
)

func TestContributionArrivesAsItWasSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Contribution{Release: rapid.IntRange(1, math.MaxInt32).Draw(t, "release")}
		want.Round = rapid.IntRange(want.Release, math.MaxInt32).Draw(t, "round")
		payload, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeContribution(payload); err != nil || got != want {
			t.Fatalf("%+v became %+v, %v", want, got, err)
		}
	})
}

func TestMalformedContribution(t *testing.T) {
	wire := func(release, round uint32) []byte {
		payload, err := proto.Marshal(&pb.Contribution{Release: release, Round: round})
		if err != nil {
			t.Fatal(err)
		}
		return payload
	}
	for name, payload := range map[string][]byte{
		"nothing":          nil,
		"no release":       wire(0, 3),
		"no round":         wire(1, 0),
		"more than rounds": wire(4, 3),
		"release too high": wire(math.MaxUint32, math.MaxUint32),
		"round too high":   wire(1, 1<<31),
		"cut":              wire(1, 300)[:3],
		"too long":         append(wire(1, 1), make([]byte, roomBytes)...),
	} {
		if got, err := DecodeContribution(payload); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := (Contribution{Release: 2, Round: 1}).Encode(); !errors.Is(err, ErrMalformed) {
		t.Errorf("more contributions than rounds: %v", err)
	}
}
