package securesum

import (
	"crypto/sha256"
	"crypto/sha3"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A dealer proves, without disclosing its parts, that they belong to polynomials of the threshold's
// degree. After its vector it shares a few random numbers, the masks. It commits itself to each
// part by a hash. For each mask it publishes the polynomial of a random combination of all
// coordinates plus the mask. The weights of the combination follow from the commitments. A part
// that does not fit these polynomials is a proof against the dealer, which has signed both.

const (
	masks     = 3  // number of masks; a wrong part fits the combination of each mask with probability 1 in 2⁶¹
	saltBytes = 64 // twice the length of a hash, so that each hash is equally likely for all parts
)

// part is the data that a dealer sends to one member. It has the values of the polynomials at the
// member's point, with those of the masks last, and the salt of the commitment to these values.
type part struct {
	salt   []byte
	values []element
}

// share returns the values that belong to the vector, without those of the masks.
func (p part) share() []element { return p.values[:len(p.values)-masks] }

// header holds the data of a deal that is the same for all members.
type header struct {
	commitments [][sha256.Size]byte // hashes of the parts, by rank of the member
	checks      [][]element         // values of the combined polynomials, one for each mask, at points 1 to threshold+1
	signature   []byte              // signature of the dealer on the statement
}

// deals holds everything that a dealer sends in a round.
type deals struct {
	header header
	parts  []part // by rank
}

// dealing identifies a deal by its round and its dealer.
type dealing struct {
	round  uint64
	dealer int // roster index
}

// context returns the beginning of all hash inputs and signed data of a dealing.
func (e *Exchange) context(purpose string, d dealing) []byte {
	data := append([]byte(purpose), e.shape.digest[:]...)
	data = binary.BigEndian.AppendUint64(data, d.round)
	return binary.BigEndian.AppendUint64(data, uint64(d.dealer))
}

// statement returns the data that the dealer signs.
func (e *Exchange) statement(d dealing, h header) []byte {
	return h.appendUnsigned(e.context("fbo-securesum-deal-1", d))
}

// name returns a hash that identifies a dealer's header. It does not cover the signature, since a
// dealer can make many signatures of one statement.
func (e *Exchange) name(d dealing, h header) [sha256.Size]byte {
	return sha256.Sum256(e.statement(d, h))
}

// commitment is a function that returns the commitment to a part. It hides the part as long as the
// salt is unknown, and binds the dealer to the part.
type commitment func(context []byte, rank int, p part) [sha256.Size]byte

func hashed(context []byte, rank int, p part) [sha256.Size]byte {
	data := binary.BigEndian.AppendUint64(context, uint64(rank))
	data = append(data, p.salt...)
	return sha256.Sum256(appendElements(data, p.values))
}

func (e *Exchange) commitment(d dealing, rank int, p part) [sha256.Size]byte {
	return e.commit(e.context("fbo-securesum-part-1", d), rank, p)
}

// split divides a vector and new masks into parts for the committee, with their header.
func (e *Exchange) split(round uint64, vector []element) (deals, error) {
	mask := make([]element, masks)
	if err := draw(mask, e.cfg.Random); err != nil {
		return deals{}, err
	}
	shares, err := deal(append(vector, mask...), e.cfg.Committee.Threshold, e.cfg.Committee.Members, e.cfg.Random)
	if err != nil {
		return deals{}, err
	}
	parts := make([]part, len(shares))
	for rank, values := range shares {
		salt := make([]byte, saltBytes)
		if _, err := io.ReadFull(e.cfg.Random, salt); err != nil {
			return deals{}, fmt.Errorf("random bytes: %w", err)
		}
		parts[rank] = part{salt, values}
	}
	return e.seal(round, parts)
}

// seal returns the agent's parts with their signed header.
func (e *Exchange) seal(round uint64, parts []part) (deals, error) {
	d, h := dealing{round, e.self}, header{}
	for rank, p := range parts {
		h.commitments = append(h.commitments, e.commitment(d, rank, p))
	}
	weights := e.weights(d, h.commitments)
	for _, p := range parts[:e.cfg.Committee.Threshold+1] {
		h.checks = append(h.checks, combine(weights, p))
	}
	var err error
	if h.signature, err = e.cfg.Sign(e.statement(d, h)); err != nil {
		return deals{}, fmt.Errorf("signature: %w", err)
	}
	if len(h.signature) != signatureBytes {
		return deals{}, errors.New("a signature of another length than Ed25519's")
	}
	return deals{h, parts}, nil
}

// weights returns the weights of the coordinates in the combination of each mask. They are derived
// from the commitments by a hash.
func (e *Exchange) weights(d dealing, commitments [][sha256.Size]byte) [][]element {
	shake := sha3.NewSHAKE128()
	_, _ = shake.Write(e.context("fbo-securesum-weights-1", d))
	for _, c := range commitments {
		_, _ = shake.Write(c[:])
	}
	weights := make([][]element, masks)
	for i := range weights {
		weights[i] = make([]element, e.shape.dimension)
		_ = draw(weights[i], shake) // cannot fail: the output of SHAKE has no end
	}
	return weights
}

// combine returns, for each mask, the weighted sum of a share plus the mask.
func combine(weights [][]element, p part) []element {
	share := p.share()
	combined := append([]element(nil), p.values[len(share):]...)
	for i, w := range weights {
		for k, x := range share {
			combined[i] = add(combined[i], multiply(w[k], x))
		}
	}
	return combined
}

// signed reports whether the header has a valid signature of the dealer.
func (e *Exchange) signed(d dealing, h header) bool {
	return e.cfg.Verify(e.cfg.Roster[d.dealer], e.statement(d, h), h.signature)
}

// opens reports whether a part has the hash to which the header commits.
func (e *Exchange) opens(d dealing, h header, rank int, p part) bool {
	return e.commitment(d, rank, p) == h.commitments[rank]
}

// fits reports whether a part belongs to the polynomials of the header. It assumes that opens
// returns true for the part.
func (e *Exchange) fits(d dealing, h header, rank int, p part) bool {
	var answers []answer
	for k, values := range h.checks {
		answers = append(answers, answer{element(k + 1), values})
	}
	want := interpolate(answers, element(rank+1))
	for i, v := range combine(e.weights(d, h.commitments), p) {
		if v != want[i] {
			return false
		}
	}
	return true
}
