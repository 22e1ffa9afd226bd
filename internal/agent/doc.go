// Package agent implements one agent of one task as a state machine. Method calls are its inputs,
// and [Agent.Ready] returns its outputs. It has no goroutine, clock, file or socket, so that the
// node and the simulator run the same code.
//
// # The driver's duties
//
// After any call, take Ready and carry it out in the order of its fields:
// journal the records and sync them BEFORE anything else, since a trial under evaluation and a
// share that a peer received must survive a crash.
// If the journal fails, stop: the agent is ahead of the disk. Run each Work
// outside (it may take seconds) and hand its result to Done, unless the agent is not
// used any more. Call Tick at Wake.
// All methods must be called from one goroutine at a time, with a clock that
// does not go backwards.
//
// # Panics
//
// A panic of a strategy, an exchange or a surrogate fails the step that it happens in
// and causes a warning with its stack. An Ask gets an error and the next one tries
// again; a share that cannot be decoded is malformed; an exchange whose Step panics gets
// no further input until the next start.
package agent
