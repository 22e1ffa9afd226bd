// Package sums adds up a statistic of the observations of a roster, so that every node sees only
// sums over nodes, without noise.
//
// The statistic is additive ([Statistic]): the vector of several observations is the sum of their
// vectors. In a round, each contributor deals the vector of exactly b observations that it has never
// contributed before (key share_every) to a secure sum (package securesum). [Of] returns the sums of
// the peers, without the node's own part.
//
// # A round
//
// Each member publishes a [State]: how often it has contributed, and whether it has b further
// observations and doubts few enough members. A member deals when three conditions hold. At least min_contributors members are
// present and ready, itself included. A quorum of the round's committee has answered its call. More
// than half of the present members have sent the shares of this member that they store. The second
// condition is checked in the step in which the member deals.
//
// A member enters the next round if it could deal itself, or after messages of more members than may
// collude. So colluding members alone cannot use up the [MaxRounds] rounds of a task. All members
// that are ready begin by themselves, so a round needs no one to follow them.
//
// The member journals the trials and the vector of a contribution before it sends any part. The
// observations are then spent, whatever the result of the round: a peer may know a sum that this
// member does not. So an observation is in at most one sum, also after a crash.
//
// Outputs are standardised in units of the member's model at the time of the contribution. It never
// contributes an observation again in other units. Numbers are clipped to [Statistic.Limit] for each
// observation and rounded once to multiples of 2⁻²⁴.
//
// A round has a sum if 2·max_colluding + 1 members of the committee agree on it, or a quorum if that is
// smaller. In the first case the honest members among them determine the sum, so that colluding members
// cannot set it. In the second case, a committee of fewer than 3·max_colluding, they can.
//
// A member that missed a round requests its sum from others. It accepts a sum after max_colluding + 1
// members have sent the same one, so that an honest member is among them. Every sum stands alone, so
// a missed one only costs information.
//
// # Secrecy
//
// Assume at most t = max_colluding colluding members, and that package securesum keeps its
// guarantee: from a round, these members learn at most one vector about the others, the sum S of the
// contributions of the honest members in the round's one certified set.
//
//  1. A certified set has at least min_contributors ≥ t + 3 members ([Settings]), so S has the
//     contributions of three honest members or more.
//  2. Each contribution has b observations, and no observation is in two contributions: they are
//     journaled before they are sent, and a member with an old journal refuses (see below). So the
//     sums of different rounds have no observation in common.
//  3. Consider each known sum as a row with a 1 for each honest observation in it. By 2 the rows have
//     disjoint supports. A linear combination with a coefficient that is not 0 for some row has the
//     whole support of that row, so by 1 it contains b observations of three honest members or more.
//
// Therefore no linear combination of all that t members know depends on fewer than three honest
// members. A member that joins late or has many observations contributes b in each round, as all
// others do. A round without a certified set adds no row. An observation is a trial of one journal: a
// result that two nodes import, or one node twice, can be in two sums.
//
// # Limits
//
// The sums are exact data: counts and sums of outputs by cell ([Cells]). A receiver learns the cell of
// each observation, and the output of one that is alone in its cell, in units that it does not receive.
// One sum does not show whose they are, within its contributors. Several sums can: observations of one
// member resemble each other, and each sum has known contributors. If these differ from sum to sum, a
// least-squares fit attributes the observations to members, although no linear combination isolates
// one. Colluding committee members can choose the contributors within min_contributors.
//
// If all other contributors of a sum collude, more than t, they learn the contribution of the
// remaining one. A contributor can add any numbers within the bound; receivers only check that a sum
// is within the bound of its contributors.
//
// A State is a share of the task. All nodes that receive the task's shares see it, also those outside
// of the roster: who contributes, when and how often, and when b observations are complete. Only
// members send States that count; agents drop those of other authors.
//
// A member that claims to be ready and does not contribute can make rounds fail and waste the
// observations of others, never disclose them. After a failed round a contributor no longer relies on
// the claims of members that dealt to no quorum of the committee, until a sum of a later round
// contains them or a time is over. The time is two minutes at first, and twice as long after each
// further failed round. So one such member wastes batches whose number grows with the logarithm of the
// time. It starts anew after a restart. A member that doubts so many others that it would not deal is
// not ready itself: members that doubt each other would otherwise make rounds fail without end. Colluding committee members that vote and send no sum are not
// doubted: if others are absent as well, they can waste a batch in each round.
//
// While enough members are ready and no quorum of a committee answers, rounds end without contributions,
// since the next one has another committee. With the default committee the first takes 80 s, and the
// wait doubles up to 43 minutes. So 1000 rounds last 30 days; then the task has no further sums.
//
// A member with an old or lost journal could contribute an observation twice or vote twice. Peers
// send back its latest State: if that counts more contributions than the journal, the member
// contributes nothing more and serves on no committee, permanently. It then publishes that it is not
// ready, with the counts of the latest State. Until enough present members have sent the shares of this
// member that they store, it takes part in no round. Enough are more than half, or one after a minute.
// An old journal is detected if one of these stores the State. A journal that lacks only votes is not
// detected; such a member counts as one of the t. The same holds after a repair of the journal, and
// after proofs that two processes use one key. The journal does not contain States: an agent could
// otherwise publish an old one that replaces the newer one of its peers.
package sums
