// Package peers makes a node's or hub's decisions on its peers: which of them it admits, bans,
// dials, introduces and stays connected to, and how many requests it accepts from each. It has no
// goroutine, clock or socket. Packages access, wire and hub report events with their time by method
// calls, and carry out the returned decisions. Random choices use the source in Config. A Policy
// may be used from any goroutine.
package peers
