// Package protocol defines the messages that nodes of a task exchange. They are the [Share], a signed
// message of one author; the payloads of shares; direct messages; and the messages of the sync stream,
// on which nodes request shares that gossip did not deliver.
//
// A share has a key of author, kind and slot. Among shares with the same key the one with the larger
// [Stamp] replaces the others. This package limits all sizes, whatever the transport allows, and
// decoding checks every length and number. The exchange to which a kind belongs checks its payloads
// against the task.
//
// The signed envelope is that of libp2p (core/record). Its signature covers the exact bytes of the
// share and a domain separator, so that any peer can forward and verify it.
//
// Regenerate the wire types with `go generate ./protocol`.
package protocol

//go:generate go -C generate run . ../../internal/pb
