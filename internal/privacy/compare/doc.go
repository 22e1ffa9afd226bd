// Package compare lets two parties learn which of them has the larger number, and nothing else:
// Yao's millionaires' problem.
//
// One party has a value x, the other a threshold y, both of 64 bits; floats become
// such by [Ordered]. The one with the value begins, the other answers, and then the
// first knows whether x > y:
//
//	c, offer, err := compare.Begin(x, context, rand.Reader)            // of the value
//	answer, err := compare.Answer(y, context, offer, rand.Reader)      // of the threshold
//	exceeds, err := c.End(answer)                                      // of the value
//
// The package has no transport. An offer has [OfferBytes], an answer [AnswerBytes], whatever the
// numbers are. The party with the threshold learns the bit from the other's next action; it knows
// nothing before.
//
// # How
//
// Lin and Tzeng ("An Efficient Solution to the Millionaires' Problem Based on
// Homomorphic Encryption", ACNS 2005) write x as the set of its prefixes that end in 1,
// and y as the set of its prefixes that end in 0, with that 0 turned into 1. The sets
// have an element in common, and then exactly one, if and only if x > y. Whether they
// have is found as by Meadows (1986) and Huberman, Franklin and Hogg (1999): each
// element is hashed into a group and raised to a secret, a by the first party and b by
// the second one, and elements raised to ab are compared.
//
//	offer   E, each of the first party's elements hashed and raised to a
//	answer  E with each raised to b; the second party's elements hashed and raised to b
//
// Each set is filled up to 64 elements, one for each bit, with elements that are in no set of the
// other party. Each of the three lists is sorted by its bytes, so that its order is a function of
// the set and does not reveal the bit of an element. Elements are made without a branch or a memory
// access that depends on the number.
//
// The group is ristretto255 (RFC 9496), of prime order, with the hash of RFC 9380, by
// github.com/cloudflare/circl. The hash input includes the context, so that messages fit into one
// comparison only.
//
// # What honest parties learn
//
// Under the decisional Diffie-Hellman assumption in ristretto255, with the hash as a random oracle:
// the party with the threshold sees 64 random elements, whatever x is. The party with the value
// sees 128 random elements, of which one pair belongs together if x > y and none does otherwise; by
// the sorting it does not see which bit that was. So it learns the bit; the other party learns only
// what this one reveals of it.
//
// # What others learn
//
// A party can always lie about its number, and so ask any one question of the form
// "is x > y" for one number of its choice. Beyond that:
//
//   - The beginner can offer 64 elements of its choice, each raised to a secret of its own, and see
//     which of them the other party has. Any element is in the sets of an interval of thresholds,
//     and two such intervals are disjoint or one holds the other. So 64 of them distinguish at most
//     65 parts of the thresholds: an answer reveals to a dishonest beginner up to log2(65) = 6.02
//     bits of y in place of 1, such as its six leading bits. Elements that are products of hashes
//     reveal no more, as long as there are no other relations among hashes than those that the
//     beginner has made (the generic group model).
//   - The answering party can use any elements as its own. It still learns one bit only, since it
//     sees only the beginner's next action: whether exactly one of the answer's pairs belongs
//     together. That may be a bit on a set of values that is not an interval, such as one digit of
//     x. Several pairs are an error, as they cannot come from an honest party. A caller must treat
//     each error like "does not exceed", without a message to the other party, or it discloses a
//     second bit.
//   - No party can make a pair of elements whose preimages it does not know: identity,
//     duplicates, encodings that are not canonical, lists that are not sorted and
//     messages of another length are errors. The group has no small subgroups.
//   - A beginner that gets the wrong bit, or a party that gets no answer, has no remedy. Neither
//     number is proven to be a true one.
//
// # Comparisons add up
//
// Against the same threshold 64 comparisons find it by bisection, 11 by dishonest offers; for two
// or three digits 8 or so are enough. [Budget] counts how often each peer was answered. It belongs
// to the party with the threshold, which must keep the count over restarts. It does not stop a
// party with many identities.
//
// Secrets are used once. A comparison that was interrupted is begun anew, with other secrets. The
// random bytes must be those of crypto/rand: a party that can predict them can compute the numbers.
package compare
