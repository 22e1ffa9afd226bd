// Package compare lets two parties learn which of them has the larger number, and nothing else:
// Yao's millionaires' problem.
//
// One party has a value x, the other a threshold y, both of 64 bits; [Ordered] converts floats. The
// party with the value begins, the other answers, and then the first one knows whether x > y:
//
//	c, offer, err := compare.Begin(x, context, rand.Reader)            // of the value
//	answer, err := compare.Answer(y, context, offer, rand.Reader)      // of the threshold
//	exceeds, err := c.End(answer)                                      // of the value
//
// The package has no transport. An offer has [OfferBytes], an answer [AnswerBytes], whatever the
// numbers. The party with the threshold learns the bit only if the other's next action shows it.
//
// # Method
//
// Lin and Tzeng ("An Efficient Solution to the Millionaires' Problem Based on Homomorphic
// Encryption", ACNS 2005) represent x by the set of its prefixes that end in 1, and y by the set of
// its prefixes that end in 0, with that 0 replaced by 1. The sets have exactly one element in
// common if x > y, and none otherwise. The common element is found as by Meadows (1986) and
// Huberman, Franklin and Hogg (1999): each element is hashed into a group and raised to a secret, a
// by the first party and b by the second one, and elements raised to ab are compared.
//
//	offer   E, each of the first party's elements hashed and raised to a
//	answer  E with each raised to b; the second party's elements hashed and raised to b
//
// Each set is padded to 64 elements, one for each bit, with elements that are in no set of the
// other party. Each of the three lists is sorted by its bytes, so that its order is a function of
// the set and does not disclose the bit of an element. The time and the memory accesses of making
// elements do not depend on the number.
//
// The group is ristretto255 (RFC 9496), of prime order, with the hash of RFC 9380, by
// github.com/cloudflare/circl. The hash input includes the context, so that messages fit into one
// comparison only.
//
// # Information of honest parties
//
// The group satisfies the decisional Diffie-Hellman assumption, and the hash is treated as a random
// oracle. Then the party with the threshold sees 64 random elements, whatever x is. The party with
// the value sees 128 random elements, of which exactly one pair matches if x > y and none does
// otherwise; because of the sorting it does not see which bit that was. It thus learns the bit. The
// other party learns only what the first one discloses of it.
//
// # Information of dishonest parties
//
// A party can always use a false number, and thus ask any one question of the form "is x > y" for
// one number of its choice. Beyond that:
//
//   - The beginner can offer 64 elements of its choice, each raised to a secret of its own, and see
//     which of them the other party has. Any element is in the sets of an interval of thresholds,
//     and two such intervals are disjoint or one contains the other. So 64 of them distinguish at
//     most 65 parts of the thresholds: an answer discloses to a dishonest beginner up to log2(65) =
//     6.02 bits of y in place of 1, such as its six leading bits. Elements that are products of
//     hashes disclose no more, as long as there are no other relations among hashes than those that
//     the beginner has made (the generic group model).
//   - The answering party can use any elements as its own. It still learns one bit only, because it
//     sees only the beginner's next action: whether exactly one pair of the answer matches. That
//     may be a bit on a set of values that is not an interval, such as one digit of x. Several
//     pairs are an error, because they cannot come from an honest party. A caller must treat each
//     error like "does not exceed", without a message to the other party; otherwise it discloses a
//     second bit.
//   - No party can make a pair of elements whose preimages it does not know: identity, duplicates,
//     encodings that are not canonical, lists that are not sorted and messages of another length
//     are errors. The group has no small subgroups.
//   - A beginner that gets the wrong bit, or a party that gets no answer, has no remedy. Neither
//     number is proven to be a true one.
//
// # Repeated comparisons
//
// Against the same threshold, 64 comparisons find it by bisection, and 11 by dishonest offers; for
// two or three digits about 8 are enough. [Budget] counts the answers to each peer. It belongs to
// the party with the threshold, which must keep the count over restarts. It does not stop a party
// with many identities.
//
// Secrets are used once. An interrupted comparison is begun anew, with other secrets. The random
// bytes must be those of crypto/rand: a party that can predict them can compute the numbers.
package compare
