package protocol

import (
	"errors"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/pb"
)

func contributions() codec[Contribution] {
	return codec[Contribution]{Contribution.Encode, DecodeContribution}
}

func TestContributionArrivesAsItWasSent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Contribution{Release: rapid.IntRange(1, math.MaxInt32).Draw(t, "release")}
		want.Round = rapid.IntRange(want.Release, math.MaxInt32).Draw(t, "round")
		contributions().survives(t, want)
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
		"too long":         append(wire(1, 1), make([]byte, payloadOverhead)...),
	} {
		contributions().malformed(t, name, payload)
	}
	if _, err := (Contribution{Release: 2, Round: 1}).Encode(); !errors.Is(err, ErrMalformed) {
		t.Errorf("more contributions than rounds: %v", err)
	}
}
