// Package largetopic has the rules of announce and fetch that need neither shares nor models: when a topic
// is large, of which authors an agent fetches shares and when, how much it accepts of an author, and which authors
// lose their places at an agent that knows too many. The agent and the simulation lab/fleet apply the same rules.
package largetopic
