package protocol

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/fbotest"
)

func FuzzOpen(f *testing.F) {
	f.Add(seal(f, exampleShare(f), fbotest.Key(f, 1)).Envelope)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Open(data)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("error %v does not wrap ErrMalformed", err)
			}
			return
		}
		if again, err := Open(s.Envelope); err != nil || !same(again, s) {
			t.Fatalf("opened once %+v, twice %+v, %v", s, again, err)
		}
		if err := s.validate(); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzDecodeWeights(f *testing.F) {
	weightsOf(4).fuzz(f, Weights{Observations: 3, Values: []float64{1, 2, 3, 4}}, func(t *testing.T, w *Weights) {
		if len(w.Values) != 4 || w.Observations < 1 {
			t.Fatalf("accepted %+v", w)
		}
		for _, v := range w.Values {
			if math.IsNaN(v) || math.Abs(v) > MaxWeight {
				t.Fatalf("accepted weight %v", v)
			}
		}
	})
}

func FuzzDecodeContribution(f *testing.F) {
	contributions().fuzz(f, Contribution{Release: 2, Round: 3}, nil)
}

func FuzzDecodePresence(f *testing.F) {
	announced := Announcement{Kind: "weights", Slot: 1, Stamp: Stamp{2, 3}, Digest: [DigestBytes]byte{1, 2}, TTL: time.Hour}
	payload, err := Presence{Members: Members{Count: 300}, Newest: []Announcement{announced}}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	presences().fuzz(f, Presence{Members: MembersOf(idsOf(f, 2)), Leaving: true}, func(t *testing.T, p *Presence) {
		if len(p.Newest) > MaxAnnouncements {
			t.Fatalf("accepted %d announcements", len(p.Newest))
		}
		for _, a := range p.Newest {
			if a.Epoch == 0 || a.Sequence == 0 || a.TTL < time.Second || a.TTL > MaxTTL || a.Kind == "" || len(a.Kind) > MaxKindBytes {
				t.Fatalf("accepted %+v", a)
			}
		}
	})
}

func FuzzReadSyncRequest(f *testing.F) {
	var wire bytes.Buffer
	author := idsOf(f, 1)[0]
	if err := WriteSyncRequest(&wire, SyncRequest{
		Have:        []ShareID{{Key: Key{author, "weights", 0}, Stamp: Stamp{1, 2}}, {Key{author, "presence", 1}, Stamp{1, 3}, [DigestBytes]byte{1}}},
		PeerRecords: [][]byte{[]byte("a record")},
		Authors:     []peer.ID{author},
		Suggest:     true,
	}); err != nil {
		f.Fatal(err)
	}
	f.Add(wire.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		request, err := ReadSyncRequest(bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(request.Have) > MaxShareIDs || len(request.PeerRecords) > MaxRecords || len(request.Authors) > MaxSyncAuthors {
			t.Fatalf("accepted %d shares, %d records and %d authors", len(request.Have), len(request.PeerRecords), len(request.Authors))
		}
		for _, h := range request.Have {
			if err := h.Author.Validate(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzReadSyncItems(f *testing.F) {
	var wire bytes.Buffer
	for _, item := range []SyncItem{{Envelope: []byte("one"), Age: time.Second}, {}, {PeerRecord: []byte("two")}, {Envelope: []byte("three"), Age: MaxTTL}, {Suggested: idsOf(f, 2)}} {
		if err := WriteSyncItem(&wire, item); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(wire.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		count := 0
		_ = ReadSyncItems(bytes.NewReader(data), func(item SyncItem) error {
			if count++; count > MaxShareIDs+MaxRecords || item.Age < 0 || len(item.Envelope) > maxItemBytes || len(item.Suggested) > MaxSyncAuthors {
				t.Fatalf("item %d: %d bytes, age %v, %d authors", count, len(item.Envelope), item.Age, len(item.Suggested))
			}
			return nil
		})
	})
}

func FuzzOpenRecord(f *testing.F) {
	f.Add(sealRecord(f, newKey(f), "/ip4/192.0.2.1/udp/4001/quic-v1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := OpenRecord(data)
		if err != nil {
			return
		}
		if err := r.PeerID.Validate(); err != nil || len(r.Addrs) == 0 || len(r.Addrs) > MaxAddresses {
			t.Fatalf("accepted %v, %v", r, err)
		}
	})
}

func FuzzReadRendezvousRequest(f *testing.F) {
	var wire bytes.Buffer
	if err := WriteRendezvousRequest(&wire, RendezvousRequest{Task: exampleShare(f).Task, PeerRecord: []byte("a record")}); err != nil {
		f.Fatal(err)
	}
	f.Add(wire.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		request, err := ReadRendezvousRequest(bytes.NewReader(data))
		if err != nil {
			return
		}
		if !request.Task.Defined() || len(request.Task.Bytes()) > maxTaskBytes || len(request.PeerRecord) > maxRendezvousRequestBytes {
			t.Fatalf("accepted task %v and %d bytes of record", request.Task, len(request.PeerRecord))
		}
	})
}

func FuzzReadRendezvousResponse(f *testing.F) {
	var wire bytes.Buffer
	if err := WriteRendezvousResponse(&wire, [][]byte{[]byte("one"), {}}); err != nil {
		f.Fatal(err)
	}
	f.Add(wire.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		records, err := ReadRendezvousResponse(bytes.NewReader(data))
		if err != nil && len(records) > 0 || len(records) > MaxRecords {
			t.Fatalf("%d records, %v", len(records), err)
		}
	})
}
