// Package fbotest contains helpers for tests of several packages. It imports no other package of
// this module, so that tests of every package can import it.
package fbotest

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// CheckFew checks a costly property on a few inputs, which are the same in every run. At the
// statistical level, tests check the same property with rapid.Check, on new inputs that rapid
// minimises after a failure.
func CheckFew(t *testing.T, inputs int, property func(*rapid.T)) {
	t.Helper()
	for i := range inputs {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			input := make([]byte, 1<<16)
			_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(input) // Read of ChaCha8 never returns an error
			rapid.MakeFuzz(property)(t, input)
		})
	}
}
