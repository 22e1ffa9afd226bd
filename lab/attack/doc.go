// Package attack measures what the shares of a node give away: it plays federations of a
// task by simulation, reads what one member sends as somebody would who wants to know what
// that member has measured, and compares the guesses with the truth.
//
// [Plan.Run] plays, attacks and scores. An [Attack] gets what it could have heard ([Seen])
// and returns a [Guess]; [Attacks] lists those that there are, and a new one is a file with
// a function and a line there. Beside each stands what somebody finds who knows only how many
// observations there are, how starting designs are drawn, and where the node believes the
// optimum to be.
//
// An input is found if a guess is within [Near] of it in every coordinate of the encoded
// space, of which the unit cube's side is 1. Distances are measured in that norm too.
//
// A bound goes with the attacks where what is shared is a known function of the
// observations plus normal noise: the deviations that inputs and values have, given the
// shares, by the Gauss–Newton approximation at the truth (for Laplace's method see
// MacKay, Information Theory, Inference, and Learning Algorithms, 2003, chapter 27). It
// holds for attackers who know already where about to look, and so for all others too, as far
// as the approximation is right.
//
// What no attack finds may be found by a better one: the package proves nothing. It does not
// look at who sends, when, or how much, and not at messages to one node alone. Strategies whose
// parties tell each other all are not attacked. Private sums are not simulated: the attacker
// gets each vector of the node with the noise that is left when everything else is known.
package attack
