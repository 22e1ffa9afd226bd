package random_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/fbo-node/fbo/internal/random"
)

// first are the numbers with which a stream begins.
func first(seed random.Seed, label string, index uint64) (numbers [4]uint64) {
	stream := seed.Stream(label, index)
	for i := range numbers {
		numbers[i] = stream.Uint64()
	}
	return numbers
}

// Journals and the features that agents share rest on these numbers, so they are the same
// in every version and on every machine.
func TestNumbersNeverChange(t *testing.T) {
	for _, c := range []struct {
		got, want uint64
	}{
		{random.SeedOf(0).Stream("", 0).Uint64(), 0xb0e0aca9f73d087e},
		{random.SeedOf(7).Stream("maximise", 3).Uint64(), 0xf6e60ce318a1ad18},
		{random.SeedOf(7).Derive("member", 1).Stream("maximise", 3).Uint64(), 0x177ffdee8feb63da},
	} {
		if c.got != c.want {
			t.Errorf("a stream begins with %#x, want %#x", c.got, c.want)
		}
	}
}

// One name gives one stream, and every other seed, label or index another one: also where
// the parts of a name run into each other.
func TestNamesAreStreams(t *testing.T) {
	name := func(t *rapid.T, which string) (uint64, string, uint64) {
		return rapid.Uint64Range(0, 3).Draw(t, which+" seed"),
			rapid.StringOfN(rapid.SampledFrom([]rune("a\x00\x01")), 0, 9, -1).Draw(t, which+" label"),
			rapid.SampledFrom([]uint64{0, 1, 256, 'a'}).Draw(t, which+" index")
	}
	rapid.Check(t, func(t *rapid.T) {
		seedA, labelA, indexA := name(t, "first")
		seedB, labelB, indexB := name(t, "second")
		same := seedA == seedB && labelA == labelB && indexA == indexB
		a, b := first(random.SeedOf(seedA), labelA, indexA), first(random.SeedOf(seedB), labelB, indexB)
		if (a == b) != same {
			t.Fatalf("%d %q %d begins with %x, %d %q %d with %x", seedA, labelA, indexA, a, seedB, labelB, indexB, b)
		}
		derivedA, derivedB := random.SeedOf(seedA).Derive(labelA, indexA), random.SeedOf(seedB).Derive(labelB, indexB)
		if (derivedA == derivedB) != same {
			t.Fatalf("the seeds derived from %d %q %d and %d %q %d are %x and %x", seedA, labelA, indexA, seedB, labelB, indexB, derivedA, derivedB)
		}
	})
}

func TestStreamsDoNotDisturbEachOther(t *testing.T) {
	seed := random.SeedOf(1)
	alone := first(seed, "one", 0)
	one, other := seed.Stream("one", 0), seed.Stream("other", 0)
	for i, want := range alone {
		other.Uint64()
		if got := one.Uint64(); got != want {
			t.Errorf("number %d is %x beside another stream, alone %x", i, got, want)
		}
	}
}

func TestNewSeedsDiffer(t *testing.T) {
	if a, b := random.New(), random.New(); a == b || a == (random.Seed{}) {
		t.Errorf("two new seeds: %x and %x", a, b)
	}
}

// Every decision has a stream of its own, so that one that draws more does not change the
// others.
func Example() {
	seed := random.SeedOf(42)
	peer := seed.Stream("which peer", 17) // of trial 17
	design := seed.Stream("start", 17)
	fmt.Println(peer.IntN(5), design.IntN(5))
	fmt.Println(seed.Stream("which peer", 17).IntN(5))
	// Output:
	// 0 2
	// 0
}
