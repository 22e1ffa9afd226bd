package random_test

import (
	"fmt"
	"testing"

	"github.com/fbo-node/fbo/random"
)

// Journals and results rest on these numbers: they are for ever.
func TestStreamsAreForEver(t *testing.T) {
	seed := random.SeedOf(1)
	if got, want := fmt.Sprintf("%x", seed[:8]), "4d80780f7603ad02"; got != want {
		t.Errorf("the seed begins with %s, want %s", got, want)
	}
	if got, want := seed.Stream("own sample", 3).Uint64(), uint64(17390321274749535170); got != want {
		t.Errorf("a stream begins with %d, want %d", got, want)
	}
	if got, want := seed.Derive("part", 2).Stream("own sample", 3).Uint64(), uint64(10494291990740350306); got != want {
		t.Errorf("a derived stream begins with %d, want %d", got, want)
	}
}

// Neither label nor index nor seed can stand for another.
func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for _, seed := range []uint64{0, 1, 1 << 63} {
		for _, label := range []string{"", "a", "ab", "\x00", "a\x00"} {
			for _, index := range []uint64{0, 1, 1 << 56} {
				name := fmt.Sprintf("%d %q %d", seed, label, index)
				stream := random.SeedOf(seed).Stream(label, index).Uint64()
				derived := random.SeedOf(seed).Derive(label, index).Stream(label, index).Uint64()
				for _, number := range []uint64{stream, derived} {
					if other, ok := seen[number]; ok {
						t.Errorf("%s begins as %s does", name, other)
					}
					seen[number] = name
				}
			}
		}
	}
	if one, other := random.New(), random.New(); one == other {
		t.Error("two new seeds are equal")
	}
}
