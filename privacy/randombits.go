package privacy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// errStuck means that a loop reached its bound, which happens with a source of all ones or all
// zeros. With truly random bits the probability is below 2^-200.
var errStuck = errors.New("the source of random bytes does not look random")

// Bounds of the loops that random bits end. Each is exceeded with probability below 2^-200. This is
// the deviation of the sampler from the exact distribution, in total variation.
const (
	maxUniformTries = 256     // each fails with probability below 1/2
	maxSeries       = 64      // the k-th term of the series is reached with probability 1/k!
	maxAttempts     = 2048    // each fails with probability below 3/4
	maxGeometric    = 1 << 16 // each further step has probability 1/e
)

// entropy returns random bits, and exact coin throws that are made from them. The first error of
// its reader is permanent. After it all results are void, so that callers must check err before
// they use a result.
type entropy struct {
	reader io.Reader
	buffer [64]byte
	next   int    // number of bytes of buffer that are used; initially all
	word   uint64 // bits that were not returned yet
	left   int    // number of these bits
	err    error
}

func newEntropy(reader io.Reader) entropy {
	e := entropy{reader: reader}
	e.next = len(e.buffer)
	return e
}

// take returns n random bits, at most 63.
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
	clear(e.buffer[e.next : e.next+8]) // used bits could only help an intruder
	e.next += 8
}

// below returns a uniformly distributed integer in [0, n), for 1 ≤ n ≤ 2^62.
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

// coin returns true with probability 1/2.
func (e *entropy) coin() bool { return e.take(1) == 1 }

// fraction returns true with probability a/b, for 0 ≤ a ≤ b and b ≥ 1.
func (e *entropy) fraction(a, b uint64) bool { return e.below(b) < a }

// expMinus returns true with probability exp(−γ), if trial returns true with probability γ ≤ 1 (CKS
// 2020, Algorithm 1). That algorithm throws coins of probability γ/k, which are here a trial and a
// throw of probability 1/k. The index of the first failure is odd with probability Σ (−γ)^k/k!.
func (e *entropy) expMinus(trial func() bool) bool {
	for k := uint64(1); k <= maxSeries; k++ {
		if e.err != nil {
			return false // ends the loops of callers
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
