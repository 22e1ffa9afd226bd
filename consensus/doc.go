// Package consensus is the strategy in which agents agree on what each
// evaluates: everybody publishes the design that it would evaluate alone, its
// candidate, and evaluates a weighted average of all candidates. The weights
// start equal and end with the own candidate alone, so that agents first explore
// together and then follow their own objectives.
//
// A [Strategy] averages what an exchange has collected: [Rounds], in which agents
// in step wait for each other up to a deadline, or [Latest], which never waits.
// The weights are [Uniform], [Leader] or [Metropolis].
//
// Source: Yue, Liu, Berahas, Johnson and Al Kontar, "Collaborative and Distributed
// Bayesian Optimization via Consensus" (2023) and Al Kontar, "Collaborative and
// Federated Black-box Optimization: A Bayesian Optimization Perspective" (2024),
// equations 4 to 6.
//
// The papers fix the number K of agents and the number T of rounds, and nobody is
// late. Here K is the number of agents present, T belongs to the task, a round is
// an agent's own trial counted from the first one that is not a starting design,
// and these rules keep every row of weights stochastic whatever happens:
//
//   - The weight of a member without a candidate goes to the own candidate. Where
//     two agents lack each other's, the matrix stays symmetric.
//   - A round waits for those in step, whose newest candidate is of the round
//     before, or in round 1 for all present; then, at the latest at the deadline,
//     it closes. Who is late is no longer in step and is not waited for.
//   - A candidate that is not of the round, being late or ahead, counts in one
//     round only: the first that closes after it came.
//   - An agent whose budget ends leaves; from round T+1 on an agent goes alone.
//
// Where all see the same agents present and have their candidates, the weights
// form a symmetric, doubly stochastic matrix.
//
// An average is taken in the encoded unit cube and decoded: numbers are averaged
// on their scale, a categorical parameter is put to a vote with the weights as
// votes, the first choice winning a tie. Averaging candidates that lie on
// different hills gives a design that is on none; that is the price of this
// strategy, and it is largest in the first rounds.
package consensus
