// Package peers decides what a node or hub does with its peers: which it admits, bans, dials, keeps
// and introduces, and how much each may ask of it. It has no goroutine, clock or socket. The driver
// in package node reports events by method calls with the time, and carries out what they return.
// Its random choices are those of the source in Config. A Policy may be used from any goroutine.
package peers
