// Package tsampling implements federated Thompson sampling, [FTS]. The baseline without peers is
// [alone.TS].
//
// In trial t after the starting designs, an agent maximises a sample of its own posterior with
// probability p_t. Otherwise it maximises the sample in the share of a uniformly chosen peer (Dai,
// Low, Jaillet, "Federated Bayesian Optimization via Thompson Sampling", NeurIPS 2020, Algorithm
// 1). A share contains one sample: a draw of the peer's weights over the random features that all
// agents of the task have in common. Each share is used once. The exchange [Sharing] publishes the
// agent's own samples.
//
// The paper leaves three choices open. Here each agent standardises its own outputs. The posterior
// variance is not inflated (β_t = 1, as in the paper's experiments). All agents are target agents
// at the same time.
package tsampling
