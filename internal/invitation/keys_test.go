package invitation_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/invitation"
	"github.com/fbo-node/fbo/protocol"
)

const ada, ben, eve = peer.ID("ada"), peer.ID("ben"), peer.ID("eve")

func TestKeysDeriveDistinctNames(t *testing.T) {
	i := invitation.New(taskOf(t, "a"))
	k, again := i.Keys(), i.Keys()
	if k.Tag() != again.Tag() || k.Meeting() != again.Meeting() {
		t.Error("the names change")
	}
	seen := map[cid.Cid]bool{i.Task(): true}
	for _, other := range []*invitation.Keys{k, invitation.New(i.Task()).Keys(), invitation.New(taskOf(t, "b")).Keys()} {
		for _, name := range []cid.Cid{other.Tag(), other.Meeting()} {
			if seen[name] {
				t.Errorf("%v stands for two things", name)
			}
			seen[name] = true
			if !invitation.IsName(name) || strings.Contains(name.String(), i.Task().String()[10:20]) {
				t.Errorf("%v", name)
			}
			if decoded, err := cid.Decode(name.String()); err != nil || decoded != name { // as nodes and hubs read it
				t.Errorf("%v: %v", decoded, err)
			}
		}
	}
	if invitation.IsName(i.Task()) {
		t.Error("a task's ID passes for a name")
	}
}

func TestSealAndOpen(t *testing.T) {
	i := invitation.New(taskOf(t, "a"))
	k := i.Keys()
	rapid.Check(t, func(t *rapid.T) {
		message := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "message")
		sealed := k.Seal(ada, message)
		if len(sealed) != len(message)+invitation.Overhead {
			t.Fatalf("%d bytes become %d", len(message), len(sealed))
		}
		if opened, err := i.Keys().Open(ada, sealed); err != nil || !bytes.Equal(opened, message) {
			t.Fatalf("%v, %v", opened, err)
		}
		if len(message) > 8 && bytes.Contains(sealed, message) {
			t.Fatal("the message can be read")
		}
		if bytes.Equal(sealed, k.Seal(ada, message)) {
			t.Fatal("a nonce comes twice")
		}
		at := rapid.IntRange(0, len(sealed)-1).Draw(t, "at")
		changed := bytes.Clone(sealed)
		changed[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		for what, open := range map[string]func() ([]byte, error){
			"changed":         func() ([]byte, error) { return k.Open(ada, changed) },
			"cut":             func() ([]byte, error) { return k.Open(ada, sealed[:at]) },
			"another author":  func() ([]byte, error) { return k.Open(eve, sealed) },
			"another secret":  func() ([]byte, error) { return invitation.New(i.Task()).Keys().Open(ada, sealed) },
			"never encrypted": func() ([]byte, error) { return k.Open(ada, message) },
		} {
			if opened, err := open(); !errors.Is(err, invitation.ErrForeign) || opened != nil {
				t.Fatalf("%s: %v, %v", what, opened, err)
			}
		}
	})
}

func FuzzOpen(f *testing.F) {
	k := invitation.New(taskOf(f, "a")).Keys()
	f.Add([]byte{})
	f.Add(make([]byte, invitation.Overhead))
	f.Add(k.Seal(eve, []byte("message")))
	f.Fuzz(func(t *testing.T, sealed []byte) {
		if message, err := k.Open(ada, sealed); !errors.Is(err, invitation.ErrForeign) || message != nil {
			t.Errorf("%q opens: %q, %v", sealed, message, err)
		}
	})
}

// What a message of gossip costs in addition, for the smallest share and the largest.
func BenchmarkSeal(b *testing.B) {
	k := invitation.New(taskOf(b, "a")).Keys()
	for _, size := range []int{200, 1212, protocol.MaxEnvelopeBytes} {
		message := make([]byte, size)
		_, _ = rand.Read(message)
		sealed := k.Seal(ada, message)
		b.Run(fmt.Sprintf("seal/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				k.Seal(ada, message)
			}
		})
		b.Run(fmt.Sprintf("open/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := k.Open(ada, sealed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
