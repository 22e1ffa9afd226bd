package protocol

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
	"github.com/fbo-node/fbo/task"
)

func exampleComparisons() map[string]Comparison {
	session := [SessionBytes]byte{1, 2, 3}
	design := exampleNearOptimal()
	design.Bound = nil
	return map[string]Comparison{
		"offer":                    {Session: session, Offer: bytes.Repeat([]byte{7}, OfferBytes)},
		"answer":                   {Session: session, Answer: bytes.Repeat([]byte{7}, AnswerBytes)},
		"refusal":                  {Session: session, Refusal: RefusedOften},
		"verdict":                  {Session: session, Verdict: &Verdict{}},
		"verdict that it exceeds":  {Session: session, Verdict: &Verdict{Design: &design}},
		"refusal of later version": {Session: session, Refusal: maxRefusal},
	}
}

func comparisons(space *task.Space) codec[Comparison] {
	return codecIn(space, Comparison.Encode, DecodeComparison)
}

func TestComparisonTravels(t *testing.T) {
	space := mixedSpace(t)
	for name, c := range exampleComparisons() {
		comparisons(space).survives(t, c)
		t.Logf("%s: %d bytes", name, len(comparisons(space).encoded(t, c)))
	}
}

func TestMalformedComparisons(t *testing.T) {
	space := mixedSpace(t)
	session := make([]byte, SessionBytes)
	bounded := nearOptimals(space).encoded(t, exampleNearOptimal())
	for name, m := range map[string]*pb.Comparison{
		"nothing":           {},
		"no step":           {Session: session},
		"no session":        {Step: &pb.Comparison_Refusal{Refusal: 1}},
		"a longer session":  {Session: append(session, 0), Step: &pb.Comparison_Refusal{Refusal: 1}},
		"an empty offer":    {Session: session, Step: &pb.Comparison_Offer{}},
		"a shorter offer":   {Session: session, Step: &pb.Comparison_Offer{Offer: make([]byte, OfferBytes-1)}},
		"a longer offer":    {Session: session, Step: &pb.Comparison_Offer{Offer: make([]byte, OfferBytes+1)}},
		"an empty answer":   {Session: session, Step: &pb.Comparison_Answer{}},
		"a shorter answer":  {Session: session, Step: &pb.Comparison_Answer{Answer: make([]byte, AnswerBytes-1)}},
		"a longer answer":   {Session: session, Step: &pb.Comparison_Answer{Answer: make([]byte, AnswerBytes+1)}},
		"no reason":         {Session: session, Step: &pb.Comparison_Refusal{}},
		"a reason too high": {Session: session, Step: &pb.Comparison_Refusal{Refusal: maxRefusal + 1}},
		"a huge reason":     {Session: session, Step: &pb.Comparison_Refusal{Refusal: 1<<32 - 1}},
		"a bound":           {Session: session, Step: &pb.Comparison_Verdict{Verdict: &pb.Verdict{Design: bounded}}},
		"no design":         {Session: session, Step: &pb.Comparison_Verdict{Verdict: &pb.Verdict{Design: []byte{1}}}},
	} {
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		comparisons(space).malformed(t, name, data)
	}
	long := exampleComparisons()["answer"]
	comparisons(space).refusesDamage(t, long, AnswerBytes+pointBytes(space)+2*payloadOverhead, nil)
	both := long
	both.Refusal = RefusedEarly
	for name, c := range map[string]Comparison{"two steps": both, "no step": {}, "a negative reason": {Refusal: -1}} {
		comparisons(space).unsendable(t, name, c)
	}
}

func FuzzDecodeComparison(f *testing.F) {
	codec, all := comparisons(mixedSpace(f)), exampleComparisons()
	var seeds [][]byte
	for _, c := range all {
		seeds = append(seeds, codec.encoded(f, c))
	}
	codec.fuzz(f, all["answer"], nil, seeds...)
}
