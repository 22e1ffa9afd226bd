package protocol

import (
	"fmt"
	"time"

	"github.com/fbo-node/fbo/internal/pb"
)

// MaxAnnouncements is the maximum number of announcements in a presence message.
const MaxAnnouncements = 8

// announcementBytes is the maximum size of an announcement in a presence message.
const announcementBytes = MaxKindBytes + DigestBytes + 48

// Announcement identifies a share of the author of a presence message, without its payload. In a
// large topic an author announces shares that it does not gossip, and peers fetch them.
type Announcement struct {
	Kind string
	Slot uint64
	Stamp
	Digest [DigestBytes]byte // as in a ShareID
	TTL    time.Duration     // of the share
}

// AnnouncementOf returns the announcement of a share.
func AnnouncementOf(s Share) Announcement {
	id := ShareIDOf(s)
	return Announcement{Kind: s.Kind, Slot: s.Slot, Stamp: s.Stamp, Digest: id.Digest, TTL: s.TTL}
}

// Contradicts reports whether a share of the announcement's author has the announced stamp, and is not the
// announced share. An author with one complete journal signs at most one of the two.
func (a Announcement) Contradicts(s Share) bool {
	return a.Stamp == s.Stamp && a != AnnouncementOf(s)
}

func (a Announcement) message() *pb.Announcement {
	return &pb.Announcement{
		Kind: a.Kind, Slot: a.Slot, Epoch: a.Epoch, Sequence: a.Sequence, Digest: a.Digest[:], TtlSeconds: uint32(a.TTL / time.Second),
	}
}

func readAnnouncements(messages []*pb.Announcement) ([]Announcement, error) {
	if len(messages) > MaxAnnouncements {
		return nil, fmt.Errorf("%w: presence with %d announcements, the limit is %d", ErrMalformed, len(messages), MaxAnnouncements)
	}
	var list []Announcement
	for _, m := range messages {
		if len(m.Digest) != DigestBytes {
			return nil, fmt.Errorf("%w: announcement with a digest of %d bytes, expected %d", ErrMalformed, len(m.Digest), DigestBytes)
		}
		share := Share{
			Key: Key{Kind: m.Kind, Slot: m.Slot}, Stamp: Stamp{m.Epoch, m.Sequence}, TTL: time.Duration(m.TtlSeconds) * time.Second,
		}
		if err := share.validateFields(); err != nil {
			return nil, fmt.Errorf("announcement: %w", err)
		}
		for _, other := range list {
			if other.Kind == share.Kind && other.Slot == share.Slot || other.Stamp == share.Stamp {
				return nil, fmt.Errorf("%w: two announcements of kind %q, slot %d or of stamp %v", ErrMalformed, share.Kind, share.Slot, share.Stamp)
			}
		}
		list = append(list, Announcement{Kind: share.Kind, Slot: share.Slot, Stamp: share.Stamp, Digest: [DigestBytes]byte(m.Digest), TTL: share.TTL})
	}
	return list, nil
}
