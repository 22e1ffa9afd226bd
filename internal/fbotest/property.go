// Package fbotest contains helpers for tests of several packages. It imports no package of this
// module, so that every test can import it.
package fbotest

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// CheckFew checks a costly property on a few inputs, which are the same in every run. The
// statistical level checks the same property by rapid.Check on new inputs, which it minimises.
func CheckFew(t *testing.T, inputs int, property func(*rapid.T)) {
	t.Helper()
	for i := range inputs {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			input := make([]byte, 1<<16)
			_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(input) // never fails
			rapid.MakeFuzz(property)(t, input)
		})
	}
}
