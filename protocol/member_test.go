package protocol

import (
	"crypto/rand"
	"errors"
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	"github.com/multiformats/go-multiaddr"
)

func newKey(t testing.TB) crypto.PrivKey {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sealRecord(t testing.TB, key crypto.PrivKey, addresses ...string) []byte {
	t.Helper()
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return sealRecordOf(t, key, id, addresses...)
}

func sealRecordOf(t testing.TB, signer crypto.PrivKey, id peer.ID, addresses ...string) []byte {
	t.Helper()
	r := &peer.PeerRecord{PeerID: id, Seq: 3}
	for _, a := range addresses {
		r.Addrs = append(r.Addrs, multiaddr.StringCast(a))
	}
	envelope, err := record.Seal(r, signer)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := envelope.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestOpenRecord(t *testing.T) {
	key := newKey(t)
	id, _ := peer.IDFromPrivateKey(key)
	const address = "/ip4/192.0.2.1/udp/4001/quic-v1"
	r, err := OpenRecord(sealRecord(t, key, address))
	if err != nil || r.PeerID != id || r.Seq != 3 || len(r.Addrs) != 1 || r.Addrs[0].String() != address {
		t.Fatalf("%v, %v", r, err)
	}
	many := make([]string, MaxAddresses+1)
	for i := range many {
		many[i] = fmt.Sprintf("/ip4/192.0.2.1/tcp/%d", i+1)
	}
	forged := sealRecord(t, key, address)
	forged[len(forged)-1] ^= 1
	for name, sealed := range map[string][]byte{
		"empty":             nil,
		"garbage":           []byte("garbage"),
		"forged":            forged,
		"signed by another": sealRecordOf(t, newKey(t), id, address),
		"no address":        sealRecord(t, key),
		"many addresses":    sealRecord(t, key, many...),
		"too large":         make([]byte, MaxRecordBytes+1),
	} {
		if r, err := OpenRecord(sealed); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}
