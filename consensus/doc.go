// Package consensus implements the strategy consensus. Each agent publishes its candidate: the
// design that it would evaluate without peers. It then evaluates a weighted average of its own
// candidate and those of its peers. The weights are equal in the first round. In later rounds the
// weight of the own candidate grows to 1. So agents first explore together and then follow their
// own objectives.
//
// A [Strategy] averages the candidates that an exchange has collected. There are two exchanges. In
// the first, agents proceed in rounds and wait for each other up to a deadline. In the second,
// agents never wait. The weights are uniform, those of a leader, or Metropolis weights (equations
// in weights.go). They may also follow from how well each candidate fits the agent's own
// observations (similarity.go). The second paper leaves that choice open, and these weights do not
// depend on the round.
//
// Source: Yue, Liu, Berahas, Johnson and Al Kontar, "Collaborative and Distributed
// Bayesian Optimization via Consensus" (2023) and Al Kontar, "Collaborative and
// Federated Black-box Optimization: A Bayesian Optimization Perspective" (2024),
// equations 4 to 6.
//
// The papers fix the number K of agents and the number T of rounds, and no agent is late. Here K is
// the number of present agents, and the task sets T. A round is an agent's own trial, imported ones
// included, counted from the first one after the starting designs. The following rules keep the
// weights of every agent nonnegative with sum 1, whatever happens:
//
//   - The weight of a present agent without a candidate goes to the own candidate. If two agents lack
//     each other's candidate, the matrix of weights stays symmetric.
//   - A round waits for the present peers that are in step. A peer is in step if its newest candidate is
//     at least as new as the agent's own previous round, and not newer than this round. In its first
//     round after a start an agent waits for all peers that are not ahead. While it sees no peer, it
//     waits for one presence interval. Each round closes at its deadline at the latest.
//   - A late agent may be in step again in the next round. After m missed deadlines of a peer, however,
//     agents wait for it again only 2^(m-1) rounds later.
//   - A candidate counts in one round only. That is its own round or, if it is late or early, the first
//     round that closes after it arrived.
//   - An agent that stops during an evaluation publishes nothing before it has the outcome. An agent
//     whose budget is spent leaves. From round T+1 on, agents choose without peers.
//
// If all agents see the same agents present and have all their candidates, the weights of all agents
// form a symmetric, doubly stochastic matrix. Weights by similarity are an exception.
//
// # Influence
//
// Candidates, responses and presence messages are unverified claims. A dishonest peer moves the
// design of another agent in proportion to its weight. With uniform and Metropolis weights that is
// at most 1/K. With a leader, the peer that claims the largest response leads as long as it
// publishes candidates. Its weight in round t is (T-t+K)/(TK), but at most 1/(K-1). All these
// weights decay with t to at most 1/T. With weights by similarity a peer has at most the weight of
// the own candidate. That is at most 1/2, which the peer reaches if no other candidate fits. This
// weight decays before round T+1 only by the agent's own observations.
//
// A silent peer costs 1 + log2 T deadlines in T rounds, for each of its identities. Many identities
// that are present and silent leave the other peers little weight, so that each agent follows its
// own candidate. The package gives no privacy except for the noise on a response: a candidate shows
// where its author searches.
//
// With the settings average: median and average: trimmed a peer has little effect. Each coordinate
// of a number is then the median or trimmed mean of the candidates, for the shared part of the
// weight (robust.go). For the remaining weight it is the own candidate. The own candidate is also
// part of the shared weight. A median lies between values of honest candidates if dishonest ones
// have less than half of the shared weight. A trimmed mean leaves out the outer quarters, so there
// the limit is a quarter. So a median among three or more agents withstands one dishonest peer, and
// so does a trimmed mean among five or more. Weights by leader require trust and work only with the
// mean.
//
// Averages are computed in the encoded unit cube and then decoded. Numbers are averaged on their
// scale. For a categorical parameter the choice with the largest total weight wins, the first one
// in a tie. The average of candidates on different hills of the objective may lie on none of them.
// That is the cost of this strategy, and it is largest in the first rounds.
package consensus
