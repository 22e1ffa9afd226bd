package fbotest

import (
	"math/rand/v2"

	"github.com/libp2p/go-libp2p/core/crypto"
)

// TB has those methods of testing.TB that rapid.T has too, for helpers of both kinds of tests.
type TB interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Key returns the Ed25519 key number n, 0 to 65,535. It is the same in every run.
func Key(t TB, n int) crypto.PrivKey {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}))
	if err != nil {
		t.Fatal(err)
	}
	return key
}
