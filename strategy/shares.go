package strategy

import (
	"iter"

	"github.com/fbo-node/fbo/protocol"
)

// Share is a peer's share with its decoded payload.
type Share struct {
	protocol.Share
	Value any // as the Decode of the exchange of this kind returned it
}

// Slotted is what a Decode may return when an author speaks in several slots, such as
// one for each round. The share must be in this slot, and of an author those with the
// highest slots are held. A share whose value is not Slotted must be in slot 0, so
// that its author has one voice. The agent takes no other shares.
type Slotted interface {
	Slot() uint64
}

// SlotOf returns the slot of every share with this decoded payload.
func SlotOf(value any) uint64 {
	if slotted, ok := value.(Slotted); ok {
		return slotted.Slot()
	}
	return 0
}

// Shares yields the peers' shares whose value is of this type, in the order of
// View.Shares. Unless T is Slotted there is one of each author.
func Shares[T any](view View) iter.Seq2[*Share, T] {
	return func(yield func(*Share, T) bool) {
		for _, share := range view.Shares {
			if value, ok := share.Value.(T); ok && !yield(share, value) {
				return
			}
		}
	}
}

// ResultOf returns the latest Result of an exchange; false while there is none of this
// type.
func ResultOf[T any](view View, exchange string) (T, bool) {
	result, ok := view.Results[exchange].(T)
	return result, ok
}
