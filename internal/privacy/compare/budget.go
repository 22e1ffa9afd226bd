package compare

import (
	"errors"
	"fmt"
)

// MaxCounted is the maximum number of peers whose answers a Budget counts.
const MaxCounted = 1024

// ErrSpent means that a peer has already received its maximum number of answers.
var ErrSpent = errors.New("too many comparisons")

// Budget counts the answers to each peer since the latest Renew. Its owner must call Renew every
// hour and restore the counts after a restart: a Budget has no clock and is not stored.
type Budget struct {
	most   int
	counts map[string]int
}

// NewBudget returns a budget of at most `most` answers to each peer per hour. most must be at least
// 1.
func NewBudget(most int) (*Budget, error) {
	if most < 1 {
		return nil, fmt.Errorf("a budget of %d comparisons, expected 1 or more", most)
	}
	return &Budget{most: most, counts: map[string]int{}}, nil
}

// Check returns nil if the peer can be answered once more. Otherwise it returns an error that wraps
// ErrSpent.
func (b *Budget) Check(peer string) error {
	count, known := b.counts[peer]
	switch {
	case count >= b.most:
		return fmt.Errorf("%w: this peer has had its %d of the hour", ErrSpent, b.most)
	case !known && len(b.counts) >= MaxCounted:
		return fmt.Errorf("%w: %d other peers have been answered within the hour", ErrSpent, MaxCounted)
	}
	return nil
}

// Spend counts one answer to a peer, even if Check returns an error. Call it before the answer is
// sent.
func (b *Budget) Spend(peer string) { b.counts[peer]++ }

// Spent reports whether any answer has been counted since the latest Renew.
func (b *Budget) Spent() bool { return len(b.counts) > 0 }

// Renew begins the next hour: it sets all counts to 0.
func (b *Budget) Renew() { clear(b.counts) }
