package securesum

import (
	"bytes"
	"math/bits"
)

// set is a subset of 0…n−1 as a bit field. All sets with the same n have the same length, and bits
// beyond n are zero, so that equal sets have equal bytes.
type set []byte

func newSet(n int) set { return make(set, setBytes(n)) }

func setBytes(n int) int { return (n + 7) / 8 }

func fullSet(n int) set {
	s := newSet(n)
	for i := range n {
		s.add(i)
	}
	return s
}

func (s set) has(i int) bool { return s[i/8]>>(i%8)&1 == 1 }

func (s set) add(i int) { s[i/8] |= 1 << (i % 8) }

func (s set) remove(i int) { s[i/8] &^= 1 << (i % 8) }

func (s set) equal(o set) bool { return bytes.Equal(s, o) }

func (s set) clone() set { return bytes.Clone(s) }

func (s set) count() int {
	n := 0
	for _, b := range s {
		n += bits.OnesCount8(b)
	}
	return n
}

// within reports whether s is a subset of o.
func (s set) within(o set) bool {
	for i, b := range s {
		if b&^o[i] != 0 {
			return false
		}
	}
	return true
}

// of reports whether s is a valid encoding of a set of 0…n−1.
func (s set) of(n int) bool {
	return len(s) == setBytes(n) && (n%8 == 0 || s[len(s)-1]>>(n%8) == 0)
}
