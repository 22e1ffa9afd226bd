package fleet

import (
	"bytes"
	"io"
	"math/rand/v2"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/fbo-node/fbo/internal/exchange/presence"
	"github.com/fbo-node/fbo/internal/largetopic"
	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/task"
)

// Sizes are the sizes of real messages in bytes. A request is for the shares of some authors, and lists those that the agent has.
type Sizes struct {
	Small, Presence int // a presence message in a small and a large topic
	Request         int // a request for nothing
	Author, Have    int // an author and a share in a request
	Item            int // a share in an answer
	PresenceItem    int // a presence message in an answer
}

// SizesOf returns the sizes on a task whose agents share one payload of this kind, each with the 300th message of its author.
func SizesOf(t *task.Task, kind string, payload []byte) (Sizes, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.NewChaCha8([32]byte{1}))
	if err != nil {
		return Sizes{}, err
	}
	seal := func(kind string, sequence uint64, payload []byte, ttl time.Duration) protocol.Share {
		s, failed := protocol.Seal(protocol.Share{
			Task: t.ID(), Key: protocol.Key{Kind: kind}, Stamp: protocol.Stamp{Epoch: 1, Sequence: sequence}, TTL: ttl, Payload: payload,
		}, key)
		if failed != nil {
			err = failed
		}
		return s
	}
	encode := func(p protocol.Presence) []byte {
		data, failed := p.Encode()
		if failed != nil {
			err = failed
		}
		return data
	}
	written := func(write func(io.Writer) error) int {
		var b bytes.Buffer
		if failed := write(&b); failed != nil {
			err = failed
		}
		return b.Len()
	}
	request := func(r protocol.SyncRequest) int {
		return written(func(w io.Writer) error { return protocol.WriteSyncRequest(w, r) })
	}
	item := func(s protocol.Share) int {
		return written(func(w io.Writer) error {
			return protocol.WriteSyncItem(w, protocol.SyncItem{Envelope: s.Envelope, Age: time.Minute})
		})
	}
	share := seal(kind, 300, payload, 7*24*time.Hour)
	small := seal(presence.Kind, 301, encode(protocol.Presence{Members: protocol.MembersOf([]peer.ID{share.Author})}), presence.Lifetime(false, 2))
	large := seal(presence.Kind, 301, encode(protocol.Presence{
		Members: protocol.Members{Count: largetopic.MaxAuthors}, Newest: []protocol.Announcement{protocol.AnnouncementOf(share)},
	}), presence.Lifetime(true, largetopic.MaxAuthors))
	empty := request(protocol.SyncRequest{})
	s := Sizes{
		Small: len(small.Envelope), Presence: len(large.Envelope), Request: empty,
		Author: request(protocol.SyncRequest{Authors: []peer.ID{share.Author}}) - empty,
		Have:   request(protocol.SyncRequest{Have: []protocol.ShareID{protocol.ShareIDOf(share)}}) - empty,
		Item:   item(share), PresenceItem: item(large),
	}
	return s, err
}
