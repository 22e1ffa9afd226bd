package compare

import (
	"errors"
	"fmt"
)

// MaxCounted is the number of peers that a Budget distinguishes.
const MaxCounted = 1024

// ErrSpent means that a peer has already received its maximum number of answers.
var ErrSpent = errors.New("too many comparisons")

// Budget counts the answers to each peer since the latest Renew, which is due every hour. It has no
// clock and does not survive restarts: its owner is responsible for both.
type Budget struct {
	most   int
	counts map[string]int
}

// NewBudget returns a budget of most answers to each peer; most is at least 1.
func NewBudget(most int) (*Budget, error) {
	if most < 1 {
		return nil, fmt.Errorf("a budget of %d comparisons, accepted are 1 or more", most)
	}
	return &Budget{most: most, counts: map[string]int{}}, nil
}

// Check reports whether a peer can be answered once more. The error wraps ErrSpent.
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

// Spend counts an answer, before it is sent, whatever Check returns for it.
func (b *Budget) Spend(peer string) { b.counts[peer]++ }

// Spent reports whether anything is counted.
func (b *Budget) Spent() bool { return len(b.counts) > 0 }

// Renew begins the next hour.
func (b *Budget) Renew() { clear(b.counts) }
