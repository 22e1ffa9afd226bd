package strategy

import (
	"iter"

	"github.com/fbo-node/fbo/protocol"
)

// Share is a peer's share with its decoded payload.
type Share struct {
	protocol.Share
	Value any // return value of Decode of the exchange of this kind
}

// Slotted is an optional interface of the value that Decode returns. It lets an author have several
// shares of one kind at a time, for example one per round: a share replaces only shares in its own
// slot. The share must be published in the slot that Slot returns. The agent stores the shares of
// each author with the highest slots.
//
// A share whose value is not Slotted must be in slot 0, so its author has one share of the kind.
// The agent rejects shares in other slots.
type Slotted interface {
	Slot() uint64
}

// SlotOf returns the slot in which a share with this decoded payload must be.
func SlotOf(value any) uint64 {
	if slotted, ok := value.(Slotted); ok {
		return slotted.Slot()
	}
	return 0
}

// Shares yields the peers' shares whose decoded value has type T, in the order of View.Shares.
// Unless T is Slotted, each author has at most one.
func Shares[T any](view View) iter.Seq2[*Share, T] {
	return func(yield func(*Share, T) bool) {
		for _, share := range view.Shares {
			if value, ok := share.Value.(T); ok && !yield(share, value) {
				return
			}
		}
	}
}

// ResultOf returns the latest Result of an exchange. ok is false while the exchange has no Result
// of type T.
func ResultOf[T any](view View, exchange string) (T, bool) {
	result, ok := view.Results[exchange].(T)
	return result, ok
}
