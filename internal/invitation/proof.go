package invitation

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Ends holds the peers at both ends of a stream, as the connection has authenticated them, and the
// stream's protocol.
type Ends struct {
	Opened, Accepted peer.ID // the peer that has opened the stream, and the other one
	Protocol         string
}

const nonceBytes = 32

// The two sides' proofs differ, so that neither can be sent back.
const (
	roleOpened   = "opened"
	roleAccepted = "accepted"
)

// Prove proves knowledge of the secret, and checks the other side's proof, for the side that has
// opened a stream. It comes first on the stream:
//
//	opened   → accepted: nonce
//	accepted → opened:   nonce, proof
//	opened   → accepted: proof
//
// Nonces and proofs have 32 bytes. An error that wraps ErrForeign means that the other side does
// not know the secret; it has received only a nonce. Other errors mean that the stream broke.
func (k *Keys) Prove(stream io.ReadWriter, ends Ends) error {
	own := newNonce()
	if _, err := stream.Write(own[:]); err != nil {
		return fmt.Errorf("invitation: proof: %w", err)
	}
	var answer struct{ nonce, proof [nonceBytes]byte }
	if err := read(stream, answer.nonce[:], answer.proof[:]); err != nil {
		return err
	}
	if !hmac.Equal(answer.proof[:], k.proofOf(roleAccepted, ends, own, answer.nonce)) {
		return fmt.Errorf("invitation: proof of %v: %w", ends.Accepted, ErrForeign)
	}
	if _, err := stream.Write(k.proofOf(roleOpened, ends, own, answer.nonce)); err != nil {
		return fmt.Errorf("invitation: proof: %w", err)
	}
	return nil
}

// Answer does the same for the side that has accepted a stream; see Prove.
func (k *Keys) Answer(stream io.ReadWriter, ends Ends) error {
	var theirs, proof [nonceBytes]byte
	if err := read(stream, theirs[:]); err != nil {
		return err
	}
	own := newNonce()
	if _, err := stream.Write(append(own[:], k.proofOf(roleAccepted, ends, theirs, own)...)); err != nil {
		return fmt.Errorf("invitation: proof: %w", err)
	}
	if err := read(stream, proof[:]); err != nil {
		return err
	}
	if !hmac.Equal(proof[:], k.proofOf(roleOpened, ends, theirs, own)) {
		return fmt.Errorf("invitation: proof of %v: %w", ends.Opened, ErrForeign)
	}
	return nil
}

func newNonce() (nonce [nonceBytes]byte) {
	_, _ = rand.Read(nonce[:]) // never fails
	return nonce
}

// read reads exactly the parts: later bytes belong to other readers.
func read(r io.Reader, parts ...[]byte) error {
	for _, part := range parts {
		if _, err := io.ReadFull(r, part); err != nil {
			return fmt.Errorf("invitation: proof: %w", err)
		}
	}
	return nil
}

// proofOf returns one side's proof: HMAC-SHA-256 over six parts, each preceded by its length.
func (k *Keys) proofOf(role string, ends Ends, opened, accepted [nonceBytes]byte) []byte {
	mac := hmac.New(sha256.New, k.proof)
	for _, part := range []string{role, ends.Protocol, string(ends.Opened), string(ends.Accepted), string(opened[:]), string(accepted[:])} {
		fmt.Fprintf(mac, "%d:%s", len(part), part) // a hash takes everything
	}
	return mac.Sum(nil)
}
