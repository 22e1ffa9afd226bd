package protocol

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/protocol/pb"
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

func TestComparisonTravels(t *testing.T) {
	space := mixedSpace(t)
	for name, c := range exampleComparisons() {
		data, err := c.Encode(space)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := DecodeComparison(data, space)
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		t.Logf("%s: %d bytes", name, len(data))
	}
}

func TestMalformedComparisons(t *testing.T) {
	space := mixedSpace(t)
	session := make([]byte, SessionBytes)
	bounded, err := exampleNearOptimal().Encode(space)
	if err != nil {
		t.Fatal(err)
	}
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
		if _, err := DecodeComparison(data, space); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	long := exampleComparisons()["answer"]
	data, err := long.Encode(space)
	if err != nil {
		t.Fatal(err)
	}
	refusesBytes(t, data, AnswerBytes+pointBytes(space)+2*roomBytes, func(data []byte) error {
		_, err := DecodeComparison(data, space)
		return err
	})
	both := long
	both.Refusal = RefusedEarly
	for name, c := range map[string]Comparison{"two steps": both, "no step": {}, "a negative reason": {Refusal: -1}} {
		if _, err := c.Encode(space); err == nil {
			t.Errorf("%s: was encoded", name)
		}
	}
}

// Whatever is accepted can be sent again and is the same then.
func FuzzDecodeComparison(f *testing.F) {
	space := mixedSpace(f)
	for _, c := range exampleComparisons() {
		data, err := c.Encode(space)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeComparison(data, space)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("the error %v is not ErrMalformed", err)
			}
			return
		}
		again, err := c.Encode(space)
		if err != nil {
			t.Fatalf("%+v was accepted and cannot be sent: %v", c, err)
		}
		if back, err := DecodeComparison(again, space); err != nil || !reflect.DeepEqual(back, c) {
			t.Errorf("%+v came back as %+v, %v", c, back, err)
		}
	})
}
