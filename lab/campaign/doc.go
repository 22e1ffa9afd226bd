// Package campaign runs agents under faults that a seed determines, and checks invariants after each
// step. A [Schedule] lists the members and the faults. [Run] carries it out: the members are agents
// of package agent with journals of package journal and caches of package sharecache, on a virtual
// network and clock. [Shrink] reduces a schedule that fails. The text of a schedule replays it.
//
// # Faults
//
//   - loss: messages, confirmations and sync responses are lost with a probability.
//   - delay: messages are delayed at random, so that they are reordered, and some arrive twice.
//   - cut: some members cannot exchange messages with the others.
//   - clock: the clock of a member jumps. A jump forward takes effect at once. A jump back takes
//     effect at the next start, since clocks within a process do not go back.
//   - crash: a member ends without warning, at a time or at one of its appends to the journal. Then
//     nothing of the append is on disk, or a part of its pages, or all. In the last case some of the
//     outputs that follow the append have left the member.
//   - full: the disk of a member has no room, so that appends and cache writes fail.
//   - cache: the next start finds the cache of peers' shares truncated, with a flipped bit, of an
//     older time, or missing.
//   - stop: a member stops and starts again as a user would do it.
//
// # Invariants
//
//   - No acknowledged outcome is lost or changed, and no trial has an outcome that was not reported.
//   - An answered request keeps its trial and design.
//   - No two shares have the same stamp.
//   - The number of DP releases never shrinks and never exceeds the plan; it counts every release
//     that has left the member.
//   - No observation is in two contributions to sums, all members know the same sum of a round, and
//     it is the sum of its contributions.
//   - Shares are delivered within [Settling] after the faults end.
//   - Requests are answered, and exchanges end or are replaced, within a bound after the faults end.
//   - No honest member is refused, distrusted or warned of.
package campaign
