// Package peerprior implements the strategy peer-prior: peer information is a prior on the shape
// of an agent's objective, and the agent's own observations determine its weight.
//
// There are two kinds of experts, which are models of the objective f with a size s and the learned
// kernel k:
//
//	with peers:     f = s·(m + a·r) + c,  r ~ GP(0, k),  c ~ N(0, (2s)²)
//	without peers:  f = s·r + c
//
// m is the peers' mean, and a(x)² = h + (1-h)·left(x) the fraction of the variance that it leaves
// unexplained; h is the fraction that peers cannot know. The weights w of the experts follow from
// the density that each gave the next observation ([weigh]). The [Strategy] maximises
//
//	ln[(1-B)·EI(x) + Σ_e w_e·EI_e(x)] + (5/t)·ln[1 - q + q·(1/n)·Σ_j π_j(x)],  q = .9·B,
//
// with t own observations and B the weight of the experts with peers. EI_e is the expected
// improvement under the posterior of one of them, and EI that of [alone.Engine]. π_j is a normal
// around peer j's estimate of its optimum, relative to the uniform density (package optprior).
// The form of the second term is that of Hvarfner et al., "πBO: Augmenting Acquisition Functions
// with User Beliefs for Bayesian Optimization" (ICLR 2022), with the average of the peers as the
// belief.
//
// With share: coarse, the default, agents publish a coarse estimate of their optimum's location,
// and m is the average of the π_j. With share: exact they publish the mean and the explained
// variance of their posteriors, as weights over the task's shared features ([NewSharing]); m is
// the consensus of these. That gives no privacy: receivers can compute all observations of an author
// from its mean and explained variance.
//
// If the task fixes the hyperparameters, the experts use its lengthscales, noise and units. The
// observations still determine the weights of the sizes s and the level c.
package peerprior
