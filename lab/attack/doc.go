// Package attack measures what the shares of a node disclose. It simulates federations of a task,
// attacks the shares of one member to estimate its observations, and compares the guesses with the
// truth.
//
// [Plan.Run] simulates, attacks and scores. An [Attack] gets the shares that it could have received
// ([Seen]) and returns a [Guess]. [Attacks] lists all attacks; a new one is a file with a function
// and a line there. Each attack has a baseline: an attacker that knows only the number of
// observations, how starting designs are drawn, and the node's estimated optimum.
//
// An input is found if a guess is within [Near] of it in every coordinate of the encoded
// space, of which the unit cube's side is 1. Distances are measured in that norm too.
//
// Attacks have a bound where shares are a known function of the observations plus normal noise: the
// deviations that inputs and values have, given the shares, by the Gauss–Newton approximation at
// the truth (for Laplace's method see MacKay, Information Theory, Inference, and Learning
// Algorithms, 2003, chapter 27). It holds for attackers that already know the approximate truth,
// and so for all others too, as far as the approximation is right.
//
// The package proves nothing: a better attack may find what these attacks miss. It ignores the
// sender, time and size of messages, and direct messages. Strategies whose parties share everything
// with each other are not attacked. Private sums are not simulated: the attacker gets each vector
// of the node with the noise that is left when everything else is known.
package attack
