// Package access applies the peer policy to a host: a gate for connections, limits for the streams
// of a protocol, and the end of connections with banned peers.
package access
