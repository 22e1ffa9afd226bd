// Package agent implements one agent of one task as a state machine. Method calls are its inputs,
// and [Agent.Ready] returns its outputs. It has no goroutine, clock, file or socket, so that the
// node and the simulator run the same code.
//
// # The driver's duties
//
// After any call, take Ready and process its fields in their order. Journal the records and sync
// them BEFORE anything else, because a trial under evaluation and a share that a peer received must
// survive a crash. If the journal fails, stop: the agent is ahead of the disk. Run each Work
// outside (it may take seconds) and pass its result to Done, unless the agent is not used any more.
// Call Tick at Wake. All methods must be called from one goroutine at a time, with a clock that
// does not go backwards.
//
// # Panics
//
// A panic of a strategy, an exchange or a surrogate fails only its step and causes a warning with
// its stack. An Ask gets an error and the next one tries again. A share that makes Decode panic is
// malformed. An exchange whose Step panics gets no further input until the next start.
package agent
