package peerprior

import (
	"testing"

	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"
)

func TestReferencesKeepTheLastUsed(t *testing.T) {
	t.Parallel()
	name := func(i byte) cid.Cid {
		hash, err := multihash.Sum([]byte{i}, multihash.SHA2_256, -1)
		if err != nil {
			t.Fatal(err)
		}
		return cid.NewCidV1(cid.Raw, hash)
	}
	r, computed := &references{most: 2}, ""
	use := func(i byte) *reference {
		return r.of(name(i), func() *reference { computed += string('a' + i); return &reference{} })
	}
	first := use(0)
	use(1)
	if use(0) != first {
		t.Error("a cached reference is another one")
	}
	use(2) // displaces 1
	use(0)
	use(1)
	if computed != "abcb" || len(r.recent) != 2 {
		t.Errorf("computed %q, %d are cached", computed, len(r.recent))
	}
}
