package protocol

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/pb"
)

// receiptOf names releases by single letters.
func receiptOf(names string) (r Receipt) {
	for _, name := range []byte(names) {
		r.Releases = append(r.Releases, ReleaseName{name})
	}
	return r
}

func sealReceipt(t testing.TB, key int, stamp Stamp, names string) Share {
	t.Helper()
	payload, err := receiptOf(names).Encode()
	if err != nil {
		t.Fatal(err)
	}
	s := exampleShare(t)
	s.Key, s.Stamp, s.Payload = Key{Kind: ReceiptKind}, stamp, payload
	return seal(t, s, fbotest.Key(t, key))
}

func TestReceiptRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.StringN(0, 20, 20).Draw(t, "names")
		payload, err := receiptOf(names).Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeReceipt(payload, len(names))
		if err != nil || !slices.Equal(got.Releases, receiptOf(names).Releases) {
			t.Fatalf("%q became %v, %v", names, got, err)
		}
		if len(names) > 0 {
			if _, err := DecodeReceipt(payload, len(names)-1); !errors.Is(err, ErrMalformed) {
				t.Fatalf("more releases than planned: %v", err)
			}
		}
	})
}

func TestReceiptsThatAreRefused(t *testing.T) {
	marshal := func(m *pb.Receipt) []byte {
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	good := marshal(&pb.Receipt{Releases: make([]byte, 16)})
	for name, payload := range map[string][]byte{
		"half a name":   marshal(&pb.Receipt{Releases: make([]byte, 12)}),
		"too many":      marshal(&pb.Receipt{Releases: make([]byte, 24)}),
		"ballast":       append(slices.Clone(good), 0x12, 1, 'x'),
		"said twice":    append(slices.Clone(good), good...),
		"cut":           good[:5],
		"far too large": make([]byte, 1<<20),
	} {
		if r, err := DecodeReceipt(payload, 2); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

func TestForkOfReceipts(t *testing.T) {
	for _, c := range []struct {
		a, b   string
		common int
		forked bool
	}{{"", "", 0, false}, {"", "a", 0, false}, {"ab", "abc", 2, false}, {"abc", "abc", 3, false}, {"a", "b", 0, true}, {"abx", "aby", 2, true}, {"abx", "abyz", 2, true}} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			a, b := receiptOf(pair[0]), receiptOf(pair[1])
			if a.Common(b) != c.common || a.Forked(b) != c.forked {
				t.Errorf("%q and %q: %d in common, forked %v", pair[0], pair[1], a.Common(b), a.Forked(b))
			}
		}
	}
}

// What contradicts itself is proven by the two envelopes alone, in whatever order; what
// an author with one journal signs never is.
func TestEquivocationProofs(t *testing.T) {
	plain := func(key int, stamp Stamp, payload string) Share {
		s := exampleShare(t)
		s.Stamp, s.Payload = stamp, []byte(payload)
		return seal(t, s, fbotest.Key(t, key))
	}
	at := func(epoch, sequence uint64) Stamp { return Stamp{Epoch: epoch, Sequence: sequence} }
	for _, c := range []struct {
		name     string
		a, b     Share
		ok       bool
		conflict Conflict
	}{
		{"one stamp", plain(1, at(1, 2), "x"), plain(1, at(1, 2), "y"), true, SameStamp},
		{"the same", plain(1, at(1, 2), "x"), plain(1, at(1, 2), "x"), false, 0},
		{"two stamps", plain(1, at(1, 2), "x"), plain(1, at(1, 3), "y"), false, 0},
		{"two authors", plain(1, at(1, 2), "x"), plain(2, at(1, 2), "y"), false, 0},
		{"accounts that go on", sealReceipt(t, 1, at(1, 2), "ab"), sealReceipt(t, 1, at(3, 1), "abc"), false, 0},
		{"an old account, repeated", sealReceipt(t, 1, at(1, 2), "ab"), sealReceipt(t, 1, at(3, 1), "a"), false, 0},
		{"accounts that differ", sealReceipt(t, 1, at(1, 2), "abx"), sealReceipt(t, 1, at(3, 1), "aby"), true, ForkedReceipts},
		{"accounts that differ, with one stamp", sealReceipt(t, 1, at(1, 2), "abx"), sealReceipt(t, 1, at(1, 2), "aby"), true, ForkedReceipts},
		{"accounts that go on, with one stamp", sealReceipt(t, 1, at(1, 2), "ab"), sealReceipt(t, 1, at(1, 2), "aby"), true, SameStamp},
		{"accounts of two authors", sealReceipt(t, 1, at(1, 2), "abx"), sealReceipt(t, 2, at(3, 1), "aby"), false, 0},
		{"too large", plain(1, at(1, 2), string(make([]byte, MaxEquivocationProofBytes))), plain(1, at(1, 2), "y"), false, 0},
	} {
		forwards, err := OpenEquivocationProof(c.a.Envelope, c.b.Envelope)
		backwards, _ := OpenEquivocationProof(c.b.Envelope, c.a.Envelope)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.ok && (forwards.Conflict != c.conflict || forwards.Digest() != backwards.Digest() || forwards.Compare(backwards) != 0) {
			t.Errorf("%s: %v, backwards %v", c.name, forwards.Conflict, backwards.Conflict)
		}
	}
}

// Whoever hears several contradictions ends with the same one, in whatever order: that
// which knows of most releases.
func TestEquivocationProofsAreOrdered(t *testing.T) {
	pairs := [][2]string{{"ax", "ay"}, {"axx", "ay"}, {"axxx", "ay"}, {"ax", "ayy"}}
	var all []EquivocationProof
	for i, pair := range pairs {
		c, err := OpenEquivocationProof(sealReceipt(t, 1, Stamp{1, uint64(2*i + 1)}, pair[0]).Envelope, sealReceipt(t, 1, Stamp{1, uint64(2*i + 2)}, pair[1]).Envelope)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for i, c := range all {
		for j, d := range all {
			if got := c.Compare(d); got != -d.Compare(c) || (got == 0) != (i == j) {
				t.Errorf("%q against %q: %d and %d", pairs[i], pairs[j], got, d.Compare(c))
			}
		}
	}
	if best := slices.MaxFunc(all, EquivocationProof.Compare); best.Digest() != all[2].Digest() {
		t.Errorf("the most is %v", best)
	}
}

func TestRequestsCarryEquivocationProofs(t *testing.T) {
	want := []SealedEquivocationProof{{[]byte("a"), []byte("b")}, {[]byte("c"), []byte("d")}}
	var wire bytes.Buffer
	if err := WriteSyncRequest(&wire, SyncRequest{Equivocations: append(slices.Clone(want), SealedEquivocationProof{})}); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSyncRequest(&wire)
	if err != nil || len(got.Equivocations) != MaxEquivocationProofs {
		t.Fatalf("%v, %v", got, err)
	}
	for i, c := range got.Equivocations {
		if !bytes.Equal(c.First, want[i].First) || !bytes.Equal(c.Second, want[i].Second) {
			t.Errorf("%d: %q", i, c)
		}
	}
}

func FuzzDecodeReceipt(f *testing.F) {
	payload, err := receiptOf("abc").Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := DecodeReceipt(data, 5)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("error %v does not wrap ErrMalformed", err)
			}
			return
		}
		if again, err := r.Encode(); err != nil || !bytes.Equal(again, data) || len(r.Releases) > 5 {
			t.Fatalf("%v: %x became %x, %v", r, data, again, err)
		}
	})
}

func FuzzOpenEquivocationProof(f *testing.F) {
	a, b := sealReceipt(f, 1, Stamp{1, 2}, "abx"), sealReceipt(f, 1, Stamp{1, 3}, "aby")
	f.Add(a.Envelope, b.Envelope)
	f.Add(a.Envelope, a.Envelope)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		c, err := OpenEquivocationProof(first, second)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("error %v does not wrap ErrMalformed", err)
			}
			return
		}
		if c.First.Author != c.Second.Author || c.First.Digest == c.Second.Digest || c.Bytes() > MaxEquivocationProofBytes {
			t.Fatalf("accepted %+v", c)
		}
	})
}
