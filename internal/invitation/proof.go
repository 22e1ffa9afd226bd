package invitation

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Ends holds the peers at both ends of a stream, as authenticated by the connection, and the
// protocol of the stream.
type Ends struct {
	Opened, Accepted peer.ID // the peer that opened the stream, and the peer that accepted it
	Protocol         string
}

const nonceBytes = 32

// Each side's proof contains its role, so that a peer cannot return the other side's proof as its
// own.
const (
	roleOpened   = "opened"
	roleAccepted = "accepted"
)

// Prove runs the mutual proof on the side that has opened the stream: it proves that this side knows
// the secret, and verifies the proof of the other side. The proof comes first on the stream:
//
//	opened   → accepted: nonce
//	accepted → opened:   nonce, proof
//	opened   → accepted: proof
//
// Nonces and proofs have 32 bytes. If the error wraps ErrForeign, the other side does not know the
// secret; it has received only a nonce. Other errors mean that the stream has ended.
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

// Answer runs the mutual proof of Prove on the side that has accepted the stream.
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
	_, _ = rand.Read(nonce[:]) // Read of crypto/rand never returns an error
	return nonce
}

// read reads exactly the given parts, because later bytes of the stream belong to other readers.
func read(r io.Reader, parts ...[]byte) error {
	for _, part := range parts {
		if _, err := io.ReadFull(r, part); err != nil {
			return fmt.Errorf("invitation: proof: %w", err)
		}
	}
	return nil
}

// proofOf returns the proof of one side: the HMAC-SHA-256 of six parts, each with its length before
// it.
func (k *Keys) proofOf(role string, ends Ends, opened, accepted [nonceBytes]byte) []byte {
	mac := hmac.New(sha256.New, k.proof)
	for _, part := range []string{role, ends.Protocol, string(ends.Opened), string(ends.Accepted), string(opened[:]), string(accepted[:])} {
		fmt.Fprintf(mac, "%d:%s", len(part), part) // writing to a hash never fails
	}
	return mac.Sum(nil)
}
