// Package peerprior implements the strategy peer-prior: peer information is a prior on the shape
// of an agent's objective, and the agent's own observations determine its weight.
//
// Two kinds of experts see the objective f in two ways, with a size s and the learned kernel
// k:
//
//	listen:  f = s·(m + a·r) + c,  r ~ GP(0, k),  c ~ N(0, (2s)²)
//	alone:   f = s·r + c
//
// m is the peers' mean, and a(x)² = h + (1-h)·left(x) the part of the variance that it leaves
// unexplained, of which peers cannot know the part h. The weights w of the experts come from the
// density that each gave the next observation ([weigh]). The [Strategy] maximises
//
//	ln[(1-B)·EI(x) + Σ_e w_e·EI_e(x)] + (5/t)·ln[1 - q + q·(1/n)·Σ_j π_j(x)],  q = .9·B,
//
// with t own observations, B the weight of the experts that listen, EI_e the expected
// improvement under the posterior of one of them, EI that of [alone.Engine], and π_j a normal
// around peer j's estimate of its optimum, relative to the uniform density (package optprior).
// The form of the second term is that of Hvarfner et al., "πBO: Augmenting Acquisition Functions
// with User Beliefs for Bayesian Optimization" (ICLR 2022), with the average of the peers for the
// belief.
//
// With share: coarse, the default, agents publish a coarse estimate of their optimum's location,
// and m is the average of the π_j. With share: exact they publish the mean and the explained
// variance of their posteriors, as weights over the task's shared features ([NewSharing]); m is
// the consensus of these. That gives no privacy: all observations of an author can be computed
// from its mean and explained variance.
//
// Where the task knows the process, its lengthscales, noise and units are taken over, but
// the sizes s and the level c are weighed by the evidence all the same.
package peerprior
