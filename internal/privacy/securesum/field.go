package securesum

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

// element is a number modulo prime, always in [0, prime). The operations take the same time for all
// numbers: no branch and no index depends on the values.
type element uint64

// prime is the Mersenne prime 2⁶¹−1. Since 2⁶¹ ≡ 1, a product is reduced by one shift and one
// addition.
const prime = 1<<61 - 1

// MaxSum is the largest number for which the field represents all integers from −MaxSum to MaxSum
// uniquely.
const MaxSum = (prime - 1) / 2

// fold returns a number below 2·prime modulo prime.
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

// encode maps the integers from −MaxSum to MaxSum into the field, negative ones to its upper half.
func encode(v int64) element { return fold(uint64(v + v>>63&prime)) }

// decode is the inverse of encode.
func decode(a element) int64 {
	v := int64(a)
	return v - prime&((MaxSum-v)>>63)
}

// addTo adds b to a in place. Both must have the same length.
func addTo(a, b []element) {
	for i, x := range b {
		a[i] = add(a[i], x)
	}
}

// draw fills a vector with independent, uniformly distributed elements.
func draw(into []element, random io.Reader) error {
	buffer := make([]byte, 8*len(into))
	if _, err := io.ReadFull(random, buffer); err != nil {
		return fmt.Errorf("random bytes: %w", err)
	}
	for i := range into {
		word := buffer[8*i : 8*i+8]
		x := binary.LittleEndian.Uint64(word) & prime
		for x == prime { // probability 1 in 2⁶¹; a reduction to 0 would make 0 more probable
			if _, err := io.ReadFull(random, word); err != nil {
				return fmt.Errorf("random bytes: %w", err)
			}
			x = binary.LittleEndian.Uint64(word) & prime
		}
		into[i] = element(x)
	}
	return nil
}
