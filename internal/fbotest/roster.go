package fbotest

import (
	"cmp"
	"crypto/ed25519"
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
)

// RosterKeys returns the private keys of a roster of so many nodes, in the order of the roster. The
// first keys of each length are the same in every call.
func RosterKeys(t TB, nodes int) []crypto.PrivKey {
	t.Helper()
	var keys []crypto.PrivKey
	for i := range nodes {
		std := ed25519.NewKeyFromSeed(fmt.Appendf(nil, "the key of node %16d", i))
		key, _, err := crypto.KeyPairFromStdKey(&std)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b crypto.PrivKey) int { return cmp.Compare(PeerID(t, a), PeerID(t, b)) })
	return keys
}

// PeerID returns the peer ID of a private key.
func PeerID(t TB, key crypto.PrivKey) peer.ID {
	t.Helper()
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Roster returns the peer IDs of RosterKeys in the form of a list of a task file.
func Roster(t TB, nodes int) string {
	t.Helper()
	list := ""
	for i, key := range RosterKeys(t, nodes) {
		if i > 0 {
			list += ", "
		}
		list += PeerID(t, key).String()
	}
	return list
}
