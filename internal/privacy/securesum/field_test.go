package securesum

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

var bigPrime = big.NewInt(prime)

func bigOf(a element) *big.Int { return new(big.Int).SetUint64(uint64(a)) }

// anyElement favours the ends of the field, where reductions go wrong.
func anyElement() *rapid.Generator[element] {
	return rapid.OneOf(
		rapid.Map(rapid.Uint64Range(0, prime-1), func(x uint64) element { return element(x) }),
		rapid.SampledFrom([]element{0, 1, 2, 7, 8, MaxSum - 1, MaxSum, MaxSum + 1, MaxSum + 2, prime - 2, prime - 1}),
	)
}

func TestPrimeIsPrime(t *testing.T) {
	if !bigPrime.ProbablyPrime(30) {
		t.Fatal("not prime")
	}
}

func TestArithmeticAgreesWithBigIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyElement().Draw(t, "a"), anyElement().Draw(t, "b")
		for name, c := range map[string]struct {
			got  element
			want *big.Int
		}{
			"sum":        {add(a, b), new(big.Int).Add(bigOf(a), bigOf(b))},
			"difference": {subtract(a, b), new(big.Int).Sub(bigOf(a), bigOf(b))},
			"product":    {multiply(a, b), new(big.Int).Mul(bigOf(a), bigOf(b))},
		} {
			if bigOf(c.got).Cmp(c.want.Mod(c.want, bigPrime)) != 0 {
				t.Errorf("%s of %d and %d is %d, want %v", name, a, b, c.got, c.want)
			}
		}
		if a != 0 && bigOf(invert(a)).Cmp(new(big.Int).ModInverse(bigOf(a), bigPrime)) != 0 {
			t.Errorf("inverse of %d is %d", a, invert(a))
		}
	})
	if invert(0) != 0 {
		t.Error("the inverse of 0 is not 0")
	}
}

func TestSignedNumbersSurvive(t *testing.T) {
	for _, v := range []int64{0, 1, -1, MaxSum, -MaxSum, MaxSum - 1, 1 - MaxSum} {
		if got := decode(encode(v)); got != v || encode(v) >= prime {
			t.Errorf("%d became %d", v, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64Range(-MaxSum/2, MaxSum/2).Draw(t, "v")
		w := rapid.Int64Range(-MaxSum/2, MaxSum/2).Draw(t, "w")
		if got := decode(add(encode(v), encode(w))); got != v+w {
			t.Errorf("%d + %d = %d", v, w, got)
		}
	})
}

// The one value that 61 bits have too many is drawn anew.
func TestDrawRejectsThePrime(t *testing.T) {
	lastReports := []uint64{5, prime, math.MaxUint64, 1<<63 | 9, prime - 1}
	var data []byte
	for _, w := range lastReports {
		data = binary.LittleEndian.AppendUint64(data, w)
	}
	got := make([]element, 2) // reads 5 and the prime, then two replacements
	if err := draw(got, bytes.NewReader(data)); err != nil || got[0] != 5 || got[1] != 9 {
		t.Errorf("%v, %v", got, err)
	}
	if err := draw(make([]element, 6), bytes.NewReader(data)); err == nil {
		t.Error("too few random bytes go unnoticed")
	}
}

// Chi-square over 64 classes by the high and by the low bits. At 64,000 draws a
// class that is 20 % too likely adds 40 to the statistic, whose mean is 63 and
// whose 1e-4 quantile is 110.
func TestDrawIsUniform(t *testing.T) {
	values := make([]element, 64_000)
	if err := draw(values, rand.NewChaCha8([32]byte{1})); err != nil {
		t.Fatal(err)
	}
	for name, class := range map[string]func(element) int{
		"high bits": func(x element) int { return int(x >> 55) },
		"low bits":  func(x element) int { return int(x & 63) },
	} {
		var counts [64]float64
		for _, v := range values {
			counts[class(v)]++
		}
		chi := 0.0
		for _, c := range counts {
			chi += (c - 1000) * (c - 1000) / 1000
		}
		if chi > 110 {
			t.Errorf("%s: chi-square %.1f", name, chi)
		}
	}
}

func BenchmarkMultiply(b *testing.B) {
	x := element(12345678901234567)
	for b.Loop() {
		x = multiply(x, x)
	}
	if x == 0 {
		b.Fatal("zero")
	}
}
