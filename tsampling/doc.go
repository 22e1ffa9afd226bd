// Package tsampling is federated Thompson sampling, [FTS]. Its control is [alone.TS].
//
// With probability p_t an agent maximises a sample of its own posterior, and otherwise
// the sample in the share of a uniformly chosen peer (Dai, Low, Jaillet,
// "Federated Bayesian Optimization via Thompson Sampling", NeurIPS 2020,
// Algorithm 1). A share is one draw of the peer's weights over the common features
// of all agents of the task; each is used once. The exchange [Sharing] sends the
// agent's own draws.
//
// The paper leaves three choices open. Here each agent standardises its outputs, the
// variance is not inflated (β_t = 1, as in the paper's experiments), and all agents are
// targets at the same time.
package tsampling
