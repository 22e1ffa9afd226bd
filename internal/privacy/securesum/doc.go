// Package securesum computes sums of vectors of a group of agents without a server, so that no
// agent learns more than the sum.
//
// [Exchange] holds one agent's state in all rounds of a task. In a round every agent may contribute
// one vector, noise included, with [Exchange.Contribute]. The round ends with an [Outcome]: the sum
// and its contributors, or a reason why there is none. Another exchange, such as one that releases
// weights, owns the Exchange. It passes its own inputs to Step, and appends the outputs of Step and
// Contribute to its own.
//
// # A round
//
//  0. Call. An agent that wants to contribute asks the committee whether it is present; without a
//     quorum it contributes nothing ([Exchange.Gather]).
//  1. Deal. Each contributor splits its vector by Shamir's scheme among the round's [Committee], C
//     agents chosen by hash ([Elect]), one share vector for each. Any t of them contain no
//     information about the vector, and t+1 determine it. With its share a member gets a signed
//     header, the same for all, with which it checks whether the share fits. A share that does not
//     fit is a proof against the dealer, and is sent to all agents.
//  2. Vote. When all shares have arrived or the time is over, a member proposes a set of
//     contributors whose shares the committee holds, and under which headers. A member that holds
//     them all under the same headers votes for it. Each member has one vote in a round, which it
//     signs and records before it sends it. The votes of q members make a certificate.
//  3. Sum. A member that has the certificate and all its shares sends their sum to the roster; a
//     member that lacks a share abstains. Shares of a sum are sums of shares, so that t+1 of these
//     determine the sum of the vectors. Further ones are a check.
//
// Agents send each other a status in every tick. Messages that are missing by the status of an
// agent are sent to it again.
//
// # Guarantees
//
// Secrecy. An adversary that controls up to t members of a round's committee and any contributors,
// and reads all published sums, learns only the sum of the other contributors' vectors. For shares,
// sums and the checks of headers this needs no assumption about hardness: for any other vectors
// with the same sum there is exactly one choice of coefficients and masks with the same messages.
// The hashes in headers are the only assumption. Each is SHA-256 of a share with 64 random bytes.
// If SHA-256 were a random function, such a hash would be equally likely for all shares, within a
// factor of 1 ± 2⁻¹¹⁰ for all hashes of a deal together, whatever the computing power. This
// property of SHA-256 cannot be proved. Secrecy needs two more conditions. Shares must be encrypted
// and authenticated in transit, as on libp2p's streams, and a round must have one set. A dealer of
// wrong parts has no secrecy: proofs disclose parts of its vector.
//
// Fit. A dealer shares three random masks after its vector and puts a hash of each member's part
// into the header. These hashes, the round and the dealer determine the weights of three random
// combinations of all coordinates, and the header has the polynomial of each combination plus its
// mask. Suppose that the parts of some members belong to no polynomials of degree t. Then there are
// factors for these members with which all parts of such polynomials add up to zero, while theirs
// do not in some coordinate k. Their parts fit only if the combinations add up to zero, too. Given
// all weights but that of k, this happens for one of its 2⁶¹−1 values, in each of the three
// combinations. The probability is 2⁻¹⁸³, and at most 2⁻¹¹⁹ for any of the 2⁶⁴ choices of members,
// each time that a dealer tries other hashes. Therefore the shares that honest members add up
// belong to one polynomial, and their sums agree.
//
// Proof. A proof against a dealer has the dealer's signature: two headers for one round, or a
// header and a part that has its hash and does not fit. An honest dealer makes neither: its parts
// fit, and it deals once in a round, also after a restart. Therefore there is no proof against it,
// unless signatures are forged or two parts with one hash are found. A part with another hash is
// ignored, as if it had not arrived: the receiver could have made it. An agent with a proof accepts
// no deal of this dealer in any later round, also after restarts. It names the dealer in [Outcome].
// In the same run it also forwards the proof to agents that report that they hold a share of this
// dealer.
//
// One set. If sets A and B of a round both had certificates, their voters, q of C each, would have
// 2q−C > t members in common. One of those does not collude and would have voted twice. But an
// honest member's vote is on disk before it is sent, and after a restart the member sends the same
// vote. Therefore there is at most one certificate. Members add up only shares of a certified set
// under its headers, so all sums ever sent belong to one polynomial. With two certificates, the
// sums would differ by the vectors of contributors that are in one set only.
//
// Completion. All running agents learn the sum under three conditions: at most C−q members are
// down, messages among the others arrive within a tick, and these members hold the shares of all
// contributors. Members get their turns to propose in order of rank. At its turn a running member
// has received messages from all running members, q or more. Unless it knows of a vote, it proposes
// a set that these hold, without dealers against which it has a proof. A vote goes to the whole
// committee, and the others vote for the set that was voted for first. If the proposer fails
// halfway, there are two cases: no running member has its vote, and the next turn is a first one;
// or a member has it and sends its own vote. In both cases q members vote for one set and, because
// q > t, enough sums follow. If messages are slower, two members may propose different sets; the
// round then ends without a sum, never with two.
//
// A round with fewer than [Config.MinContributors] contributors ends before any sum is made.
//
// # Adversaries
//
// The protocol assumes that members try to learn the vectors of others, and that up to t of them
// collude. Colluding members may also vote for several sets, report shares that they do not hold,
// and send nothing. They cannot learn more in this way. But any one of them can make rounds fail,
// by voting for a set that no member holds.
//
// Reed–Solomon decoding corrects up to e = (n−t−1)/2, rounded down, wrong answers of n, and
// [Outcome] names their authors. More are an error, unless n−t−e members collude: these can produce
// a wrong sum, and outvote honest members. Headers do not prevent that. With e = 0 a wrong answer
// among t+2 or more is an error too, and one among exactly t+1 is not detected. For this reason
// [Outcome] counts the answers, and a round waits for q of them for a while. If answers contradict
// each other, the round waits for others until the deadline.
//
// A contributor that deals wrong parts is excluded and named. If it sends nothing to some members,
// or parts with another hash, these lack its share: the proposer excludes the contributor, or these
// members.
//
// A member that restarts with an old copy of its journal does not know its vote and may cast
// another one, so it counts as one of the t. If it deals again in a round, the two headers are a
// proof against it, and other agents accept no more deals of it.
//
// # Limits
//
// The package adds no noise and counts no releases. A sum discloses its contents, and one agent's
// vector to a party that knows the others. Protection against this needs noise from package privacy
// in every contribution, enough for MinContributors minus the colluding ones. It also needs a
// ledger that is debited before Contribute, whatever the result of the round. Every round is a
// release of its own: the same noise in two rounds removes all of these guarantees.
//
// The package does not check the vectors: a contributor can use any numbers, as long as the parts
// fit together, and make the sum useless. A user of a sum must check it against its own data first.
//
// It does not hide who participates, and it trusts the roster. If the roster were open, or if keys
// could be chosen after the task is known, one party could fill a committee with identities of its
// own. Therefore the roster is fixed in advance and the same for all agents: messages of agents
// with another roster are ignored.
//
// # Sources
//
// Shamir, "How to Share a Secret" (1979). Shares are a Reed–Solomon code word by McEliece and
// Sarwate, "On Sharing Secrets and Reed–Solomon Codes" (1981); the decoding is by Berlekamp and
// Welch (1986). A random combination shows whether shares fit by Gennaro, Rabin and Rabin,
// "Simplified VSS and Fast-track Multiparty Computations with Applications to Threshold
// Cryptography" (1998). Hashes of parts in place of commitments in a group, with challenges by Fiat
// and Shamir (1986), are from Baghery, "Π: A Unified Framework for Computational Verifiable Secret
// Sharing" (2023). The argument that two quorums of more than (C+t)/2 have an honest member in
// common is from Malkhi and Reiter, "Byzantine Quorum Systems" (1998).
//
// For comparison: in Bonawitz et al., "Practical Secure Aggregation for Privacy-Preserving Machine
// Learning" (2017), agents hide vectors under pairwise masks. That needs less traffic with
// thousands of clients, but it needs a server, and additional messages for each client that drops
// out. Its round of consistency checks has the role of the certificate here.
package securesum
