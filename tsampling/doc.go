// Package tsampling is federated Thompson sampling, [FTS]. Its control is [alone.TS].
//
// With probability p_t an agent maximises a sample of its own posterior, else
// the sample in a share of a peer chosen uniformly (Dai, Low, Jaillet,
// "Federated Bayesian Optimization via Thompson Sampling", NeurIPS 2020,
// Algorithm 1). A share is one draw of the peer's weights over the features
// that all agents of the task have in common; it is used once. The exchange
// [Sharing] sends the agent's own draws.
//
// Departures from the paper, all of them choices it leaves open: outputs are
// standardised by each agent, the variance is not inflated (β_t = 1, as in the
// paper's experiments), and every agent is a target at once.
package tsampling
