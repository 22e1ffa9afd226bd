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

// Slotted is an interface that the value of Decode may implement when an author publishes in
// several slots, such as one for each round. The share must be in this slot. The agent holds the
// shares of an author with the highest slots. A share whose value is not Slotted must be in
// slot 0, so that its author has one share of the kind. The agent rejects other shares.
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
// View.Shares. Unless T is Slotted, each author has at most one.
func Shares[T any](view View) iter.Seq2[*Share, T] {
	return func(yield func(*Share, T) bool) {
		for _, share := range view.Shares {
			if value, ok := share.Value.(T); ok && !yield(share, value) {
				return
			}
		}
	}
}

// ResultOf returns the latest Result of an exchange. ok is false while there is none of this
// type.
func ResultOf[T any](view View, exchange string) (T, bool) {
	result, ok := view.Results[exchange].(T)
	return result, ok
}
