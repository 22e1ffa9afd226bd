// Package consensus is the strategy in which agents agree on what each
// evaluates: everybody publishes the design that it would evaluate alone, its
// candidate, and evaluates a weighted average of all candidates. The weights
// start equal and end with the own candidate alone, so that agents first explore
// together and then follow their own objectives.
//
// A [Strategy] averages what an exchange has collected: one in rounds, in which agents
// in step wait for each other up to a deadline, or one that never waits.
// The weights are uniform, those of a leader, or those of Metropolis: weights.go has
// their equations. Or they follow from how well each candidate fits what the agent has
// seen, similarity.go, which the second paper leaves open; these do not depend on the round.
//
// Source: Yue, Liu, Berahas, Johnson and Al Kontar, "Collaborative and Distributed
// Bayesian Optimization via Consensus" (2023) and Al Kontar, "Collaborative and
// Federated Black-box Optimization: A Bayesian Optimization Perspective" (2024),
// equations 4 to 6.
//
// The papers fix the number K of agents and the number T of rounds, and no agent is
// late. Here K is the number of agents present, T belongs to the task, a round is
// an agent's own trial counted from the first one that is not a starting design,
// imported ones included, and these rules keep every row of weights stochastic
// whatever happens:
//
//   - The weight of a member without a candidate goes to the own candidate. Where
//     two agents lack each other's, the matrix stays symmetric.
//   - A round waits for those present that are in step: whose newest candidate is
//     not older than the agent's own round before this one, and older than this
//     round. In its first round after a start an agent waits for all who are not
//     ahead, and, while it sees no peer, for one interval of presence. A round closes at its
//     deadline at the latest.
//   - A late agent may be in step again in the next round. But after m missed
//     deadlines of a peer, agents wait for it again only 2^(m-1) rounds later.
//   - A candidate counts in one round only, its own or, being late or ahead, the
//     first that closes after it came.
//   - An agent that stops while it evaluates publishes nothing before it has the
//     outcome. An agent whose budget ends leaves; from round T+1 on agents choose alone.
//
// Where all see the same agents present and have their candidates, the weights
// form a symmetric, doubly stochastic matrix, but for weights by similarity.
//
// # Influence
//
// A candidate, a response and a presence are claims. A peer that lies moves the
// design of another agent by its weight: with uniform weights and those of Metropolis no
// more than 1/K. With a leader one that claims the largest response leads for as long as it
// speaks, and weighs (T-t+K)/(TK) in round t, but no more than 1/(K-1). All of it
// decays with t to at most 1/T. With weights by similarity a peer weighs no more than the own
// candidate, so at most 1/2, which it has when it alone fits, and nothing decays before
// round T+1 but by the agent's own results. Silence costs 1 + log2 T deadlines in T rounds, from each
// name that the peer has; many names, present and silent, leave the others little
// weight, so that each goes alone. The package gives no privacy beyond the noise on a
// response: a candidate says where its author would look.
//
// With [Settings].Average median or trimmed a peer cannot pull far. Each number of a
// design is then the middle of the candidates', coordinate by coordinate, in so far as
// the weights are shared, and the own for the rest (robust.go). While those who lie have
// less than half of the shared weight, the own candidate counted with the others, a median is
// between values of honest candidates; for a trimmed mean, which leaves out the outer quarters, it is
// less than a quarter. So one liar is held by a median among three agents or more, by a
// trimmed mean among five. A leader is for those who trust each other, and goes with the mean alone.
//
// An average is taken in the encoded unit cube and decoded: numbers are averaged
// on their scale, a categorical parameter is put to a vote with the weights as
// votes, the first choice winning a tie. Averaging candidates that lie on
// different hills gives a design that is on none; that is the price of this
// strategy, and it is largest in the first rounds.
package consensus
