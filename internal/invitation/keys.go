package invitation

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multihash"
)

// ErrForeign means that a message or proof was made without the invitation's secret, or for another
// author, peer or protocol. No node with the invitation sends one.
var ErrForeign = errors.New("not made with the task's invitation")

// Overhead is the number of bytes that sealing adds: nonce and authentication tag.
const Overhead = 12 + 16

// Keys holds the keys and names derived from an invitation. Any goroutine may use it.
type Keys struct {
	tag, meeting cid.Cid
	messages     cipher.AEAD
	proof        []byte
}

// Keys derives the keys and names that nodes use on the network.
func (i Invitation) Keys() *Keys {
	k := &Keys{
		tag:     name(i.derive("name of topic and streams")),
		meeting: name(i.derive("name at a hub")),
		proof:   i.derive("proof"),
	}
	block, err := aes.NewCipher(i.derive("messages"))
	if err == nil {
		k.messages, err = cipher.NewGCMWithRandomNonce(block)
	}
	if err != nil {
		panic(fmt.Sprintf("invitation: %v", err)) // the length is one of AES
	}
	return k
}

// derive returns the key for one use.
func (i Invitation) derive(use string) []byte {
	key, err := hkdf.Key(sha256.New, i.secret[:], i.task.Bytes(), "fbo invitation "+version+": "+use, sha256.Size)
	if err != nil {
		panic(fmt.Sprintf("invitation: %v", err)) // the length is that of one hash
	}
	return key
}

// name turns 32 bytes into an ID: CIDv1 of raw data, identity hash. IDs of tasks have another form.
func name(key []byte) cid.Cid {
	hash, err := multihash.Sum(key, multihash.IDENTITY, -1)
	if err != nil {
		panic(fmt.Sprintf("invitation: %v", err)) // takes everything
	}
	return cid.NewCidV1(cid.Raw, hash)
}

// IsName reports whether an ID has the form of Tag and Meeting, and therefore is not a task's ID.
func IsName(id cid.Cid) bool {
	p := id.Prefix()
	return p.Version == 1 && p.Codec == cid.Raw && p.MhType == multihash.IDENTITY && p.MhLength == sha256.Size
}

// Tag returns the name that replaces the task's ID in its topic and streams. Nodes send it to every
// peer that connects.
func (k *Keys) Tag() cid.Cid { return k.tag }

// Meeting returns the name that replaces the task's ID in requests to hubs. It differs from Tag, so
// that a peer that connects to a node cannot ask a hub for the other nodes.
func (k *Keys) Meeting() cid.Cid { return k.meeting }

// Seal encrypts a gossip message of its author. Nonces are random, 96 bits. All nodes together may
// seal 2³² messages with one invitation before the probability of a repeated nonce exceeds 2⁻³²
// (NIST SP 800-38D, section 8.3). That is a thousand per second for seven weeks.
func (k *Keys) Seal(author peer.ID, message []byte) []byte {
	return k.messages.Seal(nil, nil, message, []byte(author))
}

// Open decrypts a message that Seal has sealed for the same author; otherwise the error wraps
// ErrForeign.
func (k *Keys) Open(author peer.ID, sealed []byte) ([]byte, error) {
	message, err := k.messages.Open(nil, nil, sealed, []byte(author))
	if err != nil {
		return nil, fmt.Errorf("invitation: message of %v: %w", author, ErrForeign)
	}
	return message, nil
}
