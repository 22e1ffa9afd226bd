package protocol_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/fbo-node/fbo/protocol"
)

// A share is signed by its author. Whoever receives the envelope can verify it, and
// nobody can change it.
func Example() {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		panic(err)
	}
	payload, err := protocol.Weights{Observations: 5, Values: []float64{0.5, -1}}.Encode()
	if err != nil {
		panic(err)
	}
	sent, err := protocol.Seal(protocol.Share{
		Task:    cid.MustParse("bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"),
		Key:     protocol.Key{Kind: "weights"},
		Stamp:   protocol.Stamp{Epoch: 1, Sequence: 1},
		TTL:     time.Hour,
		Payload: payload,
	}, key)
	if err != nil {
		panic(err)
	}

	received, err := protocol.Open(sent.Envelope)
	if err != nil {
		panic(err)
	}
	weights, err := protocol.DecodeWeights(received.Payload, 2)
	if err != nil {
		panic(err)
	}
	fmt.Println(received.Author == sent.Author, received.Kind, received.Stamp, weights.Values)

	forged := bytes.Clone(sent.Envelope)
	forged[len(forged)-1]++ // of the signature
	_, err = protocol.Open(forged)
	fmt.Println(errors.Is(err, protocol.ErrMalformed))
	// Output:
	// true weights 1.1 [0.5 -1]
	// true
}
