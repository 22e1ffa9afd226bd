// Package peerprior is peer-prior Thompson sampling: an agent that takes what its
// peers have learned for the prior mean of its own objective, and learns from
// its own observations how far to trust that.
//
// Each agent shares the mean of its posterior, from its own observations alone,
// as weights over the task's shared features ([Sharing]): M numbers and a few
// more. Before each query an agent combines the means of its peers to m, and
// weighs models of its own objective f (up to a constant) by their evidence:
//
//	alone:  f ~ GP(0, s²k)
//	joined: f = b·m + r,  b ~ N(s·g, s²g²/4),  r ~ GP(0, s²h·k)
//
// over a grid of scales s, gains g and unlikenesses h. It draws a model by its
// posterior probability, then a function from that model's posterior, and
// evaluates where that is largest ([Strategy]). The model "alone" is Thompson
// sampling by itself, and is taken up again when no share helps: as own
// observations grow they decide the choice of model, and within each model they
// outweigh m wherever they are.
//
// The combination follows the Bayesian committee machine (Tresp, Neural
// Computation 2000): a peer that explains the part E of the variance counts as
// an observation of f with noise (1-E)/E, to which a tenth is added because
// peers are never quite alike. Each peer is weighed by how probable the agent's
// own observations make it that this peer is of use.
package peerprior
