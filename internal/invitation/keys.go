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

// ErrForeign: a message or proof was not made with the invitation's secret, or for
// another author, peer or protocol. No node that has the invitation sends such a thing.
var ErrForeign = errors.New("not made with the task's invitation")

// Overhead is by how many bytes a sealed message is longer: nonce and authentication tag.
const Overhead = 12 + 16

// Keys are what is derived from an invitation. They may be used from any goroutine.
type Keys struct {
	tag, meeting cid.Cid
	messages     cipher.AEAD
	proof        []byte
}

// Keys derives what nodes use on the network.
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

// derive makes a key for one use.
func (i Invitation) derive(use string) []byte {
	key, err := hkdf.Key(sha256.New, i.secret[:], i.task.Bytes(), "fbo invitation "+version+": "+use, sha256.Size)
	if err != nil {
		panic(fmt.Sprintf("invitation: %v", err)) // the length is that of one hash
	}
	return key
}

// name gives 32 bytes the form of an ID: CIDv1 of raw data, identity hash. The IDs of
// tasks have another.
func name(key []byte) cid.Cid {
	hash, err := multihash.Sum(key, multihash.IDENTITY, -1)
	if err != nil {
		panic(fmt.Sprintf("invitation: %v", err)) // takes everything
	}
	return cid.NewCidV1(cid.Raw, hash)
}

// IsName tells whether an ID has the form of Tag and Meeting, and so is no task's.
func IsName(id cid.Cid) bool {
	p := id.Prefix()
	return p.Version == 1 && p.Codec == cid.Raw && p.MhType == multihash.IDENTITY && p.MhLength == sha256.Size
}

// Tag stands for the task in the names of its topic and streams, which nodes tell
// everybody who connects.
func (k *Keys) Tag() cid.Cid { return k.tag }

// Meeting stands for the task in what nodes ask hubs. It is another than Tag, so that
// who connects with a node cannot ask a hub for the others.
func (k *Keys) Meeting() cid.Cid { return k.meeting }

// Seal encrypts a message that its author gives to gossip. Nonces are random, 96 bits:
// all nodes together may seal 2³² messages with one invitation before the chance that
// two have the same nonce exceeds 2⁻³² (NIST SP 800-38D, section 8.3); that is a thousand
// a second for seven weeks.
func (k *Keys) Seal(author peer.ID, message []byte) []byte {
	return k.messages.Seal(nil, nil, message, []byte(author))
}

// Open returns what Seal has sealed for the same author; else the error wraps ErrForeign.
func (k *Keys) Open(author peer.ID, sealed []byte) ([]byte, error) {
	message, err := k.messages.Open(nil, nil, sealed, []byte(author))
	if err != nil {
		return nil, fmt.Errorf("invitation: message of %v: %w", author, ErrForeign)
	}
	return message, nil
}
