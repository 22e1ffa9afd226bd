// Package agent is one agent on one task, as a state machine: what happened
// goes in by method calls, what shall be done comes out of [Agent.Ready]. It
// holds no goroutine, clock, file or socket, so that the node and the simulator
// drive the very same code.
//
// # The driver's duties
//
// After any call, take Ready and carry it out in the order of its fields:
// journal the records and sync them BEFORE anything else, since a trial that
// somebody evaluates, or a share that somebody received, must survive a crash.
// If the journal fails, stop: the agent is ahead of the disk. Run each Work
// outside (it may take seconds) and hand its result to Done, unless the agent is not
// used any more. Call Tick at Wake.
// All methods must be called from one goroutine at a time, with a clock that
// does not go backwards.
//
// # Panics
//
// A panic of a strategy, an exchange or a surrogate fails the step that it happens in
// and is told as a warning with its stack. An Ask gets an error and the next one tries
// anew; a share that cannot be decoded is malformed; an exchange whose Step panics gets
// no further input until the next start.
package agent
