package securesum

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
)

// MaxMembers is the maximum size of a committee.
const MaxMembers = 64

// Committee holds the size of the committee of a round and the number of colluding members that it
// tolerates.
type Committee struct {
	Members   int // C: number of members, 2 to MaxMembers; each gets a share of every contribution
	Threshold int // t: number of colluding members that learn only the sum; also the degree of the polynomials
	Quorum    int // q: number of votes that decide the round's set of contributors; more than (C+t)/2
}

// NewCommittee returns the committee with the smallest safe quorum for this number of members and
// this threshold.
func NewCommittee(members, threshold int) (Committee, error) {
	c := Committee{Members: members, Threshold: threshold, Quorum: (members+threshold)/2 + 1}
	return c, c.Validate()
}

// Validate returns an error if a committee would not protect contributions or could never complete
// a round.
func (c Committee) Validate() error {
	switch {
	case c.Members < 2 || c.Members > MaxMembers:
		return fmt.Errorf("a committee of %d, expected 2 to %d members", c.Members, MaxMembers)
	case c.Threshold < 1:
		return fmt.Errorf("threshold %d: with less than 1 every member of the committee sees every contribution", c.Threshold)
	case c.Threshold >= c.Members:
		return fmt.Errorf("threshold %d: the sum takes one member more, and the committee has %d", c.Threshold, c.Members)
	case c.Quorum > c.Members:
		return fmt.Errorf("quorum %d is more than the committee of %d", c.Quorum, c.Members)
	case 2*c.Quorum <= c.Members+c.Threshold:
		return fmt.Errorf("quorum %d: two sets could win the same round; expected at least %d for %d members, %d of them colluding",
			c.Quorum, (c.Members+c.Threshold)/2+1, c.Members, c.Threshold)
	}
	return nil
}

// Elect returns the members of a round's committee, in order of rank. They are the first members of
// the roster in the order of a hash of task, round, roster and peer. The order of the roster has no
// effect.
func Elect(task cid.Cid, round uint64, roster []peer.ID, members int) []peer.ID {
	roster = slices.Sorted(slices.Values(roster))
	seed := sha256.New()
	seed.Write([]byte("fbo-securesum-committee-1"))
	prefixed(seed.Write, task.Bytes())
	seed.Write(binary.BigEndian.AppendUint64(nil, round))
	for _, id := range roster {
		prefixed(seed.Write, []byte(id))
	}
	root := seed.Sum(nil)
	type ticket struct {
		id     peer.ID
		number [sha256.Size]byte
	}
	tickets := make([]ticket, len(roster))
	for i, id := range roster {
		tickets[i] = ticket{id, sha256.Sum256(append(slices.Clone(root), id...))}
	}
	slices.SortFunc(tickets, func(a, b ticket) int {
		return cmp.Or(slices.Compare(a.number[:], b.number[:]), cmp.Compare(a.id, b.id))
	})
	elected := make([]peer.ID, min(members, len(tickets)))
	for i := range elected {
		elected[i] = tickets[i].id
	}
	return elected
}

// prefixed writes data after its length, so that the hash input can be parsed in only one way.
// Hashes return no error.
func prefixed(write func([]byte) (int, error), data []byte) {
	_, _ = write(binary.BigEndian.AppendUint64(nil, uint64(len(data))))
	_, _ = write(data)
}

// DealBytes returns the size of a deal: the message that a contributor sends to each member.
func DealBytes(c Committee, dimension int) int {
	s := shape{members: c.Members, threshold: c.Threshold, dimension: dimension}
	return len(s.encode(message{kind: kindShare, header: header{
		commitments: make([][sha256.Size]byte, c.Members),
		checks:      slices.Repeat([][]element{make([]element, masks)}, c.Threshold+1),
		signature:   make([]byte, signatureBytes),
	}, part: part{salt: make([]byte, saltBytes), values: make([]element, dimension+masks)}}))
}
