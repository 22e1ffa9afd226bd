package fbotest

import (
	"math/rand/v2"

	"github.com/libp2p/go-libp2p/core/crypto"
)

// TB is the part of testing.TB that a property test has too.
type TB interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Key returns the Ed25519 key number n, of 65,536. It is the same on every run.
func Key(t TB, n int) crypto.PrivKey {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}))
	if err != nil {
		t.Fatal(err)
	}
	return key
}
