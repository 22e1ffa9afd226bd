package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/pb"
)

func TestSyncRequestRoundTrip(t *testing.T) {
	ids := idsOf(t, 3)
	rapid.Check(t, func(t *rapid.T) {
		held := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) ShareID {
			return ShareID{
				Key{rapid.SampledFrom(ids).Draw(t, "author"), rapid.StringN(1, 8, MaxKindBytes).Draw(t, "kind"), rapid.Uint64().Draw(t, "slot")},
				Stamp{rapid.Uint64().Draw(t, "epoch"), rapid.Uint64().Draw(t, "sequence")},
				[DigestBytes]byte(rapid.SliceOfN(rapid.Byte(), DigestBytes, DigestBytes).Draw(t, "digest")),
			}
		}), 0, 20).Draw(t, "held")
		var wire bytes.Buffer
		if err := WriteSyncRequest(&wire, SyncRequest{Have: held}); err != nil {
			t.Fatal(err)
		}
		got, err := ReadSyncRequest(&wire)
		if err != nil || !slices.Equal(got.Have, held) {
			t.Fatalf("%v became %v, %v", held, got, err)
		}
	})
}

// The largest request that is written can be read.
func TestSyncRequestIsBounded(t *testing.T) {
	author := idsOf(t, 1)[0]
	held := make([]ShareID, MaxShareIDs+5)
	for i := range held {
		kind := fmt.Sprintf("%0*d", MaxKindBytes, i)
		held[i] = ShareID{Key{author, kind, 1<<64 - 1}, Stamp{1<<64 - 1, 1<<64 - 1}, [DigestBytes]byte{1}}
	}
	var wire bytes.Buffer
	if err := WriteSyncRequest(&wire, SyncRequest{Have: held}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d shares named in %d bytes", MaxShareIDs, wire.Len())
	got, err := ReadSyncRequest(&wire)
	if err != nil || !slices.Equal(got.Have, held[:MaxShareIDs]) {
		t.Fatalf("%d shares, %v", len(got.Have), err)
	}
}

func TestSyncRequestThatIsRefused(t *testing.T) {
	encode := func(m *pb.SyncRequest) []byte {
		var wire bytes.Buffer
		if _, err := protodelim.MarshalTo(&wire, m); err != nil {
			t.Fatal(err)
		}
		return wire.Bytes()
	}
	many := &pb.SyncRequest{}
	for range MaxShareIDs + 1 {
		many.Have = append(many.Have, &pb.ShareID{Author: []byte(idsOf(t, 1)[0])})
	}
	whole := encode(&pb.SyncRequest{Have: many.Have[:2]})
	for name, data := range map[string][]byte{
		"empty stream":          {},
		"author is no peer ID":  encode(&pb.SyncRequest{Have: []*pb.ShareID{{Author: []byte("you")}}}),
		"no author":             encode(&pb.SyncRequest{Have: []*pb.ShareID{{}}}),
		"too many":              encode(many),
		"too many records":      encode(&pb.SyncRequest{PeerRecords: make([][]byte, MaxRecords+1)}),
		"too large":             protowire.AppendVarint(nil, MaxSyncRequestBytes+1),
		"endless length":        bytes.Repeat([]byte{0xff}, 20),
		"cut in the middle":     whole[:len(whole)/2],
		"cut behind its length": whole[:1],
	} {
		if got, err := ReadSyncRequest(bytes.NewReader(data)); err == nil {
			t.Errorf("%s: %d shares and no error", name, len(got.Have))
		}
	}
}

func TestSyncItemsRoundTrip(t *testing.T) {
	items := []SyncItem{
		{Envelope: []byte("first")},
		{PeerRecord: []byte("whose")},
		{Envelope: []byte("second"), Age: 90 * time.Second},
		{Envelope: bytes.Repeat([]byte{1}, MaxEnvelopeBytes), Age: MaxTTL},
	}
	var wire bytes.Buffer
	for _, item := range items {
		if err := WriteSyncItem(&wire, item); err != nil {
			t.Fatal(err)
		}
	}
	whole := bytes.Clone(wire.Bytes())
	var got []SyncItem
	if err := ReadSyncItems(&wire, func(item SyncItem) error { got = append(got, item); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, items, func(a, b SyncItem) bool {
		return bytes.Equal(a.Envelope, b.Envelope) && a.Age == b.Age && bytes.Equal(a.PeerRecord, b.PeerRecord)
	}) {
		t.Errorf("%d items came back, want %d", len(got), len(items))
	}

	first := len(whole) - len(items[3].Envelope)
	for _, cut := range []int{1, 3, first, len(whole) - 1} {
		if err := ReadSyncItems(bytes.NewReader(whole[:cut]), func(SyncItem) error { return nil }); err == nil {
			t.Errorf("the first %d bytes read as a whole response", cut)
		}
	}
	stop := errors.New("enough")
	if err := ReadSyncItems(bytes.NewReader(whole), func(SyncItem) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v, want what accept returned", err)
	}
}

func TestSyncItemsAreBounded(t *testing.T) {
	var wire bytes.Buffer
	for range MaxShareIDs + MaxRecords + 10 {
		if err := WriteSyncItem(&wire, SyncItem{Envelope: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	if err := ReadSyncItems(&wire, func(SyncItem) error { count++; return nil }); err != nil || count != MaxShareIDs+MaxRecords {
		t.Errorf("%d items, error %v", count, err)
	}
	for name, data := range map[string][]byte{
		"beyond the limit": protowire.AppendVarint(nil, maxItemBytes+1),
		"no message":       {3, 0xff, 0xff, 0xff},
	} {
		if err := ReadSyncItems(bytes.NewReader(data), func(SyncItem) error { return nil }); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAgeIsNeverNegative(t *testing.T) {
	var wire bytes.Buffer
	for _, age := range []time.Duration{-time.Hour, 1500 * time.Millisecond, 2 * MaxTTL} {
		if err := WriteSyncItem(&wire, SyncItem{Envelope: []byte("x"), Age: age}); err != nil {
			t.Fatal(err)
		}
	}
	var ages []time.Duration
	if err := ReadSyncItems(&wire, func(item SyncItem) error { ages = append(ages, item.Age); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []time.Duration{0, time.Second, MaxTTL}; !slices.Equal(ages, want) {
		t.Errorf("ages %v, want %v", ages, want)
	}
}

// A request that is announced takes memory as it arrives, whatever its announced length.
func TestAnnouncedRequestCostsWhatArrives(t *testing.T) {
	data := append(protowire.AppendVarint(nil, MaxSyncRequestBytes), make([]byte, 100<<10)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := ReadSyncRequest(bytes.NewReader(data)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v, expected %v", err, io.ErrUnexpectedEOF)
	}
	runtime.ReadMemStats(&after)
	if cost := after.TotalAlloc - before.TotalAlloc; cost > 4*uint64(len(data)) {
		t.Errorf("%d bytes of a longer request took %d", len(data), cost)
	}
}

// A request of half a million empty names must cost no more than its bytes:
// it is refused before they become half a million values.
func TestARequestCostsWhatItWeighs(t *testing.T) {
	body := bytes.Repeat([]byte{1<<3 | 2, 0}, MaxSyncRequestBytes/2)
	data := append(protowire.AppendVarint(nil, uint64(len(body))), body...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := ReadSyncRequest(bytes.NewReader(data)); !errors.Is(err, ErrMalformed) {
		t.Errorf("error %v", err)
	}
	runtime.ReadMemStats(&after)
	if cost := after.TotalAlloc - before.TotalAlloc; cost > 8*MaxSyncRequestBytes {
		t.Errorf("refusing a request of %d bytes took %d", len(data), cost)
	}
}
