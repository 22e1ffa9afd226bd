// Package strategy says what an agent's parts look like, so that new ones fit
// without touching the agent: a [Strategy] chooses the next design, an
// [Exchange] holds a conversation with other agents, and both see the agent
// through a [View].
//
// Both are pure: no clock, goroutine, file, socket or global random source.
// The agent carries out what they ask for, in the order that is safe: records
// are on disk before anybody outside sees their effect.
package strategy
