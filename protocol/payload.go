package protocol

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/fbo-node/fbo/internal/pb"
)

// MaxWeight is the maximum absolute value of a weight in a share. Weights describe standardised
// outputs, so those of honest nodes are thousands of times smaller.
const MaxWeight = 1e6

// payloadOverhead is the number of bytes that a payload may have besides its numbers. It suffices
// for the present fields and a few more, but does not allow long padding.
const payloadOverhead = 128

// Weights is the share with the weights of one posterior draw, for the task's shared features.
type Weights struct {
	Observations int       // number of observations behind the draw, at least 1
	Values       []float64 // one per shared feature; encoded as float32
	Release      int       // consecutive number of the DP release among those of its author, from 1; 0 on tasks without privacy
}

// Encode returns the payload: 4 bytes for each feature and a few more.
func (w Weights) Encode() ([]byte, error) {
	if w.Observations < 1 || w.Observations > math.MaxInt32 {
		return nil, fmt.Errorf("weights resting on %d observations, expected 1 to %d", w.Observations, math.MaxInt32)
	}
	if w.Release < 0 || w.Release > math.MaxInt32 {
		return nil, fmt.Errorf("weights of release %d, expected 0 to %d", w.Release, math.MaxInt32)
	}
	m := pb.Weights{Observations: uint32(w.Observations), Values: make([]float32, len(w.Values)), Release: uint32(w.Release)}
	for i, v := range w.Values {
		if math.IsNaN(v) || math.Abs(v) > MaxWeight {
			return nil, fmt.Errorf("weight %d is %g, expected numbers up to %g in size", i, v, MaxWeight)
		}
		m.Values[i] = float32(v)
	}
	return proto.Marshal(&m)
}

// DecodeWeights is the inverse of Encode. There must be exactly the given number of features, and
// all weights must be finite.
func DecodeWeights(payload []byte, features int) (Weights, error) {
	if limit := 4*features + payloadOverhead; len(payload) > limit {
		return Weights{}, fmt.Errorf("%w: weights of %d bytes, the limit for %d features is %d", ErrMalformed, len(payload), features, limit)
	}
	var m pb.Weights
	if err := proto.Unmarshal(payload, &m); err != nil {
		return Weights{}, fmt.Errorf("%w: weights: %w", ErrMalformed, err)
	}
	if len(m.Values) != features {
		return Weights{}, fmt.Errorf("%w: %d weights, the task has %d features", ErrMalformed, len(m.Values), features)
	}
	if m.Observations == 0 || m.Observations > math.MaxInt32 {
		return Weights{}, fmt.Errorf("%w: weights resting on %d observations", ErrMalformed, m.Observations)
	}
	if m.Release > math.MaxInt32 {
		return Weights{}, fmt.Errorf("%w: weights of release %d", ErrMalformed, m.Release)
	}
	w := Weights{Observations: int(m.Observations), Values: make([]float64, features), Release: int(m.Release)}
	for i, v := range m.Values {
		w.Values[i] = float64(v)
		if math.IsNaN(w.Values[i]) || math.Abs(w.Values[i]) > MaxWeight {
			return Weights{}, fmt.Errorf("%w: weight %d is %g, expected numbers up to %g in size", ErrMalformed, i, v, MaxWeight)
		}
	}
	return w, nil
}

// Presence is the share with which its author states that it takes part. It identifies the set of
// peers that the author considers present.
type Presence struct {
	Members Members
	Leaving bool           // the author is leaving the task
	Newest  []Announcement // in a large topic: the author's newest shares, at most MaxAnnouncements
}

// Members identifies a set of peers by a hash, without a list of them.
type Members struct {
	Hash  [32]byte
	Count int
}

// MembersOf returns the Members of a set of IDs. The order of the IDs does not matter.
func MembersOf(ids []peer.ID) Members {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	hash := sha256.New()
	for _, id := range sorted {
		hash.Write([]byte{byte(len(id) >> 8), byte(len(id))})
		hash.Write([]byte(id))
	}
	return Members{Hash: [32]byte(hash.Sum(nil)), Count: len(sorted)}
}

// Encode returns the payload.
func (p Presence) Encode() ([]byte, error) {
	m := &pb.Presence{MembersHash: p.Members.Hash[:], Members: uint32(p.Members.Count), Leaving: p.Leaving}
	for _, a := range p.Newest {
		m.Newest = append(m.Newest, a.message())
	}
	return proto.Marshal(m)
}

// DecodePresence is the inverse of Encode.
func DecodePresence(payload []byte) (Presence, error) {
	if limit := payloadOverhead + MaxAnnouncements*announcementBytes; len(payload) > limit {
		return Presence{}, fmt.Errorf("%w: presence of %d bytes, the limit is %d", ErrMalformed, len(payload), limit)
	}
	var m pb.Presence
	if err := proto.Unmarshal(payload, &m); err != nil {
		return Presence{}, fmt.Errorf("%w: presence: %w", ErrMalformed, err)
	}
	if len(m.MembersHash) != 32 {
		return Presence{}, fmt.Errorf("%w: presence with a members hash of %d bytes, expected 32", ErrMalformed, len(m.MembersHash))
	}
	newest, err := readAnnouncements(m.Newest)
	if err != nil {
		return Presence{}, err
	}
	if limit := payloadOverhead + len(newest)*announcementBytes; len(payload) > limit {
		return Presence{}, fmt.Errorf("%w: presence of %d bytes with %d announcements, the limit is %d", ErrMalformed, len(payload), len(newest), limit)
	}
	return Presence{
		Members: Members{Hash: [32]byte(m.MembersHash), Count: int(m.Members)},
		Leaving: m.Leaving,
		Newest:  newest,
	}, nil
}
