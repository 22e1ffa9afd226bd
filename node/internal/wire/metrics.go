package wire

import "github.com/fbo-node/fbo/internal/agent"

// UnknownKind is the kind of shares that cannot be read.
const UnknownKind = "unknown"

// Metrics counts what a topic sends and receives.
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

// DropReasons returns the reasons of Metrics.DirectDropped.
func DropReasons() []string {
	return []string{droppedQueueFull, droppedExpired, droppedBlocked, droppedInvalid}
}

// RejectReasons returns the reasons of Metrics.DirectRejected.
func RejectReasons() []string {
	return []string{rejectedThrottled, rejectedMalformed, rejectedBlocked, rejectedStreamReset}
}
