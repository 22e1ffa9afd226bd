// Package peerprior implements the strategy peer-prior. Peer information becomes a prior mean for
// the agent's objective, and the agent's own observations determine its weight. The strategy is a
// mixture of Gaussian-process models, called experts.
//
// Some experts use peer information and the others do not. Each models the objective f with a size
// s, the learned kernel k and a constant c:
//
//	with peers:     f = s·(m + a·r) + c,  r ~ GP(0, k),  c ~ N(0, (2s)²)
//	without peers:  f = s·r + c
//
// m(x) is the peers' prediction of the objective's shape. The residual r has the factor a(x), with
// a(x)² = h + (1-h)·left(x). Here left(x) is the fraction of the variance at x that peers leave
// unexplained, and h is the fraction that peers cannot know. The weight w_e of expert e follows
// from the density with which it predicted each observation from the earlier ones ([weigh]). The
// [Strategy] maximises
//
//	ln[(1-B)·EI(x) + Σ_e w_e·EI_e(x)] + (5/t)·ln[1 - q + q·(1/n)·Σ_j π_j(x)],  q = .9·B.
//
// Here t is the number of own feasible observations, at least 1, and n the number of peers that
// share an estimate of their optimum. B is the total weight of the experts with peers, and the sum
// over e has only these. EI_e is the expected improvement under the posterior of expert e, and EI
// that of [alone.Engine]. π_j is a normal density around peer j's estimate of its optimum, relative
// to the uniform density (package optprior). The form of the second term is that of Hvarfner et
// al., "πBO: Augmenting Acquisition Functions with User Beliefs for Bayesian Optimization" (ICLR
// 2022), with the average of the peers' densities as the belief.
//
// With share: coarse, the default, agents publish a coarse estimate of their optimum's location,
// and m is the average of the π_j. With share: exact they publish the mean and the explained
// variance of their posteriors, as weights over the task's shared features ([NewSharing]), and m is
// the consensus of these means. Exact shares give no privacy: receivers can compute all
// observations of an author from its mean and explained variance.
//
// With share: results agents publish their results, and [ResultsStrategy] takes the place of
// [Strategy]: its model with peers is a process of all agents' observations.
//
// With share: sum agents receive exact sums over nodes, of counts and outputs by cell ([NewSum]). m and
// left are the posterior of a process of the averages in the cells.
//
// If the task fixes the hyperparameters, the experts use its lengthscales, noise and units. The
// observations still determine the weights of the sizes s and the level c.
package peerprior
