package securesum

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// A message is
//
//	version (1 byte, 2) · kind (1) · digest of the configuration (32) · round (8) · body
//
// with numbers in big-endian order. Sets of the roster take ⌈n/8⌉ bytes, sets
// of the committee ⌈C/8⌉, bit i in byte i/8 from the low end, padding zero. Field
// elements take 8 bytes and are below the prime. Bodies, by kind:
//
//	1 share:       the elements of the receiver's share vector
//	2 status:      flags (1) · contributors held · members whose sums are held ·
//	               if flag 2 is set: set voted for · signature (64)
//	3 certificate: set · members who voted · their signatures, in order of rank
//	4 sum:         certificate · the elements of the sender's sum of shares
//	5 call:        nothing: is the receiver there for the round?
//	6 here:        nothing: the sender is
//
// Every length follows from the configuration (a certificate's from its own
// bits), and a message has one form: what decodes encodes to the same bytes.
const wireVersion = 2

const (
	kindShare       = 1
	kindStatus      = 2
	kindCertificate = 3
	kindSum         = 4
	kindCall        = 5
	kindHere        = 6
)

const (
	flagCertified = 1 // the sender has the certificate
	flagVoted     = 2 // the sender's vote follows
)

const headerBytes = 2 + sha256.Size + 8

// errMalformed is wrapped by every error about bytes that no honest agent of the
// same configuration sends.
var errMalformed = errors.New("malformed message")

// errVersion is what decode returns for a message of another version, of which it knows
// nothing else.
var errVersion = errors.New("message of another version")

// shape is what lengths follow from.
type shape struct {
	digest    [sha256.Size]byte
	roster    int
	members   int
	dimension int
}

type message struct {
	round       uint64
	kind        byte
	status      status      // of kindStatus
	certificate certificate // of kindCertificate and kindSum
	vector      []element   // of kindShare and kindSum
}

// status is what an agent has in a round.
type status struct {
	certified bool
	held      set // contributors whose shares it holds; empty unless it serves
	sums      set // members, by rank, whose sums it holds
	vote      *vote
}

// vote is a member's only one in a round.
type vote struct {
	set       set
	signature []byte
}

// certificate proves that a quorum voted for a set.
type certificate struct {
	set        set
	voters     set      // by rank
	signatures [][]byte // of the voters, in order of rank
}

func (s shape) encode(m message) []byte {
	data := []byte{wireVersion, m.kind}
	data = append(data, s.digest[:]...)
	data = binary.BigEndian.AppendUint64(data, m.round)
	switch m.kind {
	case kindStatus:
		flags := byte(0)
		if m.status.certified {
			flags |= flagCertified
		}
		if m.status.vote != nil {
			flags |= flagVoted
		}
		data = append(data, flags)
		data = append(data, m.status.held...)
		data = append(data, m.status.sums...)
		if v := m.status.vote; v != nil {
			data = append(data, v.set...)
			data = append(data, v.signature...)
		}
	case kindCertificate, kindSum:
		data = append(data, m.certificate.set...)
		data = append(data, m.certificate.voters...)
		for _, signature := range m.certificate.signatures {
			data = append(data, signature...)
		}
	}
	for _, x := range m.vector {
		data = binary.BigEndian.AppendUint64(data, uint64(x))
	}
	return data
}

// decode keeps no reference to the data.
func (s shape) decode(data []byte) (message, error) {
	if len(data) < headerBytes || len(data) > MaxMessageBytes {
		return message{}, fmt.Errorf("%w: %d bytes, accepted are %d to %d", errMalformed, len(data), headerBytes, MaxMessageBytes)
	}
	if data[0] != wireVersion {
		return message{}, fmt.Errorf("%w: %d, accepted is %d", errVersion, data[0], wireVersion)
	}
	if [sha256.Size]byte(data[2:2+sha256.Size]) != s.digest {
		return message{}, fmt.Errorf("%w: of another task, roster or committee", errMalformed)
	}
	m := message{kind: data[1], round: binary.BigEndian.Uint64(data[headerBytes-8:])}
	r := reader{rest: data[headerBytes:]}
	switch m.kind {
	case kindShare:
		m.vector = r.vector(s.dimension)
	case kindStatus:
		m.status = s.status(&r)
	case kindCertificate:
		m.certificate = s.certificate(&r)
	case kindSum:
		m.certificate = s.certificate(&r)
		m.vector = r.vector(s.dimension)
	case kindCall, kindHere:
	default:
		r.bad = true
	}
	if r.bad || len(r.rest) > 0 {
		return message{}, fmt.Errorf("%w: kind %d, %d bytes", errMalformed, m.kind, len(data))
	}
	return m, nil
}

func (s shape) status(r *reader) status {
	flags := r.take(1)
	if r.bad || flags[0]&^(flagCertified|flagVoted) != 0 {
		r.bad = true
		return status{}
	}
	st := status{certified: flags[0]&flagCertified != 0, held: r.set(s.roster), sums: r.set(s.members)}
	if flags[0]&flagVoted != 0 {
		st.vote = &vote{set: r.set(s.roster), signature: r.take(signatureBytes)}
	}
	return st
}

func (s shape) certificate(r *reader) certificate {
	c := certificate{set: r.set(s.roster), voters: r.set(s.members)}
	if !r.bad {
		for range c.voters.count() {
			c.signatures = append(c.signatures, r.take(signatureBytes))
		}
	}
	return c
}

// reader takes pieces off the front; after the first that is missing or wrong
// it is bad and gives nothing more.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) take(n int) []byte {
	if r.bad || len(r.rest) < n {
		r.bad = true
		return nil
	}
	piece := append([]byte(nil), r.rest[:n]...)
	r.rest = r.rest[n:]
	return piece
}

func (r *reader) set(n int) set {
	s := set(r.take(setBytes(n)))
	if r.bad || !s.of(n) {
		r.bad = true
		return nil
	}
	return s
}

func (r *reader) vector(n int) []element {
	if r.bad || len(r.rest) != 8*n { // it is always the last piece
		r.bad = true
		return nil
	}
	v := make([]element, n)
	for i := range v {
		x := binary.BigEndian.Uint64(r.rest[8*i:])
		if x >= prime {
			r.bad = true
			return nil
		}
		v[i] = element(x)
	}
	r.rest = nil
	return v
}
