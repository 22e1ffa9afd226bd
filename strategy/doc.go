// Package strategy defines the interfaces of an agent's parts, so that new ones need no change of
// the agent: a [Strategy] chooses the next design, an [Exchange] exchanges messages with other
// agents, and both read the agent's state from a [View].
//
// Both are pure: they use no clock, goroutine, file, socket or global random source.
// The agent carries out their outputs in a safe order: records are on disk before their effects
// are visible outside.
package strategy
