package securesum

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func anySet(n int) *rapid.Generator[set] {
	return rapid.Custom(func(t *rapid.T) set {
		s := newSet(n)
		for _, i := range rapid.SliceOf(rapid.IntRange(0, n-1)).Draw(t, "members") {
			s.add(i)
		}
		return s
	})
}

func anySignature() *rapid.Generator[[]byte] {
	return rapid.SliceOfN(rapid.Byte(), signatureBytes, signatureBytes)
}

func anyMessage(s shape) *rapid.Generator[message] {
	return rapid.Custom(func(t *rapid.T) message {
		m := message{round: rapid.Uint64().Draw(t, "round"), kind: rapid.SampledFrom([]byte{kindShare, kindStatus, kindCertificate, kindSum, kindCall, kindHere}).Draw(t, "kind")}
		switch m.kind {
		case kindStatus:
			m.status = status{certified: rapid.Bool().Draw(t, "certified"), held: anySet(s.roster).Draw(t, "held"), sums: anySet(s.members).Draw(t, "sums")}
			if rapid.Bool().Draw(t, "voted") {
				m.status.vote = &vote{anySet(s.roster).Draw(t, "set"), anySignature().Draw(t, "signature")}
			}
		case kindCertificate, kindSum:
			m.certificate = certificate{set: anySet(s.roster).Draw(t, "set"), voters: anySet(s.members).Draw(t, "voters")}
			for range m.certificate.voters.count() {
				m.certificate.signatures = append(m.certificate.signatures, anySignature().Draw(t, "signature"))
			}
		}
		if m.kind == kindShare || m.kind == kindSum {
			m.vector = rapid.SliceOfN(anyElement(), s.dimension, s.dimension).Draw(t, "vector")
		}
		return m
	})
}

func anyShape() *rapid.Generator[shape] {
	return rapid.Custom(func(t *rapid.T) shape {
		return shape{
			digest: [32]byte{rapid.Byte().Draw(t, "digest")}, roster: rapid.IntRange(1, 40).Draw(t, "roster"),
			members: rapid.IntRange(1, 20).Draw(t, "members"), dimension: rapid.IntRange(1, 9).Draw(t, "dimension"),
		}
	})
}

func TestMessagesSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyShape().Draw(t, "shape")
		m := anyMessage(s).Draw(t, "message")
		data := s.encode(m)
		got, err := s.decode(data)
		if err != nil {
			t.Fatal(err)
		}
		v := m.status.vote
		if got.round != m.round || got.kind != m.kind || !slices.Equal(got.vector, m.vector) ||
			got.status.certified != m.status.certified || !got.status.held.equal(m.status.held) || !got.status.sums.equal(m.status.sums) ||
			(v == nil) != (got.status.vote == nil) || v != nil && (!v.set.equal(got.status.vote.set) || !bytes.Equal(v.signature, got.status.vote.signature)) ||
			!got.certificate.set.equal(m.certificate.set) || !got.certificate.voters.equal(m.certificate.voters) ||
			!slices.EqualFunc(got.certificate.signatures, m.certificate.signatures, bytes.Equal) {
			t.Fatalf("%+v became %+v", m, got)
		}
		// Neither a piece of a message nor a message and something is one.
		if _, err := s.decode(data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")]); err == nil {
			t.Fatal("a piece decodes")
		}
		if _, err := s.decode(append(slices.Clone(data), 0)); err == nil {
			t.Fatal("a longer message decodes")
		}
	})
}

// Whatever decodes has one form and the sizes of the configuration.
func FuzzDecode(f *testing.F) {
	s := shape{digest: [32]byte{1, 2, 3}, roster: 11, members: 5, dimension: 3}
	c := certificate{set: set{0xff, 7}, voters: set{0x15}, signatures: [][]byte{make([]byte, 64), make([]byte, 64), make([]byte, 64)}}
	for _, m := range []message{
		{round: 1, kind: kindShare, vector: []element{1, 2, prime - 1}},
		{round: 2, kind: kindStatus, status: status{certified: true, held: newSet(11), sums: newSet(5)}},
		{round: 3, kind: kindStatus, status: status{held: fullSet(11), sums: fullSet(5), vote: &vote{fullSet(11), make([]byte, 64)}}},
		{round: 4, kind: kindCertificate, certificate: c},
		{round: 5, kind: kindSum, certificate: c, vector: []element{1, 2, 3}},
		{round: 6, kind: kindCall},
		{round: 7, kind: kindHere},
	} {
		f.Add(s.encode(m)[headerBytes:], m.kind)
	}
	f.Fuzz(func(t *testing.T, body []byte, kind byte) {
		data := append(s.encode(message{round: 9, kind: kind}), body...)
		if kind == kindStatus {
			data = append(data[:headerBytes:headerBytes], body...)
		}
		m, err := s.decode(data)
		if err != nil {
			return
		}
		if !bytes.Equal(s.encode(m), data) {
			t.Errorf("%x decodes to something that encodes as %x", data, s.encode(m))
		}
		for _, x := range m.vector {
			if x >= prime {
				t.Errorf("element %d", x)
			}
		}
		if len(m.certificate.signatures) != m.certificate.voters.count() || len(m.vector) != 0 && len(m.vector) != s.dimension {
			t.Errorf("%+v", m)
		}
	})
}

// Through the whole exchange, in the middle of a round, no bytes of a peer do harm.
func FuzzReceive(f *testing.F) {
	s := configOf(f, 7, committeeOf(f, 5, 2))
	w := newWorld(f, s, 1)
	e := w.agents[0].exchange
	f.Add(e.shape.encode(message{round: 1, kind: kindShare, vector: make([]element, 2)})[34:], byte(1), byte(kindShare))
	f.Add(e.shape.encode(message{round: 9, kind: kindStatus, status: status{held: fullSet(7), sums: newSet(5)}})[34:], byte(2), byte(kindStatus))
	f.Fuzz(func(t *testing.T, rest []byte, from, kind byte) {
		w := newWorld(t, s, 1)
		for i := range w.agents {
			w.contribute(i)
		}
		x := w.agents[0].exchange
		data := append([]byte{wireVersion, kind}, x.shape.digest[:]...)
		for range 3 {
			x.receive(s.Roster[int(from)%7], append(data, rest...))
			from++
		}
		w.pass(w.length())
		for i := range w.agents {
			for _, o := range w.agents[i].outcomes {
				// A forged share, and only this, makes another sum; it is its sender's.
				if o.Err == nil && kind != kindShare && !w.right(o) {
					t.Errorf("agent %d: %+v", i, o)
				}
			}
		}
	})
}

func TestRecordsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := record{kind: byte(rapid.IntRange(1, 3).Draw(t, "kind")), round: rapid.Uint64Min(1).Draw(t, "round")}
		if r.kind == recordVoted {
			r.digest = [32]byte{rapid.Byte().Draw(t, "digest")}
			r.vote = vote{anySet(rapid.IntRange(1, 40).Draw(t, "n")).Draw(t, "set"), anySignature().Draw(t, "signature")}
		}
		got, err := decodeRecord(r.encode())
		if err != nil || got.kind != r.kind || got.round != r.round || got.digest != r.digest ||
			!got.vote.set.equal(r.vote.set) || !bytes.Equal(got.vote.signature, r.vote.signature) {
			t.Fatalf("%+v became %+v, %v", r, got, err)
		}
	})
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add(record{kind: recordOpened, round: 1}.encode())
	f.Add(record{kind: recordVoted, round: 2, vote: vote{set{1}, make([]byte, 64)}}.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := decodeRecord(data); err == nil && !bytes.Equal(r.encode(), data) {
			t.Errorf("%x became %+v", data, r)
		}
	})
}

func TestTheLargestMessageFits(t *testing.T) {
	for _, dimension := range []int{1, MaxDimension} {
		s := shape{roster: MaxRoster, members: MaxMembers, dimension: dimension}
		c := certificate{set: fullSet(MaxRoster), voters: fullSet(MaxMembers)}
		for range MaxMembers {
			c.signatures = append(c.signatures, make([]byte, signatureBytes))
		}
		data := s.encode(message{round: MaxRounds, kind: kindSum, certificate: c, vector: make([]element, dimension)})
		if _, err := s.decode(data); err != nil || len(data) > MaxMessageBytes {
			t.Errorf("%d bytes, %v", len(data), err)
		}
	}
}
