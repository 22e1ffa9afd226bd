package securesum

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// A message is
//
//	version (1 byte, 3) · kind (1) · digest of the configuration (32) · round (8) · body
//
// with numbers in big-endian order. Sets of the roster take ⌈n/8⌉ bytes, sets of the committee
// ⌈C/8⌉, bit i in byte i/8 from the low end, padding zero. Field elements take 8 bytes and are
// below the prime. Bodies, by kind:
//
//	1 share:         header · salt (64) · the elements of the receiver's part
//	2 status:        flags (1) · contributors held · members whose sums are held ·
//	                 if flag 2 is set: choice voted for · signature (64) ·
//	                 if flag 4 is set: names (32) of the headers of those held, in order
//	3 certificate:   choice · members who voted · their signatures, in order of rank
//	4 sum:           certificate · the elements of the sender's sum of shares
//	5 call:          nothing: is the receiver present for the round?
//	6 here:          nothing: the sender is present
//	7 header:        dealer (2) · header
//	8 complaint:     dealer (2) · rank of the member (1) · header · salt (64) · the elements of its part
//	9 contradiction: dealer (2) · header · header
//
// A header is the commitments to all parts (32 each) · the combined polynomials' values at
// points 1 to t+1 · signature (64), a part the share vector and the masks, a choice the set ·
// digest of its headers' names (32). The round of 7, 8 and 9 is that of the deal.
//
// Every length follows from the configuration. Only the length of a certificate also depends on its
// own set of voters. A message has exactly one encoding.
const wireVersion = 3

const (
	kindShare       = 1
	kindStatus      = 2
	kindCertificate = 3
	kindSum         = 4
	kindCall        = 5
	kindHere        = 6

	kindHeader        = 7
	kindComplaint     = 8
	kindContradiction = 9
)

const (
	flagCertified = 1 // the sender has the certificate
	flagVoted     = 2 // the sender's vote follows
	flagNamed     = 4 // the names of the headers follow
)

const headerBytes = 2 + sha256.Size + 8

// errMalformed means that no honest agent with the same configuration sends such a message.
var errMalformed = errors.New("malformed message")

// errVersion means that a message has another version. decode then reads nothing else of it.
var errVersion = errors.New("message of another version")

// shape holds the digest of the configuration and the numbers that determine the lengths of
// messages.
type shape struct {
	digest    [sha256.Size]byte
	roster    int
	members   int
	threshold int
	dimension int
}

type message struct {
	round       uint64
	kind        byte
	status      status      // of kindStatus
	certificate certificate // of kindCertificate and kindSum
	vector      []element   // of kindSum
	dealer      int         // of kindHeader and proofs, roster index
	rank        int         // of kindComplaint
	header      header      // of kindShare, kindHeader and proofs
	other       header      // of kindContradiction
	part        part        // of kindShare and kindComplaint
}

// status reports which shares and sums an agent has in a round, and its vote.
type status struct {
	certified bool
	held      set // contributors whose shares the agent holds; empty unless it is a member
	sums      set // ranks of the members whose sums the agent has
	vote      *vote
	names     [][sha256.Size]byte // names of the headers of the held shares, in order; nil if not sent
}

// choice is what members vote for: a set of contributors with their headers.
type choice struct {
	set     set
	headers [sha256.Size]byte // digest of the names of their headers
}

func (c choice) equal(o choice) bool { return c.set.equal(o.set) && c.headers == o.headers }

func (c choice) append(data []byte) []byte {
	return append(append(data, c.set...), c.headers[:]...)
}

// vote is a member's only vote in a round.
type vote struct {
	choice
	signature []byte
}

// certificate proves that a quorum of members voted for a choice.
type certificate struct {
	choice
	voters     set      // ranks of the members that voted for the choice
	signatures [][]byte // signatures of the voters, in order of rank
}

func (s shape) encode(m message) []byte {
	data := []byte{wireVersion, m.kind}
	data = append(data, s.digest[:]...)
	data = binary.BigEndian.AppendUint64(data, m.round)
	switch m.kind {
	case kindShare:
		data = m.part.append(m.header.append(data))
	case kindStatus:
		flags := byte(0)
		if m.status.certified {
			flags |= flagCertified
		}
		if m.status.vote != nil {
			flags |= flagVoted
		}
		if m.status.names != nil {
			flags |= flagNamed
		}
		data = append(data, flags)
		data = append(data, m.status.held...)
		data = append(data, m.status.sums...)
		if v := m.status.vote; v != nil {
			data = v.append(data)
			data = append(data, v.signature...)
		}
		for _, name := range m.status.names {
			data = append(data, name[:]...)
		}
	case kindCertificate, kindSum:
		data = m.certificate.append(data)
		data = append(data, m.certificate.voters...)
		for _, signature := range m.certificate.signatures {
			data = append(data, signature...)
		}
	case kindHeader, kindComplaint, kindContradiction:
		data = binary.BigEndian.AppendUint16(data, uint16(m.dealer))
		switch m.kind {
		case kindHeader:
			data = m.header.append(data)
		case kindComplaint:
			data = m.part.append(m.header.append(append(data, byte(m.rank))))
		case kindContradiction:
			data = m.other.append(m.header.append(data))
		}
	}
	return appendElements(data, m.vector)
}

func appendElements(data []byte, elements []element) []byte {
	for _, x := range elements {
		data = binary.BigEndian.AppendUint64(data, uint64(x))
	}
	return data
}

func (h header) appendUnsigned(data []byte) []byte {
	for _, c := range h.commitments {
		data = append(data, c[:]...)
	}
	for _, values := range h.checks {
		data = appendElements(data, values)
	}
	return data
}

func (h header) append(data []byte) []byte {
	return append(h.appendUnsigned(data), h.signature...)
}

func (p part) append(data []byte) []byte {
	return appendElements(append(data, p.salt...), p.values)
}

// decode returns the message that data encodes. The message does not refer to data.
func (s shape) decode(data []byte) (message, error) {
	if len(data) < headerBytes || len(data) > MaxMessageBytes {
		return message{}, fmt.Errorf("%w: %d bytes, expected %d to %d", errMalformed, len(data), headerBytes, MaxMessageBytes)
	}
	if data[0] != wireVersion {
		return message{}, fmt.Errorf("%w: %d, expected %d", errVersion, data[0], wireVersion)
	}
	if [sha256.Size]byte(data[2:2+sha256.Size]) != s.digest {
		return message{}, fmt.Errorf("%w: of another task, roster or committee", errMalformed)
	}
	m := message{kind: data[1], round: binary.BigEndian.Uint64(data[headerBytes-8:])}
	r := reader{rest: data[headerBytes:]}
	switch m.kind {
	case kindShare:
		m.header, m.part = s.header(&r), s.part(&r)
	case kindStatus:
		m.status = s.status(&r)
	case kindCertificate:
		m.certificate = s.certificate(&r)
	case kindSum:
		m.certificate = s.certificate(&r)
		m.vector = r.vector(s.dimension)
	case kindCall, kindHere:
	case kindHeader:
		m.dealer, m.header = r.below(2, s.roster), s.header(&r)
	case kindComplaint:
		m.dealer, m.rank = r.below(2, s.roster), r.below(1, s.members)
		m.header, m.part = s.header(&r), s.part(&r)
	case kindContradiction:
		m.dealer, m.header, m.other = r.below(2, s.roster), s.header(&r), s.header(&r)
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
	if r.bad || flags[0]&^(flagCertified|flagVoted|flagNamed) != 0 {
		r.bad = true
		return status{}
	}
	st := status{certified: flags[0]&flagCertified != 0, held: r.set(s.roster), sums: r.set(s.members)}
	if flags[0]&flagVoted != 0 {
		st.vote = &vote{choice: s.choice(r), signature: r.take(signatureBytes)}
	}
	if flags[0]&flagNamed != 0 && !r.bad {
		st.names = r.hashes(st.held.count())
	}
	return st
}

func (s shape) certificate(r *reader) certificate {
	c := certificate{choice: s.choice(r), voters: r.set(s.members)}
	if !r.bad {
		for range c.voters.count() {
			c.signatures = append(c.signatures, r.take(signatureBytes))
		}
	}
	return c
}

func (s shape) choice(r *reader) choice {
	c := choice{set: r.set(s.roster)}
	copy(c.headers[:], r.take(sha256.Size))
	return c
}

func (s shape) header(r *reader) header {
	h := header{commitments: r.hashes(s.members)}
	for range s.threshold + 1 {
		h.checks = append(h.checks, r.vector(masks))
	}
	h.signature = r.take(signatureBytes)
	return h
}

func (s shape) part(r *reader) part {
	return part{salt: r.take(saltBytes), values: r.vector(s.dimension + masks)}
}

// reader reads pieces from the front of rest. After the first missing or invalid piece it is bad
// and returns nothing more.
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
	if r.bad || len(r.rest) < 8*n {
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
	r.rest = r.rest[8*n:]
	return v
}

// hashes returns n hashes. Unless the reader is bad, the result is not nil, even if n is 0.
func (r *reader) hashes(n int) [][sha256.Size]byte {
	if r.bad || len(r.rest) < sha256.Size*n {
		r.bad = true
		return nil
	}
	hashes := make([][sha256.Size]byte, n)
	for i := range hashes {
		copy(hashes[i][:], r.rest[sha256.Size*i:])
	}
	r.rest = r.rest[sha256.Size*n:]
	return hashes
}

// below reads a number of `width` bytes. The reader becomes bad if the number is not below limit.
func (r *reader) below(width, limit int) int {
	n := 0
	for _, b := range r.take(width) {
		n = n<<8 | int(b)
	}
	if n >= limit {
		r.bad = true
		return 0
	}
	return n
}
