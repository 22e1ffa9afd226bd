package securesum

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
)

// Limits of a configuration. With them no message exceeds MaxMessageBytes.
const (
	MaxRoster       = 1024
	MaxDimension    = 30_000
	MaxRounds       = 1 << 20
	MaxMessageBytes = 256 << 10
	MaxNumbers      = 1 << 23 // roster times dimension: numbers of 8 bytes that a member stores
)

// signatureBytes is the length of an Ed25519 signature, the only supported kind.
const signatureBytes = 64

// Config defines the agents, vectors and committee of the sums. It must be the same for all agents
// of a task, except for Self, Random, Sign, Verify and the times.
type Config struct {
	Task            cid.Cid
	Self            peer.ID
	Roster          []peer.ID // agents that may contribute and be members of committees, in any order; must not change while the task runs
	Committee       Committee
	MinContributors int    // minimum number of contributors of a sum; more than the threshold
	Dimension       int    // length of every vector
	Rounds          uint64 // maximum number of rounds

	// MinAnswers is the minimum number of members' sums that agree; 0 means threshold + 1. With
	// 2·threshold + 1, the honest ones among them determine the sum, so that colluding members cannot set
	// it. With fewer they can, if messages of the others are late.
	MinAnswers int

	// FollowsMany states how the agent enters the next round after its current one is over. If false, a
	// message of one peer is sufficient, so one peer can use up all rounds. If true, the agent must
	// itself have called the round's committee (Gather) within the length of a turn, or messages of more
	// peers than may collude must belong to the round. Then all contributors have to begin by themselves.
	FollowsMany bool

	// Interval is the length of a tick; 0 means 2s. An agent counts ticks from the time at which it
	// learns of the round. A tick should be much longer than the transmission of a message.
	Interval time.Duration
	Deal     int // ticks after which the committee votes without late contributors; 0 means 5
	Turn     int // ticks of each member's turn to propose, at least 2; 0 means 3
	Deadline int // ticks after which the round is aborted; 0 means enough for the tolerated number of absent members

	// Random must be crypto/rand.Reader: a party that can predict it can compute the contributions.
	Random io.Reader
	// Sign signs a statement with the agent's key. Verify checks a peer's signature. The functions
	// Signer and Verify implement them. A signature has 64 bytes.
	Sign   func(statement []byte) ([]byte, error)
	Verify func(signer peer.ID, statement, signature []byte) bool
}

// Signer returns an implementation of Config.Sign for an Ed25519 key.
func Signer(key crypto.PrivKey) func([]byte) ([]byte, error) { return key.Sign }

// Verify implements Config.Verify for peers with Ed25519 keys. The peer IDs contain the public
// keys.
func Verify(signer peer.ID, statement, signature []byte) bool {
	key, err := signer.ExtractPublicKey()
	if err != nil || key.Type() != crypto.Ed25519 {
		return false
	}
	ok, err := key.Verify(statement, signature)
	return err == nil && ok
}

// MaxValue returns the maximum absolute value of a number in a contribution. With this limit, the
// field represents the sum of the whole roster uniquely.
func (c *Config) MaxValue() int64 { return MaxSum / int64(len(c.Roster)) }

// validate sets defaults, sorts a copy of the roster and rejects an unusable configuration.
func (c *Config) validate() error {
	if err := c.Committee.Validate(); err != nil {
		return err
	}
	c.Roster = slices.Sorted(slices.Values(c.Roster))
	n := len(c.Roster)
	_, listed := slices.BinarySearch(c.Roster, c.Self)
	switch {
	case !c.Task.Defined():
		return errors.New("no task")
	case n > MaxRoster:
		return fmt.Errorf("a roster of %d, expected up to %d", n, MaxRoster)
	case len(slices.Compact(slices.Clone(c.Roster))) != n:
		return errors.New("the roster names a peer twice")
	case !listed:
		return fmt.Errorf("the roster does not name the agent itself, %s", c.Self)
	case n < c.Committee.Members:
		return fmt.Errorf("a roster of %d cannot fill a committee of %d", n, c.Committee.Members)
	case c.MinContributors <= c.Committee.Threshold || c.MinContributors > n:
		return fmt.Errorf("at least %d contributors: expected more than the threshold %d, since colluding contributors know their own inputs, and at most the roster's %d",
			c.MinContributors, c.Committee.Threshold, n)
	case c.Dimension < 1 || c.Dimension > MaxDimension:
		return fmt.Errorf("vectors of %d numbers, expected 1 to %d", c.Dimension, MaxDimension)
	case n*c.Dimension > MaxNumbers:
		return fmt.Errorf("a member holds %d vectors of %d numbers, expected up to %d numbers", n, c.Dimension, MaxNumbers)
	case c.Rounds < 1 || c.Rounds > MaxRounds:
		return fmt.Errorf("%d rounds, expected 1 to %d", c.Rounds, MaxRounds)
	case c.MinAnswers != 0 && (c.MinAnswers <= c.Committee.Threshold || c.MinAnswers > c.Committee.Quorum):
		return fmt.Errorf("at least %d agreeing sums: expected more than the threshold %d, and at most the quorum %d, since no more members need to be present",
			c.MinAnswers, c.Committee.Threshold, c.Committee.Quorum)
	case c.Random == nil || c.Sign == nil || c.Verify == nil:
		return errors.New("Config.Random, Sign and Verify are needed")
	}
	if c.MinAnswers == 0 {
		c.MinAnswers = c.Committee.Threshold + 1
	}
	return c.validateTimes()
}

func (c *Config) validateTimes() error {
	if c.Interval == 0 {
		c.Interval = 2 * time.Second
	}
	if c.Deal == 0 {
		c.Deal = 5
	}
	if c.Turn == 0 {
		c.Turn = 3
	}
	turns := c.Committee.Members - c.Committee.Quorum + 1 // number of turns until a present member has its turn
	if c.Deadline == 0 {
		c.Deadline = c.Deal + (turns+2)*c.Turn
	}
	switch {
	case c.Interval < 0 || c.Deal < 1 || c.Turn < 2:
		return fmt.Errorf("times (interval %v, deal %d, turn %d): expected a positive interval, at least 1 tick to deal and 2 for a turn", c.Interval, c.Deal, c.Turn)
	case c.Deadline <= c.Deal+turns*c.Turn:
		return fmt.Errorf("deadline after %d ticks: expected more, as the turns of %d members take %d if all but the last are absent",
			c.Deadline, turns, c.Deal+turns*c.Turn)
	}
	return nil
}

// digest returns a hash of all that agents must have in common. It is part of every message and of
// every signed statement, so that none is valid for another task, roster or committee.
func (c *Config) digest() [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte("fbo-securesum-3"))
	prefixed(h.Write, c.Task.Bytes())
	for _, n := range []int{c.Committee.Members, c.Committee.Threshold, c.Committee.Quorum, c.MinContributors, c.Dimension} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
	}
	h.Write(binary.BigEndian.AppendUint64(nil, c.Rounds))
	for _, id := range c.Roster {
		prefixed(h.Write, []byte(id))
	}
	return [sha256.Size]byte(h.Sum(nil))
}
