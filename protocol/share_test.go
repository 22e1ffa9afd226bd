package protocol

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/record"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/fbotest"
	"github.com/fbo-node/fbo/internal/pb"
)

var update = flag.Bool("update", false, "write the golden files anew")

const exampleTask = "bagaaieraec4a7psf7km3k7jdglg7bs3bhujreylxq7hq5ny26x57oa4be7ga"

func mustCID(t testing.TB, text string) cid.Cid {
	t.Helper()
	id, err := cid.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func exampleShare(t testing.TB) Share {
	t.Helper()
	return Share{
		Task:    mustCID(t, exampleTask),
		Key:     Key{Kind: "weights", Slot: 2},
		Stamp:   Stamp{Epoch: 3, Sequence: 7},
		TTL:     time.Hour,
		Payload: []byte("what the exchange understands"),
	}
}

func seal(t testing.TB, s Share, key crypto.PrivKey) Share {
	t.Helper()
	sealed, err := Seal(s, key)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// same compares all that a share says and leaves out the bytes that carry it.
func same(a, b Share) bool {
	return a.Task == b.Task && a.Key == b.Key && a.Stamp == b.Stamp && a.TTL == b.TTL &&
		bytes.Equal(a.Payload, b.Payload) && a.Digest == b.Digest
}

func TestSealThenOpenReturnsTheShare(t *testing.T) {
	keys := []crypto.PrivKey{fbotest.Key(t, 1), fbotest.Key(t, 2)}
	task := mustCID(t, exampleTask)
	rapid.Check(t, func(t *rapid.T) {
		s := Share{
			Task:    task,
			Key:     Key{Kind: rapid.StringN(1, 8, MaxKindBytes).Draw(t, "kind"), Slot: rapid.Uint64().Draw(t, "slot")},
			Stamp:   Stamp{rapid.Uint64Min(1).Draw(t, "epoch"), rapid.Uint64Min(1).Draw(t, "sequence")},
			TTL:     time.Duration(rapid.Int64Range(1, int64(MaxTTL/time.Second)).Draw(t, "seconds")) * time.Second,
			Payload: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "payload"),
		}
		sealed, err := Seal(s, rapid.SampledFrom(keys).Draw(t, "key"))
		if err != nil {
			t.Fatal(err)
		}
		opened, err := Open(sealed.Envelope)
		if err != nil {
			t.Fatal(err)
		}
		if !same(opened, sealed) || !bytes.Equal(opened.Envelope, sealed.Envelope) {
			t.Fatalf("sealed %+v, opened %+v", sealed, opened)
		}
	})
}

func TestSealIsDeterministic(t *testing.T) {
	one, two := seal(t, exampleShare(t), fbotest.Key(t, 1)), seal(t, exampleShare(t), fbotest.Key(t, 1))
	if !bytes.Equal(one.Envelope, two.Envelope) {
		t.Error("one share, sealed twice, gave two envelopes")
	}
}

// Whoever changes the wire format needs a new domain and codec, not new golden
// bytes.
func TestEnvelopeIsGolden(t *testing.T) {
	weights, err := Weights{Observations: 5, Values: []float64{0.5, -1.25, 3}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	key := fbotest.Key(t, 7)
	author := seal(t, exampleShare(t), key).Author
	presence, err := Presence{Members: MembersOf(nil), Leaving: true}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, payload := range map[string][]byte{"weights": weights, "presence": presence} {
		s := exampleShare(t)
		s.Kind, s.Payload = name, payload
		sealed := seal(t, s, key)
		file := filepath.Join("testdata", "envelope_"+name+".hex")
		if *update {
			if err := os.WriteFile(file, []byte(hex.EncodeToString(sealed.Envelope)+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		golden, err := hex.DecodeString(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(golden, sealed.Envelope) {
			t.Errorf("%s: the envelope is now\n%x\nwas\n%x", name, sealed.Envelope, golden)
		}
		opened, err := Open(golden)
		if err != nil || opened.Author != author || opened.Stamp != s.Stamp || !bytes.Equal(opened.Payload, payload) {
			t.Errorf("%s: golden envelope opens to %+v, %v", name, opened, err)
		}
	}
}

// Whatever bit of an envelope changes, it is either refused or, where the
// change carries no meaning, says the same.
func TestTamperingIsNoticed(t *testing.T) {
	s := exampleShare(t)
	sealed := seal(t, s, fbotest.Key(t, 1))
	for i := range sealed.Envelope {
		for bit := range 8 {
			changed := bytes.Clone(sealed.Envelope)
			changed[i] ^= 1 << bit
			opened, err := Open(changed)
			if err == nil && !same(opened, sealed) {
				t.Errorf("byte %d, bit %d: opens to %+v", i, bit, opened)
			}
			if err != nil && !errors.Is(err, ErrMalformed) {
				t.Errorf("byte %d, bit %d: error %v does not wrap ErrMalformed", i, bit, err)
			}
		}
		if _, err := Open(sealed.Envelope[:i]); !errors.Is(err, ErrMalformed) {
			t.Errorf("the first %d bytes: error %v", i, err)
		}
	}
}

// What is not signed could be added by anybody who passes a share on, to make
// it heavy or to give gossip countless copies of it.
func TestNothingUnsignedRidesAlong(t *testing.T) {
	sealed := seal(t, exampleShare(t), fbotest.Key(t, 1))
	unknown := protowire.AppendTag(nil, 100, protowire.BytesType)
	unknown = protowire.AppendBytes(unknown, make([]byte, 1000))
	doubled := protowire.AppendTag(nil, 5, protowire.BytesType) // the signature once more, empty first
	doubled = protowire.AppendBytes(doubled, nil)
	for name, data := range map[string][]byte{
		"unknown field behind":  append(bytes.Clone(sealed.Envelope), unknown...),
		"unknown field before":  append(bytes.Clone(unknown), sealed.Envelope...),
		"a field given twice":   append(bytes.Clone(doubled), sealed.Envelope...),
		"the whole share twice": append(bytes.Clone(sealed.Envelope), sealed.Envelope...),
	} {
		if _, err := Open(data); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: error %v, want ErrMalformed", name, err)
		}
	}
}

type foreign struct {
	signedShare
	domain, codec string
}

func (f *foreign) Domain() string { return f.domain }
func (f *foreign) Codec() []byte  { return []byte(f.codec) }

func TestOpenWantsItsOwnDomainAndCodec(t *testing.T) {
	own := &signedShare{}
	for _, c := range []struct {
		name, domain, codec string
		want                bool
	}{
		{"both right", own.Domain(), string(own.Codec()), true},
		{"domain of peer records", "libp2p-peer-record", string(own.Codec()), false},
		{"another codec", own.Domain(), "/fbo/share/2", false},
	} {
		envelope, err := record.Seal(&foreign{signedShare{exampleShare(t)}, c.domain, c.codec}, fbotest.Key(t, 1))
		if err != nil {
			t.Fatal(err)
		}
		data, err := envelope.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(data); (err == nil) != c.want {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}

// Other keys are refused: their signatures are larger, slower to verify or can
// be altered by third parties, and no node has one.
func TestOnlyEd25519KeysSign(t *testing.T) {
	random := rand.NewChaCha8([32]byte{9})
	for _, kind := range []int{crypto.RSA, crypto.Secp256k1, crypto.ECDSA} {
		key, _, err := crypto.GenerateKeyPairWithReader(kind, 2048, random)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Seal(exampleShare(t), key); err == nil {
			t.Errorf("sealed with a %v key", key.Type())
		}
		envelope, err := record.Seal(&signedShare{exampleShare(t)}, key)
		if err != nil {
			t.Fatal(err)
		}
		data, err := envelope.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(data); !errors.Is(err, ErrMalformed) {
			t.Errorf("%v key: error %v, want ErrMalformed", key.Type(), err)
		}
	}
}

func TestBoundsOfAShare(t *testing.T) {
	key := fbotest.Key(t, 1)
	for _, c := range []struct {
		name   string
		change func(*Share)
		ok     bool
	}{
		{"as it is", func(*Share) {}, true},
		{"no task", func(s *Share) { s.Task = cid.Undef }, false},
		{"no kind", func(s *Share) { s.Kind = "" }, false},
		{"longest kind", func(s *Share) { s.Kind = strings.Repeat("k", MaxKindBytes) }, true},
		{"kind too long", func(s *Share) { s.Kind = strings.Repeat("k", MaxKindBytes+1) }, false},
		{"kind that is no text", func(s *Share) { s.Kind = "\xff" }, false},
		{"epoch 0", func(s *Share) { s.Epoch = 0 }, false},
		{"sequence 0", func(s *Share) { s.Sequence = 0 }, false},
		{"no time to live", func(s *Share) { s.TTL = 0 }, false},
		{"half a second", func(s *Share) { s.TTL = time.Second / 2 }, false},
		{"one second", func(s *Share) { s.TTL = time.Second }, true},
		{"a second and a half", func(s *Share) { s.TTL = 3 * time.Second / 2 }, false},
		{"longest time to live", func(s *Share) { s.TTL = MaxTTL }, true},
		{"lives too long", func(s *Share) { s.TTL = MaxTTL + time.Second }, false},
		{"no payload", func(s *Share) { s.Payload = nil }, true},
		{"almost too large", func(s *Share) { s.Payload = make([]byte, MaxEnvelopeBytes-300) }, true},
		{"too large", func(s *Share) { s.Payload = make([]byte, MaxEnvelopeBytes) }, false},
	} {
		s := exampleShare(t)
		c.change(&s)
		sealed, err := Seal(s, key)
		if (err == nil) != c.ok {
			t.Errorf("%s: Seal: %v", c.name, err)
		}
		if err == nil {
			if opened, err := Open(sealed.Envelope); err != nil || !same(opened, sealed) {
				t.Errorf("%s: Open: %+v, %v", c.name, opened, err)
			}
		}
	}
	if _, err := Open(make([]byte, MaxEnvelopeBytes+1)); !errors.Is(err, ErrMalformed) {
		t.Errorf("oversized envelope: %v", err)
	}
}

// hostile signs what Seal would refuse.
type hostile struct {
	signedShare
	pb *pb.Share
}

func (h *hostile) MarshalRecord() ([]byte, error) { return proto.Marshal(h.pb) }

func TestOpenChecksWhatIsSigned(t *testing.T) {
	task := mustCID(t, exampleTask).Bytes()
	for name, m := range map[string]*pb.Share{
		"nothing":         {},
		"no task":         {Epoch: 1, Sequence: 1, Kind: "k", TtlSeconds: 1},
		"task is no CID":  {Task: []byte("task"), Epoch: 1, Sequence: 1, Kind: "k", TtlSeconds: 1},
		"no kind":         {Task: task, Epoch: 1, Sequence: 1, TtlSeconds: 1},
		"kind too long":   {Task: task, Epoch: 1, Sequence: 1, Kind: strings.Repeat("k", 33), TtlSeconds: 1},
		"epoch 0":         {Task: task, Sequence: 1, Kind: "k", TtlSeconds: 1},
		"sequence 0":      {Task: task, Epoch: 1, Kind: "k", TtlSeconds: 1},
		"no time to live": {Task: task, Epoch: 1, Sequence: 1, Kind: "k"},
		"lives for ever":  {Task: task, Epoch: 1, Sequence: 1, Kind: "k", TtlSeconds: 1<<32 - 1},
	} {
		envelope, err := record.Seal(&hostile{pb: m}, fbotest.Key(t, 1))
		if err != nil {
			t.Fatal(err)
		}
		data, err := envelope.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if opened, err := Open(data); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, error %v", name, opened, err)
		}
	}
}

func TestStampsAreOrdered(t *testing.T) {
	ascending := []Stamp{{}, {0, 1}, {1, 0}, {1, 9}, {2, 1}, {2, 2}, {1 << 63, 0}}
	for i, a := range ascending {
		for j, b := range ascending {
			got := a.Compare(b)
			if got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%v against %v: %d", a, b, got)
			}
		}
	}
}

// A share of M weights takes 4M bytes and at most 200 more.
func TestSizeOfAShare(t *testing.T) {
	for _, c := range []struct{ features, bytes int }{{16, 250}, {256, 1212}, {4096, 16575}} {
		values := make([]float64, c.features)
		for i := range values {
			values[i] = float64(i) - 3.5
		}
		payload, err := Weights{Observations: 1000, Values: values}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		s := exampleShare(t)
		s.Payload, s.Slot, s.TTL, s.Stamp = payload, 0, 24*time.Hour, Stamp{1000, 1000}
		size := len(seal(t, s, fbotest.Key(t, 1)).Envelope)
		if size != c.bytes {
			t.Errorf("M = %d: %d bytes, want %d", c.features, size, c.bytes)
		}
		if over := size - 4*c.features; over >= 200 {
			t.Errorf("M = %d: %d bytes over 4M", c.features, over)
		}
	}
}
