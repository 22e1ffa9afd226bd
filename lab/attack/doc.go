// Package attack measures what the shares of a node disclose. It simulates federations of a task,
// attacks the shares of one member to estimate its observations, and compares the guesses with the
// truth.
//
// [Plan.Run] simulates, attacks and scores. An [Attack] gets the data that the attacker could have
// received ([Seen]) and returns a [Guess]. [Attacks] lists all attacks; a new attack needs a file
// with a function, and a line there. Each attack is compared with a baseline: an attacker that
// knows only the number of observations, how starting designs are drawn, and the node's estimated
// optimum.
//
// An input is found if a guess is within [Near] of it in every coordinate of the encoded space, in
// which each coordinate is from 0 to 1. Distances are the largest difference in any coordinate.
//
// There is also a bound if shares are a known function of the observations plus normal noise. It is
// computed from the standard deviations of inputs and values given the shares, by the Gauss–Newton
// approximation at the truth (for Laplace's method see MacKay, Information Theory, Inference, and
// Learning Algorithms, 2003, chapter 27). It holds for attackers that already know the approximate
// truth. As far as the approximation is correct, it therefore holds for all other attackers too.
//
// The package proves nothing: a better attack may find more. It ignores the sender, time and size
// of messages, and direct messages. It does not attack strategies whose parties share everything
// with each other. It does not simulate private sums: the attacker gets each vector of the node,
// with the noise that remains if everything else is known.
package attack
