// Package protocol defines the messages that nodes of a task exchange: the [Share], one signed
// message of one author; its payloads; and the messages of the sync stream, which fetches shares
// that gossip did not deliver.
//
// A share is keyed by (author, kind, slot); within a key the one with the
// larger [Stamp] replaces the other. Every size is bounded here, whatever the
// transport allows, and decoding never trusts a length or a number. The exchange that owns a kind
// checks its payloads against the task.
//
// The signed envelope is libp2p's (core/record): domain-separated, over the
// exact bytes of the share, so that a third party can forward it.
//
// Regenerate the wire types with `go generate ./protocol`.
package protocol

//go:generate go -C generate run . ../../internal/pb
