// Package compare lets two parties learn whose number is larger, and nothing else. This is Yao's
// millionaires' problem.
//
// One party has a value x, the other a threshold y, both of 64 bits. [Ordered] converts floats. The
// party with the value begins and the other answers. The first party then knows whether x > y:
//
//	c, offer, err := compare.Begin(x, context, rand.Reader)            // of the value
//	answer, err := compare.Answer(y, context, offer, rand.Reader)      // of the threshold
//	exceeds, err := c.End(answer)                                      // of the value
//
// The package does not send messages. An offer has [OfferBytes] and an answer [AnswerBytes],
// whatever the numbers. The party with the threshold learns the result only if the other's next
// action shows it.
//
// # Method
//
// The method is that of Lin and Tzeng ("An Efficient Solution to the Millionaires' Problem Based on
// Homomorphic Encryption", ACNS 2005). The set of x contains all prefixes of x that end in 1. The
// set of y contains all prefixes of y that end in 0, with that 0 replaced by 1. The sets have
// exactly one element in common if x > y, and none otherwise.
//
// Common elements are found as by Meadows (1986) and Huberman, Franklin and Hogg (1999). Each
// element is hashed into a group. The first party raises elements to its secret a, and the second
// party to its secret b. The elements raised to ab are then compared.
//
//	offer   E, each of the first party's elements hashed and raised to a
//	answer  E with each raised to b; the second party's elements hashed and raised to b
//
// Each set is padded to 64 elements, one for each bit, with elements that never occur in the other
// party's set. Each of the three lists is sorted by its bytes, so that the order does not disclose
// which bit an element belongs to. The time and the memory accesses of making elements do not
// depend on the number.
//
// The group is ristretto255 (RFC 9496), of prime order, with the hash to the group of RFC 9380,
// both by github.com/cloudflare/circl. The hash input includes the context, so that a message is
// useless in any other comparison.
//
// # Information of honest parties
//
// Assume that the decisional Diffie-Hellman assumption holds in the group and that the hash is a
// random oracle. Then the party with the threshold sees 64 random elements, whatever x is. The
// party with the value sees 128 random elements. Exactly one pair of them matches if x > y, and
// none otherwise. Because of the sorting this party does not see to which bit the pair belongs. So
// it learns only whether x > y. The other party learns only what the first one discloses of the
// result.
//
// # Information of dishonest parties
//
// A party can always use a false number. It thereby asks one question of the form "is x > y" with
// one number of its choice. Dishonest parties can do more in the following ways:
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
// Repeated comparisons with the same threshold find it: 64 by bisection, or 11 with dishonest
// offers. For two or three digits about 8 are sufficient. [Budget] therefore limits the answers to
// each peer. It belongs to the party with the threshold, which must keep the counts over restarts.
// It does not stop a party with many identities.
//
// Secrets are used once. An interrupted comparison must be repeated with new secrets. The random
// bytes must be those of crypto/rand: a party that can predict them can compute the numbers.
package compare
