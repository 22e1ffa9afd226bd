package privacy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// errStuck is what a source of all ones or all zeros leads to: a loop that true
// random bits leave sooner, but for one case in 2^200, reached its bound.
var errStuck = errors.New("the source of random bytes does not look random")

// Bounds of the loops that random bits end. Each is passed with probability less
// than 2^-200; by so much, in total variation, is the sampler not exact.
const (
	maxUniformTries = 256     // each fails with probability below 1/2
	maxSeries       = 64      // the k-th term of the series is reached with probability 1/k!
	maxAttempts     = 2048    // each fails with probability below 3/4
	maxGeometric    = 1 << 16 // each is a factor of 1/e
)

// entropy hands out random bits and the exact coin throws made of them. The first
// failure of its reader sticks; from then on what it returns is void, and its user
// must look at err before using anything.
type entropy struct {
	reader io.Reader
	buffer [64]byte
	next   int    // bytes of buffer that are spent: all, at first
	word   uint64 // bits not yet handed out
	left   int    // how many they are
	err    error
}

func newEntropy(reader io.Reader) entropy {
	e := entropy{reader: reader}
	e.next = len(e.buffer)
	return e
}

// take returns n ≤ 63 bits.
func (e *entropy) take(n int) uint64 {
	if n <= e.left {
		v := e.word & (1<<n - 1)
		e.word >>= n
		e.left -= n
		return v
	}
	v, have := e.word, e.left
	e.refill()
	v |= e.word & (1<<(n-have) - 1) << have
	e.word >>= n - have
	e.left = 64 - (n - have)
	return v
}

func (e *entropy) refill() {
	if e.err == nil && e.next == len(e.buffer) {
		if _, err := io.ReadFull(e.reader, e.buffer[:]); err != nil {
			e.err = fmt.Errorf("reading random bytes: %w", err)
		}
		e.next = 0
	}
	if e.err != nil {
		e.word = 0
		return
	}
	e.word = binary.LittleEndian.Uint64(e.buffer[e.next:])
	clear(e.buffer[e.next : e.next+8]) // spent bits are useful to an intruder only
	e.next += 8
}

// below returns a uniform integer of [0, n), 1 ≤ n ≤ 2^62.
func (e *entropy) below(n uint64) uint64 {
	width := bits.Len64(n - 1)
	for range maxUniformTries {
		if v := e.take(width); v < n {
			return v
		}
	}
	e.fail()
	return 0
}

// coin is true with probability 1/2.
func (e *entropy) coin() bool { return e.take(1) == 1 }

// fraction is true with probability a/b, 0 ≤ a ≤ b, b ≥ 1.
func (e *entropy) fraction(a, b uint64) bool { return e.below(b) < a }

// expMinus is true with probability exp(−γ) if trial is true with probability
// γ ≤ 1 (CKS 2020, Algorithm 1, whose throws of γ/k are here a trial and a throw
// of 1/k): the index of the first failure is odd with probability Σ (−γ)^k/k!.
func (e *entropy) expMinus(trial func() bool) bool {
	for k := uint64(1); k <= maxSeries; k++ {
		if e.err != nil {
			return false // no caller's loop goes on
		}
		if !e.fraction(1, k) || !trial() {
			return k%2 == 1
		}
	}
	e.fail()
	return false
}

func (e *entropy) fail() {
	if e.err == nil {
		e.err = errStuck
	}
}
