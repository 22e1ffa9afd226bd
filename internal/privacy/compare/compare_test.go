package compare

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudflare/circl/group"
	"pgregory.net/rapid"
)

// source returns random bytes that are the same in each run.
func source(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

var conversation = []byte("a and b, number 1")

// compare plays a whole comparison.
func compare(t testing.TB, value, threshold uint64, random *rand.ChaCha8) bool {
	t.Helper()
	c, offer, err := Begin(value, conversation, random)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Answer(threshold, conversation, offer, random)
	if err != nil {
		t.Fatal(err)
	}
	exceeds, err := c.End(answer)
	if err != nil {
		t.Fatal(err)
	}
	if len(offer) != OfferBytes || len(answer) != AnswerBytes {
		t.Fatalf("an offer of %d bytes, an answer of %d, want %d and %d", len(offer), len(answer), OfferBytes, AnswerBytes)
	}
	return exceeds
}

func TestComparisonEqualsGreaterThan(t *testing.T) {
	random := source(1)
	numbers := []uint64{0, 1, 1<<32 - 1, 1 << 63, math.MaxUint64}
	for _, value := range numbers {
		for _, threshold := range numbers {
			if got := compare(t, value, threshold, random); got != (value > threshold) {
				t.Errorf("%d > %d is said to be %t", value, threshold, got)
			}
		}
	}
}

// Numbers that differ in one bit are the hard ones.
func TestComparisonOfNeighbours(t *testing.T) {
	random := source(2)
	numbers := rand.New(random)
	for bit := range Bits {
		x := numbers.Uint64()
		y := x ^ 1<<bit
		if got := compare(t, x, y, random); got != (x > y) {
			t.Errorf("%x > %x is said to be %t", x, y, got)
		}
	}
}

// The sets meet in one element where they should, for all pairs of 8 bits, and what
// fills them up is never met.
func TestSetsMeetOnceOrNever(t *testing.T) {
	for x := range uint64(256) {
		for y := range uint64(256) {
			met := 0
			second := zeros(y, 8)
			for _, e := range ones(x, 8) {
				if slices.Contains(second, e) {
					met++
				}
			}
			if want := map[bool]int{true: 1}[x > y]; met != want {
				t.Fatalf("%d and %d have %d elements in common, want %d", x, y, met, want)
			}
		}
	}
}

// Honest lists have no duplicates, which would be refused.
func TestElementsDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Uint64().Draw(t, "x")
		for _, set := range [][]element{ones(x, Bits), zeros(x, Bits)} {
			seen := map[element]bool{}
			for _, e := range set {
				if seen[e] {
					t.Fatalf("%+v twice", e)
				}
				seen[e] = true
			}
		}
	})
}

func TestOrderedKeepsOrderOfFloats(t *testing.T) {
	floats := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1),
		math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := floats.Draw(t, "a"), floats.Draw(t, "b")
		first, err := Ordered(a)
		if err != nil {
			t.Fatal(err)
		}
		second, err := Ordered(b)
		if err != nil {
			t.Fatal(err)
		}
		if (first > second) != (a > b) || (first == second) != (a == b) {
			t.Fatalf("%g and %g become %x and %x", a, b, first, second)
		}
	})
	if _, err := Ordered(math.NaN()); err == nil {
		t.Error("NaN is taken")
	}
}

// The library's hash, product and encoding are those of RFC 9497, A.1.1.1, which rests on
// RFC 9380 and RFC 9496.
func TestGroupIsTheStandards(t *testing.T) {
	blind, err := hex.DecodeString("64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706")
	if err != nil {
		t.Fatal(err)
	}
	secret := curve.NewScalar()
	if err := secret.UnmarshalBinary(blind); err != nil {
		t.Fatal(err)
	}
	p := curve.HashToElement([]byte{0}, []byte("HashToGroup-OPRFV1-\x00-ristretto255-SHA512"))
	got := hex.EncodeToString(list(raise([]group.Element{p}, secret)))
	if want := "609a0ae68c15a3cf6903766461307e5c8bb2f95e7e6550e1ffa2dc99e412803c"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A message fits into its own conversation only: else the offer of one party could be
// passed on to a third one, and the answer of that be passed back.
func TestConversationsDoNotMix(t *testing.T) {
	random := source(3)
	c, offer, err := Begin(math.MaxUint64, []byte("a and b"), random)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Answer(0, []byte("a and c"), offer, random)
	if err != nil {
		t.Fatal(err)
	}
	if exceeds, err := c.End(answer); exceeds || err != nil {
		t.Errorf("the largest number exceeds the smallest one in another conversation: %t, %v", exceeds, err)
	}
}

func TestSecretsAreUsedOnce(t *testing.T) {
	random := source(4)
	c, offer, err := Begin(2, conversation, random)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Answer(1, conversation, offer, random)
	if err != nil {
		t.Fatal(err)
	}
	if exceeds, err := c.End(answer); !exceeds || err != nil {
		t.Fatal(exceeds, err)
	}
	if exceeds, err := c.End(answer); exceeds || err == nil {
		t.Errorf("a second end: %t, %v", exceeds, err)
	}
	_, again, err := Begin(2, conversation, random)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Answer(1, conversation, offer, random)
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2][]byte{"offers": {offer, again}, "first halves": {answer[:OfferBytes], other[:OfferBytes]}, "second halves": {answer[OfferBytes:], other[OfferBytes:]}} {
		if common(pair[0], pair[1]) > 0 {
			t.Errorf("two %s have elements in common", name)
		}
	}
}

func TestWithoutRandomBytes(t *testing.T) {
	if _, _, err := Begin(1, conversation, strings.NewReader("too short")); err == nil {
		t.Error("Begin does without")
	}
	_, offer, err := Begin(1, conversation, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Answer(1, conversation, offer, strings.NewReader("too short")); err == nil || errors.Is(err, ErrMalformed) {
		t.Errorf("Answer: %v", err)
	}
	if _, err := Answer(1, conversation, offer, nil); err != nil {
		t.Error(err)
	}
}

// spoil returns what can be wrong with a list of elements.
func spoil(list []byte) map[string][]byte {
	replaced := func(i int, with []byte) []byte {
		data := slices.Clone(list)
		copy(at(data, i), with)
		return data
	}
	identity := make([]byte, ElementBytes)
	swapped := replaced(0, at(list, 1))
	copy(at(swapped, 1), at(list, 0))
	// p, which is another form of 0, and p + 2^k, from RFC 9496, A.2.
	prime := append([]byte{0xed}, bytes.Repeat([]byte{0xff}, 30)...)
	prime = append(prime, 0x7f)
	negative := bytes.Clone(at(list, 5))
	negative[0] |= 1
	high := bytes.Clone(at(list, 63))
	high[31] |= 0x80
	return map[string][]byte{
		"nothing":            {},
		"a byte less":        list[:len(list)-1],
		"a byte more":        append(slices.Clone(list), 0),
		"an element less":    list[ElementBytes:],
		"an element more":    append(slices.Clone(list), bytes.Repeat([]byte{0xff}, ElementBytes)...),
		"the identity":       replaced(0, identity),
		"another form of 0":  replaced(63, prime),
		"a negative one":     replaced(5, negative),
		"a bit too high":     replaced(63, high),
		"all bits":           replaced(63, bytes.Repeat([]byte{0xff}, ElementBytes)),
		"an element twice":   replaced(1, at(list, 0)),
		"another order":      swapped,
		"a tampered element": replaced(7, append([]byte{at(list, 7)[0] ^ 4}, at(list, 7)[1:]...)),
	}
}

// What is malformed is refused, and the one who is told so can tell what it was. A
// tampered element is a valid one in one of eight cases or so; with this seed it is not.
func TestMalformedMessages(t *testing.T) {
	random := source(5)
	_, offer, err := Begin(9, conversation, random)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Answer(3, conversation, offer, random)
	if err != nil {
		t.Fatal(err)
	}
	end := func(answer []byte) error {
		c, _, err := Begin(9, conversation, random)
		if err != nil {
			t.Fatal(err)
		}
		exceeds, err := c.End(answer)
		if exceeds {
			t.Error("what is malformed exceeds")
		}
		return err
	}
	for name, spoiled := range spoil(offer) {
		if _, err := Answer(3, conversation, spoiled, random); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "offer") {
			t.Errorf("offer, %s: %v", name, err)
		}
	}
	first, second := answer[:OfferBytes], answer[OfferBytes:]
	for name, spoiled := range spoil(first) {
		if err := end(slices.Concat(spoiled, second)); !errors.Is(err, ErrMalformed) {
			t.Errorf("first half of the answer, %s: %v", name, err)
		}
	}
	for name, spoiled := range spoil(second) {
		if err := end(slices.Concat(first, spoiled)); !errors.Is(err, ErrMalformed) {
			t.Errorf("second half of the answer, %s: %v", name, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	_, offer, err := Begin(9, conversation, source(6))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(offer)
	for _, spoiled := range spoil(offer) {
		f.Add(spoiled)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		answer, err := Answer(3, conversation, data, source(7))
		if err != nil {
			if !errors.Is(err, ErrMalformed) || answer != nil {
				t.Fatalf("%d bytes, %v", len(answer), err)
			}
			return
		}
		if points, err := parse("", data); err != nil || !bytes.Equal(list(points), data) || len(answer) != AnswerBytes {
			t.Fatalf("%d bytes, %v", len(answer), err)
		}
	})
}

func FuzzEnd(f *testing.F) {
	_, offer, err := Begin(9, conversation, source(8))
	if err != nil {
		f.Fatal(err)
	}
	answer, err := Answer(3, conversation, offer, source(9))
	if err != nil {
		f.Fatal(err)
	}
	first, second := pairOf(f, answer, source(8))
	f.Add(answer)
	for _, spoiled := range spoil(offer) {
		f.Add(slices.Concat(spoiled, answer[OfferBytes:]))
		f.Add(slices.Concat(answer[:OfferBytes], spoiled))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, err := Begin(9, conversation, source(8))
		if err != nil {
			t.Fatal(err)
		}
		exceeds, err := c.End(data)
		if err != nil && (exceeds || !errors.Is(err, ErrMalformed)) {
			t.Fatalf("%t, %v", exceeds, err)
		}
		// Elements that are in no pair may be others.
		if exceeds && !(has(data[:OfferBytes], first) && has(data[OfferBytes:], second)) {
			t.Fatal("somebody without the secrets has made a pair")
		}
	})
}

// pairOf returns the element of each half of an answer by which the value exceeds, to whoever
// has begun with this randomness.
func pairOf(t testing.TB, answer []byte, random *rand.ChaCha8) (first, second []byte) {
	t.Helper()
	c, _, err := Begin(9, conversation, random)
	if err != nil {
		t.Fatal(err)
	}
	points, err := parse("second half", answer[OfferBytes:])
	if err != nil {
		t.Fatal(err)
	}
	for i, raised := range raise(points, c.secret) {
		encoded, err := raised.MarshalBinaryCompress()
		if err != nil {
			t.Fatal(err)
		}
		if has(answer[:OfferBytes], encoded) {
			return encoded, at(answer[OfferBytes:], i)
		}
	}
	t.Fatal("the answer has no pair")
	return nil, nil
}

// has tells whether an element is in a list.
func has(list, element []byte) bool {
	for i := range len(list) / ElementBytes {
		if bytes.Equal(at(list, i), element) {
			return true
		}
	}
	return false
}

// BenchmarkComparison is what a comparison costs both parties together, and each.
func BenchmarkComparison(b *testing.B) {
	b.Run("begin", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := Begin(9, conversation, nil); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(OfferBytes, "B/message")
	})
	b.Run("answer", func(b *testing.B) {
		_, offer, err := Begin(9, conversation, nil)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := Answer(3, conversation, offer, nil); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(AnswerBytes, "B/message")
	})
	b.Run("end", func(b *testing.B) {
		c, offer, err := Begin(9, conversation, nil)
		if err != nil {
			b.Fatal(err)
		}
		answer, err := Answer(3, conversation, offer, nil)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			again := *c
			if _, err := again.End(answer); err != nil {
				b.Fatal(err)
			}
		}
	})
}
