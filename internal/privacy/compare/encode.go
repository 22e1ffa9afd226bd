package compare

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"

	"github.com/cloudflare/circl/group"
)

// Bits is the number of bits of a number, and therefore the number of elements of a set.
const Bits = 64

// hashedAs is the domain separation tag of these hashes, which RFC 9380 requires.
var hashedAs = []byte("fbo-compare-1-ristretto255_XMD:SHA-512_R255MAP_RO_")

// Values of element.owner.
const (
	both     = 0 // the element may be in both sets
	beginner = 1 // the element pads the beginner's set
	answerer = 2 // the element pads the answerer's set
)

// element is an element of a set: a prefix of a number, which omits its lowest bits. Padding has
// the prefix 0.
type element struct {
	owner   byte
	without byte // number of omitted bits
	prefix  uint64
}

// ones returns the set of the beginner's number x, with one element for each of its `bits` lowest
// bits.
func ones(x uint64, bits int) []element {
	set := make([]element, bits)
	for i := range set {
		bit := x >> i & 1
		set[i] = element{owner: byte(1-bit) * beginner, without: byte(i), prefix: x >> i & -bit}
	}
	return set
}

// zeros returns the set of the answerer's number y, with one element for each of its `bits` lowest
// bits.
func zeros(y uint64, bits int) []element {
	set := make([]element, bits)
	for i := range set {
		bit := y >> i & 1
		set[i] = element{owner: byte(bit) * answerer, without: byte(i), prefix: (y>>i | 1) & (bit - 1)}
	}
	return set
}

// hash hashes an element into the group. conversation is the hash of the context of the comparison.
func (e element) hash(conversation [sha256.Size]byte) group.Element {
	message := append(conversation[:], e.owner, e.without)
	return curve.HashToElement(binary.BigEndian.AppendUint64(message, e.prefix), hashedAs)
}

// Ordered maps a float to an integer so that a < b if and only if Ordered(a) < Ordered(b). It maps
// −0 and 0 to the same integer, because they are equal. It returns an error for NaN, which has no
// order.
func Ordered(v float64) (uint64, error) {
	if math.IsNaN(v) {
		return 0, errors.New("NaN cannot be compared, expected all other numbers")
	}
	bits := math.Float64bits(v + 0) // -0 becomes 0
	negative := uint64(int64(bits) >> 63)
	return bits ^ (negative | 1<<63), nil
}
