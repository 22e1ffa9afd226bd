// Package protocol defines what nodes say to each other about a task: the
// [Share], one signed statement of one author, its payloads, and the messages
// of the sync stream that fetches shares which gossip lost.
//
// A share is keyed by (author, kind, slot); within a key the one with the
// larger [Stamp] replaces the other. Every size is bounded here, whatever the
// transport allows, and decoding never trusts a length or a number. Whether a
// payload fits the task is for the exchange that owns its kind to say.
//
// The signed envelope is libp2p's (core/record): domain-separated, over the
// exact bytes of the share, so that a third party can pass it on.
//
// Regenerate the wire types with `go generate ./protocol`.
package protocol

//go:generate go -C generate run . ../../internal/pb
