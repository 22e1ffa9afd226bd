// Package exchange holds the parts of which exchanges are made. It has no code of its
// own.
//
//   - Who takes part: package presence, an exchange that every task has.
//   - One share per agent, anew after every observation: package latest. Its Spec says
//     what is shared and from when on.
//   - One thing said per agent and round, for which agents in step wait up to a deadline:
//     package rounds. Its Barrier knows for whom a round still waits, its Turns whose
//     turn it is to propose.
//   - Slots: an author has one share of a kind at a time, so that it has one voice. An
//     exchange whose authors need several returns a strategy.Slotted from Decode; of
//     these the three highest slots are held. The agent refuses what stands in another
//     slot, so that no reader has to look.
//   - Typed access: strategy.Shares yields the peers' shares of one type, and
//     strategy.ResultOf returns the Result of an exchange.
//   - Waiting: a strategy that cannot choose before an exchange has a result returns a
//     strategy.Wait with a time limit, and sees in View.Waited that it was in vain.
package exchange
