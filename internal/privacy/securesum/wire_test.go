package securesum

import (
	"bytes"
	"reflect"
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

func anyHeader(s shape) *rapid.Generator[header] {
	return rapid.Custom(func(t *rapid.T) header {
		h := header{commitments: rapid.SliceOfN(anyHash(), s.members, s.members).Draw(t, "commitments"), signature: anySignature().Draw(t, "signature")}
		for range s.threshold + 1 {
			h.checks = append(h.checks, vectorOf(t, masks, "checks"))
		}
		return h
	})
}

func anyHash() *rapid.Generator[[32]byte] {
	return rapid.Custom(func(t *rapid.T) [32]byte {
		return [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "hash"))
	})
}

func anyPart(s shape) *rapid.Generator[part] {
	return rapid.Custom(func(t *rapid.T) part {
		return part{rapid.SliceOfN(rapid.Byte(), saltBytes, saltBytes).Draw(t, "salt"), vectorOf(t, s.dimension+masks, "values")}
	})
}

func anyChoice(s shape) *rapid.Generator[choice] {
	return rapid.Custom(func(t *rapid.T) choice {
		return choice{anySet(s.roster).Draw(t, "set"), anyHash().Draw(t, "headers")}
	})
}

func anyMessage(s shape) *rapid.Generator[message] {
	return rapid.Custom(func(t *rapid.T) message {
		m := message{round: rapid.Uint64().Draw(t, "round"), kind: rapid.SampledFrom([]byte{kindShare, kindStatus, kindCertificate, kindSum, kindCall, kindHere, kindHeader, kindComplaint, kindContradiction}).Draw(t, "kind")}
		switch m.kind {
		case kindStatus:
			m.status = status{certified: rapid.Bool().Draw(t, "certified"), held: anySet(s.roster).Draw(t, "held"), sums: anySet(s.members).Draw(t, "sums")}
			if rapid.Bool().Draw(t, "voted") {
				m.status.vote = &vote{anyChoice(s).Draw(t, "choice"), anySignature().Draw(t, "signature")}
			}
			if rapid.Bool().Draw(t, "named") {
				m.status.names = make([][32]byte, m.status.held.count())
				for i := range m.status.names {
					m.status.names[i] = anyHash().Draw(t, "name")
				}
			}
		case kindCertificate, kindSum:
			m.certificate = certificate{choice: anyChoice(s).Draw(t, "choice"), voters: anySet(s.members).Draw(t, "voters")}
			for range m.certificate.voters.count() {
				m.certificate.signatures = append(m.certificate.signatures, anySignature().Draw(t, "signature"))
			}
		case kindHeader, kindComplaint, kindContradiction:
			m.dealer = rapid.IntRange(0, s.roster-1).Draw(t, "dealer")
		}
		switch m.kind {
		case kindShare, kindHeader, kindComplaint, kindContradiction:
			m.header = anyHeader(s).Draw(t, "header")
		}
		switch m.kind {
		case kindComplaint:
			m.rank = rapid.IntRange(0, s.members-1).Draw(t, "rank")
			m.part = anyPart(s).Draw(t, "part")
		case kindShare:
			m.part = anyPart(s).Draw(t, "part")
		case kindContradiction:
			m.other = anyHeader(s).Draw(t, "other")
		case kindSum:
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
			threshold: rapid.IntRange(1, 9).Draw(t, "threshold"),
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
		if !reflect.DeepEqual(got, m) {
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
	s := shape{digest: [32]byte{1, 2, 3}, roster: 11, members: 5, threshold: 2, dimension: 3}
	h := header{commitments: make([][32]byte, 5), checks: [][]element{{1, 2, 3}, {4, 5, 6}, {7, 8, prime - 1}}, signature: make([]byte, 64)}
	p := part{make([]byte, saltBytes), []element{1, 2, prime - 1, 4, 5, 6}}
	c := certificate{choice: choice{set: set{0xff, 7}}, voters: set{0x15}, signatures: [][]byte{make([]byte, 64), make([]byte, 64), make([]byte, 64)}}
	for _, m := range []message{
		{round: 1, kind: kindShare, header: h, part: p},
		{round: 2, kind: kindStatus, status: status{certified: true, held: newSet(11), sums: newSet(5)}},
		{round: 3, kind: kindStatus, status: status{held: fullSet(11), sums: fullSet(5), vote: &vote{choice{set: fullSet(11)}, make([]byte, 64)}}},
		{round: 3, kind: kindStatus, status: status{held: fullSet(11), sums: fullSet(5), names: make([][32]byte, 11)}},
		{round: 4, kind: kindCertificate, certificate: c},
		{round: 5, kind: kindSum, certificate: c, vector: []element{1, 2, 3}},
		{round: 6, kind: kindCall},
		{round: 7, kind: kindHere},
		{round: 8, kind: kindHeader, dealer: 10, header: h},
		{round: 9, kind: kindComplaint, dealer: 10, rank: 4, header: h, part: p},
		{round: 10, kind: kindContradiction, dealer: 0, header: h, other: h},
	} {
		f.Add(s.encode(m)[headerBytes:], m.kind)
	}
	f.Fuzz(func(t *testing.T, body []byte, kind byte) {
		data := append(s.encode(message{round: 9, kind: kind})[:headerBytes:headerBytes], body...)
		m, err := s.decode(data)
		if err != nil {
			return
		}
		if !bytes.Equal(s.encode(m), data) {
			t.Errorf("%x decodes to something that encodes as %x", data, s.encode(m))
		}
		for _, x := range slices.Concat(m.vector, m.part.values) {
			if x >= prime {
				t.Errorf("element %d", x)
			}
		}
		if len(m.certificate.signatures) != m.certificate.voters.count() || len(m.vector) != 0 && len(m.vector) != s.dimension || m.dealer >= s.roster || m.rank >= s.members {
			t.Errorf("%+v", m)
		}
	})
}

// Through the whole exchange, in the middle of a round, no bytes of a peer do harm.
func FuzzReceive(f *testing.F) {
	s := configOf(f, 7, committeeOf(f, 5, 2))
	w := newWorld(f, s, 1)
	e := w.agents[0].exchange
	d, err := e.split(1, make([]element, 2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(e.shape.encode(message{round: 1, kind: kindShare, header: d.header, part: d.parts[0]})[34:], byte(1), byte(kindShare))
	f.Add(e.shape.encode(message{round: 1, kind: kindComplaint, dealer: 3, header: d.header, part: d.parts[0]})[34:], byte(1), byte(kindComplaint))
	f.Add(e.shape.encode(message{round: 1, kind: kindContradiction, dealer: 3, header: d.header, other: d.header})[34:], byte(1), byte(kindContradiction))
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
				if o.Err == nil && !w.right(o) || len(o.Disqualified) > 0 {
					t.Errorf("agent %d: %+v", i, o)
				}
			}
		}
	})
}

func TestRecordsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := record{kind: byte(rapid.IntRange(1, 4).Draw(t, "kind")), round: rapid.Uint64Min(1).Draw(t, "round")}
		if r.kind >= recordVoted {
			r.digest = [32]byte{rapid.Byte().Draw(t, "digest")}
		}
		if r.kind == recordVoted {
			r.choice = choice{set: anySet(rapid.IntRange(1, 40).Draw(t, "n")).Draw(t, "set")}.append(nil)
			r.signature = anySignature().Draw(t, "signature")
		}
		if r.kind == recordDisqualified {
			r.dealer = rapid.IntRange(0, MaxRoster-1).Draw(t, "dealer")
		}
		got, err := decodeRecord(r.encode())
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Fatalf("%+v became %+v, %v", r, got, err)
		}
	})
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add(record{kind: recordOpened, round: 1}.encode())
	f.Add(record{kind: recordVoted, round: 2, signature: make([]byte, 64), choice: choice{set: set{1}}.append(nil)}.encode())
	f.Add(record{kind: recordDisqualified, round: 3, dealer: 1}.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := decodeRecord(data); err == nil && !bytes.Equal(r.encode(), data) {
			t.Errorf("%x became %+v", data, r)
		}
	})
}

func TestTheLargestMessageFits(t *testing.T) {
	for _, dimension := range []int{1, MaxDimension} {
		s := shape{roster: MaxRoster, members: MaxMembers, threshold: MaxMembers - 2, dimension: dimension}
		c := certificate{choice: choice{set: fullSet(MaxRoster)}, voters: fullSet(MaxMembers)}
		for range MaxMembers {
			c.signatures = append(c.signatures, make([]byte, signatureBytes))
		}
		h := header{commitments: make([][32]byte, MaxMembers), signature: make([]byte, signatureBytes)}
		for range MaxMembers - 1 {
			h.checks = append(h.checks, make([]element, masks))
		}
		p := part{make([]byte, saltBytes), make([]element, dimension+masks)}
		for _, m := range []message{
			{round: MaxRounds, kind: kindSum, certificate: c, vector: make([]element, dimension)},
			{round: MaxRounds, kind: kindComplaint, dealer: MaxRoster - 1, header: h, part: p},
		} {
			data := s.encode(m)
			if _, err := s.decode(data); err != nil || len(data) > MaxMessageBytes {
				t.Errorf("%d bytes, %v", len(data), err)
			}
		}
	}
}
