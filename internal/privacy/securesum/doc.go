// Package securesum adds up vectors of a group of agents without a server, so that no agent sees
// more than the sum.
//
// [Exchange] is one agent's part, for all rounds of a task. In a round every agent may give one
// vector, noise included, with [Exchange.Contribute]; the round ends with an [Outcome], the sum and
// its contributors, or a reason why there is none. A part of the agent that has something to sum,
// such as an exchange that releases weights, holds the Exchange, passes its own inputs on to Step,
// and appends what Step and Contribute return to its own outputs.
//
// # A round
//
//  0. Call. An agent that wants to contribute asks the committee whether it is present; without a
//     quorum it contributes nothing ([Exchange.Gather]).
//  1. Deal. Each contributor splits its vector by Shamir's scheme among the round's [Committee], C
//     agents chosen by hash ([Elect]), one share vector for each, so that t of them contain no
//     information about it and t+1 determine it. With its share a member gets a signed header, the
//     same for all, by which it sees whether the share fits. A share that does not fit is a proof
//     against the dealer, and goes to all agents.
//  2. Vote. When all shares are in or the time is over, a member proposes a set of
//     contributors whose shares the committee holds, under which headers. A member
//     that holds them all under the same votes for it. Each member has one vote in a
//     round, which it signs and records before it sends it. The votes of q members
//     make a certificate.
//  3. Sum. A member that has the certificate and all shares it names sends their sum to the roster;
//     a member that lacks a share abstains. Shares of a sum are sums of shares, so that t+1 of
//     these give the sum of the vectors. Sums beyond t+1 are a check.
//
// Lost messages are sent again when a status, which agents exchange in every tick, shows that they
// are missing.
//
// # Guarantees
//
// Secrecy. An adversary that controls up to t members of a round's committee, and any contributors,
// and reads all published sums, learns the sum of the other contributors' vectors and nothing else
// about them. For shares, sums and the checks of headers this is not an assumption about hardness:
// for any other vectors with the same sum there is one and only one choice of coefficients and
// masks that looks the same. The hashes in headers are the one assumption. Each is SHA-256 of a
// share with 64 random bytes. If SHA-256 were a random function, such a hash would be as likely for
// any share as for any other, within a factor of 1 ± 2⁻¹¹⁰ for all hashes of a deal together, and
// no amount of computing would help. That SHA-256 is like a random function in this cannot be
// proved. Secrecy needs two more things: that shares travel unseen, which the transport must grant
// (libp2p's streams are encrypted and authenticated), and that a round has one set. A dealer of
// wrong parts has none: proofs show parts of its vector.
//
// Fit. A dealer shares three random masks after its vector and puts a hash of each member's part
// into the header. From these hashes, the round and the dealer follow the weights of three random
// combinations of all coordinates, and the header has the polynomial of each combination plus its
// mask. If the parts of some members belong to no polynomials of degree t, then there are factors
// with which all parts that do add up to zero, and theirs do not in some coordinate k. Theirs fit
// only if the combinations add up to zero, too; given all weights but that of k, one of 2⁶¹−1
// values of it makes them, in each of the three. That is a chance of 2⁻¹⁸³, and at most 2⁻¹¹⁹ for
// any of the 2⁶⁴ choices of members, each time that a dealer tries other hashes. So the shares that
// honest members add up belong to one polynomial, and their sums agree.
//
// Proof. A proof against a dealer has the dealer's signature: two headers for one round, or a
// header and a part that has its hash and does not fit. An honest dealer makes neither, since what
// it deals fits and it deals once in a round, also after a restart. So there is no proof against
// it, as long as signatures are not forged and no two parts with one hash are found. A part with
// another hash is ignored, as if it had not arrived: the receiver could have made it. An agent with
// a proof accepts no deal of this dealer in any later round, after restarts too. It names the
// dealer in [Outcome], and forwards the proof to agents that report that they hold a share of this
// dealer.
//
// One set. If sets A and B of a round both had certificates, their voters, q of C each, would have
// 2q−C > t members in common. One of those does not collude and has voted twice. But an honest
// member's vote is on disk before it is sent, and after a restart it sends the same vote. So there
// is at most one certificate, and as members add up over a certified set and its headers only, all
// sums ever sent belong to one polynomial. With two certificates, the sums would differ by the
// vectors of contributors that are in one set only.
//
// Completion. If at most C−q members are down, messages among the others arrive within a tick, and
// they hold the shares of all contributors, then all agents that are up learn the sum. Members get
// their turns to propose in order of rank. At its turn a member that is up has received messages
// from the q or more that are, and proposes a set that these hold, without dealers against which it
// has a proof, unless it knows of a vote. A vote goes to the whole committee, and the others vote
// for the set that was voted for first. If the proposer fails halfway, then either no member that
// is up has its vote and the next turn is a first one, or a member has it and sends its own vote.
// Either way q members vote for one set and, as q > t, enough sums follow. When messages are slower
// than that, two members may propose different sets; the round then ends without a sum, never with
// two.
//
// A round with fewer than [Config.MinContributors] ends before any sum is made.
//
// # Adversaries
//
// Members are expected to be curious and to collude, up to t of them, and these may also vote for
// several sets, lie about what they hold and keep silent. They cannot learn more this way; but any
// one of them can make rounds fail, by a vote for a set that no member holds.
//
// Reed–Solomon decoding corrects up to e = (n−t−1)/2, rounded down, wrong answers of n, and
// [Outcome] names their authors. More are an error, unless n−t−e members collude: these can make a
// wrong sum, and leave honest members outvoted. Headers do not help against that. With e = 0 a
// wrong answer among t+2 or more is an error too, and one among exactly t+1 goes unnoticed, which
// is why [Outcome] counts the answers and a round waits for q of them for a while. Answers that
// contradict each other wait for others until the deadline.
//
// A contributor that deals wrong parts is left out and named. If it sends nothing to some members,
// or parts with another hash, these lack its share: the proposer leaves out the contributor, or
// these members.
//
// A member that comes back with an old copy of its journal has forgotten its vote
// and may cast another one: it counts as one of the t. If it deals again in a round, the two
// headers are a proof against it, and it contributes no more.
//
// # What it does not do
//
// It adds no noise and counts no releases. A sum discloses its contents, down to one agent's vector
// for a party that knows the others. Protection against this needs noise from package privacy in
// every contribution, enough for MinContributors less those that collude, and a ledger that is
// debited before Contribute, whatever the result of the round. Every round is a release of its own:
// the same noise in two rounds undoes all of the above.
//
// It does not check the vectors: a contributor can give any numbers, as long as the parts fit
// together, and spoil the sum. A user of a sum must check it against its own data first.
//
// It does not hide the participants, and it trusts the roster: with an open roster, or keys made to
// suit the hash after the task is known, one party could fill a committee. The roster is fixed
// before, and all agents have the same: messages of agents with another one are ignored.
//
// # Sources
//
// Shamir, "How to Share a Secret" (1979). That shares are a Reed–Solomon code word is from
// McEliece and Sarwate, "On Sharing Secrets and Reed–Solomon Codes" (1981), and the
// decoding from Berlekamp and Welch (1986). That a random combination shows whether shares fit
// is from Gennaro, Rabin and Rabin, "Simplified VSS and Fast-track Multiparty Computations
// with Applications to Threshold Cryptography" (1998); hashes of parts in place of commitments
// in a group, with challenges by Fiat and Shamir (1986), from Baghery, "Π: A Unified Framework
// for Computational Verifiable Secret Sharing" (2023). Bonawitz et al., "Practical Secure
// Aggregation for Privacy-Preserving Machine Learning" (2017), for contrast: there
// agents hide vectors under pairwise masks, which is cheaper to send for
// thousands of clients but needs a server and another exchange for each that drops
// out; its round of consistency checks does what the certificate does here. That
// two quorums of more than (C+t)/2 meet in an honest member is the argument of
// Malkhi and Reiter, "Byzantine Quorum Systems" (1998).
package securesum
