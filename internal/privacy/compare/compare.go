package compare

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cloudflare/circl/group"
)

// ElementBytes is the size of a group element.
const ElementBytes = 32

// SecretBytes is the number of random bytes that Begin and Answer read.
const SecretBytes = 64

// The sizes of the messages.
const (
	OfferBytes  = Bits * ElementBytes
	AnswerBytes = 2 * OfferBytes
)

// ErrMalformed means that no honest party sends such a message.
var ErrMalformed = errors.New("malformed message of a comparison")

var (
	curve    = group.Ristretto255
	secretAs = []byte("fbo-compare-1-secret")
)

// Comparison is the state of the party that has begun a comparison.
type Comparison struct {
	secret group.Scalar // exponent of the beginner; nil after its use
}

// Begin returns the offer of the party with the value. context identifies the comparison: it must
// contain the parties, their roles, and a number that is never used again. Both parties must use
// the same context. random is the source of secrets; nil means crypto/rand.Reader.
func Begin(value uint64, context []byte, random io.Reader) (*Comparison, []byte, error) {
	secret, err := newSecret(random)
	if err != nil {
		return nil, nil, err
	}
	return &Comparison{secret}, list(raise(hashed(ones(value, Bits), context), secret)), nil
}

// Answer returns the answer of the party with the threshold to an offer. Every error except that of
// random wraps ErrMalformed.
func Answer(threshold uint64, context, offer []byte, random io.Reader) ([]byte, error) {
	offered, err := parse("offer", offer)
	if err != nil {
		return nil, err
	}
	secret, err := newSecret(random)
	if err != nil {
		return nil, err
	}
	own := hashed(zeros(threshold, Bits), context)
	return append(list(raise(offered, secret)), list(raise(own, secret))...), nil
}

// End reports whether the value exceeds the threshold. It can be called once. If the answer is
// invalid, the error wraps ErrMalformed. The caller must then act as if the value did not exceed
// the threshold, so that the other party learns nothing else.
func (c *Comparison) End(answer []byte) (bool, error) {
	if c.secret == nil {
		return false, errors.New("the comparison has ended already")
	}
	secret := c.secret
	c.secret = nil
	if len(answer) != AnswerBytes {
		return false, fmt.Errorf("answer: %w: %d bytes, expected %d", ErrMalformed, len(answer), AnswerBytes)
	}
	if _, err := parse("first half of the answer", answer[:OfferBytes]); err != nil {
		return false, err
	}
	theirs, err := parse("second half of the answer", answer[OfferBytes:])
	if err != nil {
		return false, err
	}
	switch pairs := common(answer[:OfferBytes], list(raise(theirs, secret))); pairs {
	case 0, 1:
		return pairs == 1, nil
	default:
		return false, fmt.Errorf("answer: %w: %d of its elements are in the offer, of an honest party at most 1 is", ErrMalformed, pairs)
	}
}

// newSecret returns a uniformly distributed scalar. It hashes more random bytes than a scalar has,
// so that the distribution is uniform up to a negligible difference.
func newSecret(random io.Reader) (group.Scalar, error) {
	if random == nil {
		random = rand.Reader
	}
	var seed [SecretBytes]byte
	if _, err := io.ReadFull(random, seed[:]); err != nil {
		return nil, fmt.Errorf("random bytes: %w", err)
	}
	secret := curve.HashToScalar(seed[:], secretAs)
	if secret.IsZero() {
		return nil, errors.New("random bytes: they give no secret")
	}
	return secret, nil
}

func hashed(set []element, context []byte) []group.Element {
	conversation := sha256.Sum256(context)
	points := make([]group.Element, len(set))
	for i, e := range set {
		points[i] = e.hash(conversation)
	}
	return points
}

// raise multiplies the points by the secret in place. This is exponentiation in multiplicative
// notation.
func raise(points []group.Element, secret group.Scalar) []group.Element {
	for _, p := range points {
		p.Mul(p, secret)
	}
	return points
}

// list returns the encodings of the points, sorted by their bytes.
func list(points []group.Element) []byte {
	encoded := make([][]byte, len(points))
	for i, p := range points {
		data, err := p.MarshalBinaryCompress()
		if err != nil {
			panic(fmt.Sprintf("compare: %v", err)) // cannot happen: every point has an encoding
		}
		encoded[i] = data
	}
	slices.SortFunc(encoded, bytes.Compare)
	return slices.Concat(encoded...)
}

// at returns the bytes of element i of a list.
func at(list []byte, i int) []byte { return list[i*ElementBytes : (i+1)*ElementBytes] }

// parse reads an output of list. It returns an error unless the points are distinct, sorted and
// none is the identity.
func parse(what string, data []byte) ([]group.Element, error) {
	if len(data) != OfferBytes {
		return nil, fmt.Errorf("%s: %w: %d bytes, expected %d", what, ErrMalformed, len(data), OfferBytes)
	}
	points := make([]group.Element, Bits)
	for i := range points {
		points[i] = curve.NewElement()
		if err := points[i].UnmarshalBinary(at(data, i)); err != nil {
			return nil, fmt.Errorf("%s: %w: element %d is not the encoding of one", what, ErrMalformed, i)
		}
		if points[i].IsIdentity() {
			return nil, fmt.Errorf("%s: %w: element %d is the identity", what, ErrMalformed, i)
		}
		if i > 0 && bytes.Compare(at(data, i-1), at(data, i)) >= 0 {
			return nil, fmt.Errorf("%s: %w: element %d does not follow the one before in the order of bytes", what, ErrMalformed, i)
		}
	}
	return points, nil
}

// common returns the number of elements that two lists have in common.
func common(a, b []byte) (count int) {
	for i, j := 0, 0; i < Bits && j < Bits; {
		switch bytes.Compare(at(a, i), at(b, j)) {
		case -1:
			i++
		case 1:
			j++
		default:
			count, i, j = count+1, i+1, j+1
		}
	}
	return count
}
