package wire

import "github.com/fbo-node/fbo/internal/agent"

// UnknownKind is the kind that metrics use for unreadable shares.
const UnknownKind = "unknown"

// Metrics counts the messages that a topic sends and receives.
type Metrics interface {
	ShareReceived(kind string, result agent.ShareResult)
	ShareUnpublished()
	Fetched(failed bool)
	DirectSent(exchange string)
	DirectFailed()
	DirectDropped(reason string, count int)
	DirectReceived(exchange string)
	DirectRejected(reason string)
}

// DropReasons returns the reasons that Metrics.DirectDropped is called with.
func DropReasons() []string {
	return []string{droppedQueueFull, droppedExpired, droppedBlocked, droppedInvalid}
}

// RejectReasons returns the reasons that Metrics.DirectRejected is called with.
func RejectReasons() []string {
	return []string{rejectedThrottled, rejectedMalformed, rejectedBlocked, rejectedStreamReset}
}
