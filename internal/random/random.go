// Package random derives named, independent streams of random numbers from one
// seed, so that every decision of an agent can be repeated and none disturbs
// another: drawing one number more for the maximiser does not change which
// peer is asked.
//
// Streams are for reproducible decisions only. Noise for privacy and keys must
// come from crypto/rand.
package random

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Seed is the root from which an agent's streams derive.
type Seed [32]byte

// SeedOf turns a user's number into a Seed.
func SeedOf(n uint64) Seed {
	return derive(Seed{}, "seed", n)
}

// Stream returns the stream with this label and index. The same arguments give
// the same numbers on every machine.
func (s Seed) Stream(label string, index uint64) *rand.Rand {
	return rand.New(rand.NewChaCha8(derive(s, label, index)))
}

// Derive returns the seed of a part that draws several streams of its own.
func (s Seed) Derive(label string, index uint64) Seed {
	return derive(s, label, index)
}

func derive(s Seed, label string, index uint64) Seed {
	hash := sha256.New()
	hash.Write(s[:])
	hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(label))))
	hash.Write([]byte(label))
	hash.Write(binary.BigEndian.AppendUint64(nil, index))
	return Seed(hash.Sum(nil))
}

// New returns an unpredictable seed.
func New() Seed {
	var s Seed
	if _, err := crand.Read(s[:]); err != nil {
		panic(err) // crypto/rand never fails on supported systems
	}
	return s
}
