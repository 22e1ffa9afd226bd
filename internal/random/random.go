// Package random derives named, independent streams of random numbers from one seed. Every decision
// of an agent can therefore be repeated, and no decision changes another: if the maximiser draws
// one more number, the node still asks the same peer.
//
// Use streams only for reproducible decisions. Noise for privacy, and keys, must come from
// crypto/rand.
package random

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Seed is the root from which the streams of an agent are derived.
type Seed [32]byte

// SeedOf returns the Seed for a number that a user chose.
func SeedOf(n uint64) Seed {
	return derive(Seed{}, "seed", n)
}

// Stream returns the stream with this label and index. The same seed, label and index give the same
// numbers on every machine.
func (s Seed) Stream(label string, index uint64) *rand.Rand {
	return rand.New(rand.NewChaCha8(derive(s, label, index)))
}

// Derive returns a seed for a component that needs several streams of its own.
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
