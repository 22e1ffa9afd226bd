package securesum

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

// element is a number modulo prime, always in its smallest form. The operations take the same time
// for all numbers: no branch and no index depends on them.
type element uint64

// prime is the Mersenne prime 2⁶¹−1, so that a product is reduced by one shift and one addition
// (2⁶¹ ≡ 1).
const prime = 1<<61 - 1

// MaxSum is the largest absolute value of numbers that the field represents uniquely: those from
// −MaxSum to MaxSum.
const MaxSum = (prime - 1) / 2

// fold reduces a number below 2·prime.
func fold(x uint64) element {
	x -= prime
	return element(x + prime&-(x>>63))
}

func add(a, b element) element { return fold(uint64(a) + uint64(b)) }

func subtract(a, b element) element { return fold(uint64(a) + prime - uint64(b)) }

func multiply(a, b element) element {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return fold(low&prime + (low>>61 | high<<3))
}

// invert returns 1/a by Fermat's theorem, and 0 for 0.
func invert(a element) element {
	result := element(1)
	for range 59 { // prime − 2 is 59 ones, a zero and a one
		result = multiply(multiply(result, result), a)
	}
	result = multiply(result, result)
	return multiply(multiply(result, result), a)
}

// encode maps −MaxSum…MaxSum into the field, negative numbers to its upper half.
func encode(v int64) element { return fold(uint64(v + v>>63&prime)) }

// decode is the inverse of encode.
func decode(a element) int64 {
	v := int64(a)
	return v - prime&((MaxSum-v)>>63)
}

// addTo adds b to a in place; they have the same length.
func addTo(a, b []element) {
	for i, x := range b {
		a[i] = add(a[i], x)
	}
}

// draw fills a vector with independent uniform elements.
func draw(into []element, random io.Reader) error {
	buffer := make([]byte, 8*len(into))
	if _, err := io.ReadFull(random, buffer); err != nil {
		return fmt.Errorf("random bytes: %w", err)
	}
	for i := range into {
		word := buffer[8*i : 8*i+8]
		x := binary.LittleEndian.Uint64(word) & prime
		for x == prime { // probability 1 in 2⁶¹; taking it for 0 would favour 0
			if _, err := io.ReadFull(random, word); err != nil {
				return fmt.Errorf("random bytes: %w", err)
			}
			x = binary.LittleEndian.Uint64(word) & prime
		}
		into[i] = element(x)
	}
	return nil
}
