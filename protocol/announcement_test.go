package protocol

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/pb"
)

func announcements(n int) (list []Announcement) {
	for i := range n {
		list = append(list, Announcement{
			Kind: strings.Repeat("k", MaxKindBytes), Slot: 1<<64 - 1 - uint64(i), Stamp: Stamp{1<<64 - 1, 1<<64 - 1 - uint64(i)}, Digest: [DigestBytes]byte{byte(i), 1}, TTL: MaxTTL,
		})
	}
	return list
}

func TestAnnouncementsRoundTrip(t *testing.T) {
	presences().survives(t, Presence{Members: Members{Count: 1 << 20}, Leaving: true, Newest: announcements(MaxAnnouncements)})
	without := presences().encoded(t, Presence{Members: MembersOf(nil)})
	if len(without) != 34 {
		t.Errorf("a presence message without announcements has %d bytes, want 34 as before there were any", len(without))
	}
}

func TestAnnouncementsThatAreRefused(t *testing.T) {
	good := func() *pb.Announcement { return announcements(1)[0].message() }
	for name, change := range map[string]func(m *pb.Presence){
		"too many":         func(m *pb.Presence) { m.Newest = slices.Repeat(m.Newest, MaxAnnouncements+1) },
		"two of one key":   func(m *pb.Presence) { m.Newest = append(m.Newest, good()); m.Newest[1].Sequence-- },
		"two of one stamp": func(m *pb.Presence) { m.Newest = append(m.Newest, good()); m.Newest[1].Slot-- },
		"no kind":          func(m *pb.Presence) { m.Newest[0].Kind = "" },
		"long kind":        func(m *pb.Presence) { m.Newest[0].Kind += "k" },
		"no epoch":         func(m *pb.Presence) { m.Newest[0].Epoch = 0 },
		"no sequence":      func(m *pb.Presence) { m.Newest[0].Sequence = 0 },
		"short digest":     func(m *pb.Presence) { m.Newest[0].Digest = m.Newest[0].Digest[1:] },
		"no life":          func(m *pb.Presence) { m.Newest[0].TtlSeconds = 0 },
		"long life":        func(m *pb.Presence) { m.Newest[0].TtlSeconds = uint32(MaxTTL/time.Second) + 1 },
		"ballast": func(m *pb.Presence) {
			m.Newest[0].ProtoReflect().SetUnknown(append([]byte{0xa2, 0x06, 200, 1}, make([]byte, 200)...))
		},
	} {
		m := &pb.Presence{MembersHash: make([]byte, 32), Newest: []*pb.Announcement{good()}}
		change(m)
		payload, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		presences().malformed(t, name, payload)
	}
}

func TestAuthorsOfSyncRequests(t *testing.T) {
	ids := idsOf(t, 3)
	var wire bytes.Buffer
	if err := WriteSyncRequest(&wire, SyncRequest{Authors: ids, Suggest: true}); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadSyncRequest(&wire); err != nil || !slices.Equal(got.Authors, ids) || !got.Suggest {
		t.Errorf("%+v, %v", got, err)
	}
	if err := WriteSyncItem(&wire, SyncItem{Suggested: ids}); err != nil {
		t.Fatal(err)
	}
	if err := ReadSyncItems(&wire, func(item SyncItem) error {
		if !slices.Equal(item.Suggested, ids) {
			t.Errorf("%v suggested, want %v", item.Suggested, ids)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	for name, authors := range map[string][][]byte{
		"too many":      slices.Repeat([][]byte{[]byte(ids[0])}, MaxSyncAuthors+1),
		"no peer ID":    {[]byte("you")},
		"empty":         {{}},
		"long identity": {[]byte(peer.ID("\x00" + string([]byte{100}) + strings.Repeat("x", 100)))},
	} {
		for _, m := range []proto.Message{&pb.SyncRequest{Authors: authors}, &pb.SyncItem{Suggested: authors}} {
			body, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			data := append(lengthOf(len(body)), body...)
			_, asked := ReadSyncRequest(bytes.NewReader(data))
			answered := ReadSyncItems(bytes.NewReader(data), func(SyncItem) error { return nil })
			if _, request := m.(*pb.SyncRequest); request && asked == nil || !request && answered == nil {
				t.Errorf("%s: %T is accepted", name, m)
			}
		}
	}
}

func lengthOf(n int) []byte {
	var data []byte
	for ; n >= 0x80; n >>= 7 {
		data = append(data, byte(n)|0x80)
	}
	return append(data, byte(n))
}

func TestDistances(t *testing.T) {
	at := func(x float64, choice int) Density {
		return Density{Components: []Component{{Weight: 1, Center: Point{Coordinates: []float64{x}, Choices: []int{choice}}}}}
	}
	weights := func(values ...float64) Weights { return Weights{Values: values} }
	for _, c := range []struct {
		a    interface{ Distance(any) (float64, bool) }
		b    any
		want float64
		ok   bool
	}{
		{at(0.25, 1), at(0.25, 1), 0, true},
		{at(0.25, 1), at(0.75, 1), 0.5, true},
		{at(0.25, 1), at(0.25, 2), 1, true},
		{at(0.25, 1), weights(1), 0, false},
		{weights(1, 0), weights(2, 0), 0, true},
		{weights(1, 0), weights(0, 3), 1, true},
		{weights(1, 0), weights(-1, 0), 2, true},
		{weights(1, 0), weights(0, 0), 1, true},
		{weights(1, 0), weights(1), 0, false},
		{NearOptimal{Point: Point{Coordinates: []float64{0}}}, NearOptimal{Point: Point{Coordinates: []float64{1}}}, 1, true},
	} {
		if got, ok := c.a.Distance(c.b); got != c.want || ok != c.ok {
			t.Errorf("the distance of %v and %v is %v, %v; want %v, %v", c.a, c.b, got, ok, c.want, c.ok)
		}
	}
}
