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

// ErrForeign means that a message or proof was not made with the invitation's secret, or was made
// for another author, peer or protocol. No node with the invitation sends one.
var ErrForeign = errors.New("not made with the task's invitation")

// Overhead is the number of bytes that Seal adds: the nonce and the authentication tag.
const Overhead = 12 + 16

// Keys holds the keys and names that are derived from an invitation. It may be used from any
// goroutine.
type Keys struct {
	tag, meeting, reception cid.Cid
	messages                cipher.AEAD
	proof                   []byte
}

// Keys returns the keys and names that nodes use on the network.
func (i Invitation) Keys() *Keys {
	k := &Keys{
		tag:       name(i.derive("name of topic and streams")),
		meeting:   name(i.derive("name at a hub")),
		reception: name(i.derive("name at a hub for guests")),
		proof:     i.derive("proof"),
	}
	block, err := aes.NewCipher(i.derive("messages"))
	if err == nil {
		k.messages, err = cipher.NewGCMWithRandomNonce(block)
	}
	if err != nil {
		panic(fmt.Sprintf("invitation: %v", err)) // cannot happen: AES supports keys of this length
	}
	return k
}

// derive returns the key for one use.
func (i Invitation) derive(use string) []byte {
	key, err := hkdf.Key(sha256.New, i.secret[:], i.task.Bytes(), "fbo invitation "+version+": "+use, sha256.Size)
	if err != nil {
		panic(fmt.Sprintf("invitation: %v", err)) // cannot happen: one hash has this length
	}
	return key
}

// name encodes 32 bytes as an ID: a CIDv1 of raw data with the identity hash. IDs of tasks have
// another form.
func name(key []byte) cid.Cid {
	hash, err := multihash.Sum(key, multihash.IDENTITY, -1)
	if err != nil {
		panic(fmt.Sprintf("invitation: %v", err)) // cannot happen: the identity hash accepts any data
	}
	return cid.NewCidV1(cid.Raw, hash)
}

// IsName reports whether an ID has the form of Tag and Meeting. Such an ID is not that of a task.
func IsName(id cid.Cid) bool {
	p := id.Prefix()
	return p.Version == 1 && p.Codec == cid.Raw && p.MhType == multihash.IDENTITY && p.MhLength == sha256.Size
}

// Tag returns the name that replaces the task's ID in the names of its topic and protocols. Nodes
// send it to every connected peer.
func (k *Keys) Tag() cid.Cid { return k.tag }

// Meeting returns the name that replaces the task's ID in requests to hubs. It differs from Tag,
// because every peer that connects to a node learns Tag and could otherwise use it to get the other
// nodes from a hub.
func (k *Keys) Meeting() cid.Cid { return k.meeting }

// Reception returns the name by which hubs introduce holders of guest strings to nodes that admit
// them. It differs from Meeting, because a guest string contains it: its finder must not get the
// addresses of all nodes of the task.
func (k *Keys) Reception() cid.Cid { return k.reception }

// Seal encrypts a gossip message of its author. Nonces are random numbers of 96 bits. All nodes
// together may seal 2³² messages with one invitation before the probability of a repeated nonce
// exceeds 2⁻³² (NIST SP 800-38D, section 8.3). That is a thousand messages per second for seven
// weeks.
func (k *Keys) Seal(author peer.ID, message []byte) []byte {
	return k.messages.Seal(nil, nil, message, []byte(author))
}

// Open decrypts a message that was sealed for this author. For any other data the error wraps
// ErrForeign.
func (k *Keys) Open(author peer.ID, sealed []byte) ([]byte, error) {
	message, err := k.messages.Open(nil, nil, sealed, []byte(author))
	if err != nil {
		return nil, fmt.Errorf("invitation: message of %v: %w", author, ErrForeign)
	}
	return message, nil
}
