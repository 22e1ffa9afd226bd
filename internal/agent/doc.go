// Package agent implements one agent of one task as a state machine. Method calls are its inputs,
// and [Agent.Ready] returns its outputs. It has no goroutine, clock, file or socket, so that the
// node and the simulator run the same code.
//
// # The driver's duties
//
// After any call, take Ready and process its fields in their order. Write the records to the journal
// and sync them BEFORE all other fields, because a trial under evaluation and a share that a peer
// received must survive a crash. If the journal fails, stop: the agent's state is ahead of the disk.
// Run each Work outside the agent's goroutine, since it may take seconds, and pass its result to Done,
// unless the agent is no longer used. Request the shares of the authors in Fetch, and answer requests with
// Answer. Call Tick at the time Wake. All methods must be called from one
// goroutine at a time, with a clock that does not go backwards.
//
// # Panics
//
// A panic of a strategy, an exchange or a surrogate fails only its step, and causes a warning with
// the stack. If the strategy panics, the design is chosen without peers' shares, and an Ask gets an
// error only if that fails too. A share that makes Decode panic is malformed. An exchange whose Step
// panics gets no further input until the next start.
package agent
