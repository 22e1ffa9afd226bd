package sharebundle_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multihash"

	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/internal/sharebundle"
	"github.com/fbo-node/fbo/protocol"
)

func newKey(t testing.TB) crypto.PrivKey {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func idOf(text string) cid.Cid {
	sum, _ := multihash.Sum([]byte(text), multihash.SHA2_256, -1)
	return cid.NewCidV1(cid.Raw, sum)
}

// newBundle returns a bundle with a share of each key.
func newBundle(t testing.TB, id cid.Cid, keys ...crypto.PrivKey) sharebundle.Bundle {
	t.Helper()
	b := sharebundle.Bundle{Task: id, Made: time.Unix(1_800_000_000, 0).UTC()}
	for i, key := range keys {
		share, err := protocol.Seal(protocol.Share{
			Task: id, Key: protocol.Key{Kind: "density"}, Stamp: protocol.Stamp{Epoch: 1, Sequence: uint64(i + 1)}, TTL: time.Hour, Payload: []byte("a payload that is easy to find"),
		}, key)
		if err != nil {
			t.Fatal(err)
		}
		b.Items = append(b.Items, sharebundle.Item{Share: share, Age: time.Duration(i) * time.Minute})
	}
	return b
}

func encode(t testing.TB, b sharebundle.Bundle, key crypto.PrivKey, keys *invitation.Keys) []byte {
	t.Helper()
	file, err := sharebundle.Encode(b, key, keys)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestDecodeInvertsEncode(t *testing.T) {
	id, exporter := idOf("task"), newKey(t)
	invited := invitation.New(id).Keys()
	for name, keys := range map[string]*invitation.Keys{"open": nil, "sealed": invited} {
		t.Run(name, func(t *testing.T) {
			want := newBundle(t, id, exporter, newKey(t), newKey(t))
			got, err := sharebundle.Decode(encode(t, want, exporter, keys), keys)
			if err != nil {
				t.Fatal(err)
			}
			self, _ := peer.IDFromPrivateKey(exporter)
			if got.Exporter != self || !got.Made.Equal(want.Made) || !got.Task.Equals(id) || len(got.Items) != len(want.Items) {
				t.Fatalf("got %+v", got)
			}
			for i, item := range got.Items {
				if !bytes.Equal(item.Share.Envelope, want.Items[i].Share.Envelope) || item.Age != want.Items[i].Age {
					t.Errorf("item %d: got %+v", i, item)
				}
			}
		})
	}
}

// TestChangedFilesAreRefused changes each byte, cuts at each length, and adds a byte.
func TestChangedFilesAreRefused(t *testing.T) {
	id, exporter := idOf("task"), newKey(t)
	invited := invitation.New(id).Keys()
	for _, keys := range []*invitation.Keys{nil, invited} {
		file := encode(t, newBundle(t, id, exporter, newKey(t)), exporter, keys)
		for i := range file {
			changed := slices.Clone(file)
			changed[i] ^= 1
			if _, err := sharebundle.Decode(changed, keys); err == nil {
				t.Fatalf("a file with another byte %d of %d is accepted", i, len(file))
			}
			if _, err := sharebundle.Decode(file[:i], keys); err == nil {
				t.Fatalf("the first %d of %d bytes are accepted", i, len(file))
			}
		}
		if _, err := sharebundle.Decode(append(slices.Clone(file), 0), keys); err == nil {
			t.Error("a file with a byte more is accepted")
		}
	}
}

func TestSealedBundleDisclosesNothing(t *testing.T) {
	id, exporter := idOf("task"), newKey(t)
	keys := invitation.New(id).Keys()
	b := newBundle(t, id, exporter)
	file := encode(t, b, exporter, keys)
	for what, part := range map[string][]byte{"payload": b.Items[0].Share.Payload, "task": id.Bytes(), "author": []byte(b.Items[0].Share.Author), "tag": keys.Tag().Bytes()} {
		if bytes.Contains(file, part) {
			t.Errorf("the file contains the %s", what)
		}
	}
	if _, err := sharebundle.Decode(file, nil); !errors.Is(err, sharebundle.ErrSealed) {
		t.Errorf("without the invitation: %v", err)
	}
	if _, err := sharebundle.Decode(file, invitation.New(id).Keys()); !errors.Is(err, sharebundle.ErrForeign) {
		t.Errorf("with another invitation: %v", err)
	}
	if _, err := sharebundle.Decode(encode(t, b, exporter, nil), keys); !errors.Is(err, sharebundle.ErrForeign) {
		t.Errorf("an open bundle for a task by invitation: %v", err)
	}
}

func TestLimits(t *testing.T) {
	id, exporter := idOf("task"), newKey(t)
	var keys []crypto.PrivKey
	for range sharebundle.MaxAuthors + 1 {
		keys = append(keys, newKey(t))
	}
	if _, err := sharebundle.Encode(newBundle(t, id, keys...), exporter, nil); err == nil {
		t.Error("a bundle of too many authors is made")
	}
	encode(t, newBundle(t, id, keys[1:]...), exporter, nil)
	mixed := newBundle(t, id, exporter)
	mixed.Items = append(mixed.Items, newBundle(t, idOf("other"), exporter).Items...)
	if _, err := sharebundle.Encode(mixed, exporter, nil); err == nil {
		t.Error("a bundle with a share of another task is made")
	}
	if _, err := sharebundle.Decode(make([]byte, sharebundle.MaxBytes+1), nil); !errors.Is(err, sharebundle.ErrDamaged) {
		t.Errorf("a huge file: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	id, exporter := idOf("task"), newKey(f)
	f.Add(encode(f, newBundle(f, id, exporter), exporter, nil))
	f.Add([]byte("fbo-share-bundle-1 open\n"))
	f.Add([]byte("fbo-share-bundle-1 sealed\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		b, err := sharebundle.Decode(file, nil)
		if err != nil {
			return
		}
		for _, item := range b.Items {
			if !item.Share.Task.Equals(b.Task) || item.Age < 0 || item.Age > protocol.MaxTTL {
				t.Fatalf("item %+v of task %v", item, b.Task)
			}
		}
	})
}

// FuzzRecord decodes the content of an envelope that any node can sign.
func FuzzRecord(f *testing.F) {
	id, exporter := idOf("task"), newKey(f)
	f.Add(sharebundle.Record(newBundle(f, id, exporter)))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := sharebundle.ParseRecord(data)
		if err == nil && (len(b.Items) > sharebundle.MaxShares || !b.Task.Defined()) {
			t.Fatalf("accepted %+v", b)
		}
	})
}
