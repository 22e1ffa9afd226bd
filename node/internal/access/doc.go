// Package access applies the decisions of package peers to a libp2p host. It has a gate for
// connections, limits for the streams of a protocol, and functions that close the connections of
// banned peers.
package access
