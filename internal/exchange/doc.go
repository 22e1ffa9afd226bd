// Package exchange is the parent of packages that implementations of strategy.Exchange have in
// common. It has no code of its own. This overview lists where to find what:
//
//   - Which agents are present: package presence, an exchange that every task has.
//   - One share per agent, replaced after every observation: package latest. Its Spec defines
//     the content and the schedule.
//   - One message per agent and round, for which agents in step wait up to a deadline:
//     package rounds. Its Barrier holds the peers for which a round still waits, its Turns the
//     order of the proposers.
//   - Slots: an author has one share of a kind at a time. An
//     exchange whose authors need several returns a strategy.Slotted from Decode; the agent
//     holds the three highest slots. It refuses shares whose value has another
//     slot, so that no reader has to check it.
//   - Typed access: strategy.Shares yields the peers' shares of one type, and
//     strategy.ResultOf returns the Result of an exchange.
//   - Waiting: a strategy that cannot choose before an exchange has a result returns a
//     strategy.Wait with a time limit. View.Waited reports that no result arrived in time.
package exchange
