// Package peerprior is the strategy peer-prior, in two forms.
//
// With share: guarded, the default, an agent tells coarsely where it believes the optimum to
// be (package optimum), and chooses what it would alone, drawn to where its peers believe
// theirs: to what [alone.Engine] maximises
//
//	(5/t) · ln[0.1 + 0.9 · (1/n) Σ_j π_j(x)]
//
// is added, with t own observations and a normal π_j around what each of n peers says,
// relative to the uniform density. The form is that of Hvarfner et al., "πBO: Augmenting
// Acquisition Functions with User Beliefs for Bayesian Optimization" (ICLR 2022), with the
// average of the peers for the belief.
//
// With share: exact it is peer-prior Thompson sampling: an agent takes what its peers
// have learned for the prior mean of its own objective, and learns from its own
// observations how far to trust that. All that follows is of this form.
//
// Each agent shares the mean of its posterior, from its own observations alone, and
// how much it knows where, as weights over the task's shared features ([NewSharing]):
// 2M numbers and a few more. The mean is nearest to the posterior's where its author
// has looked, which matters from about six parameters on. Before each query it combines the means of its peers to a
// consensus m and weighs models of its own objective f by their evidence:
//
//	alone:   f = c + r,        r ~ GP(0, s²k)
//	joined:  f = c + b·m + r,  r ~ GP(0, s²a(x)a(x')k),  a(x)² = h + (1-h)·left(x)
//	silent:  f = c + b·m̄ + r,  r ~ GP(0, s²hk),          m̄ the average of m
//
// over scales s and unlikenesses h, where left(x) is the part of the variance at x
// that the peers leave. It draws a model by its posterior probability, then a function
// from that model's posterior, and evaluates where that is largest ([Strategy]). Where
// it draws "alone" or "silent" it does what a node does best alone, [alone.Engine]. However
// much speaks for the peers, it does so in one suggestion of twenty after five own
// observations and of ten after many.
//
// The prior odds of "joined" rest on what the peers say of each other. From a share the
// agent infers the observations that would have told its author what it says: where it
// knows most, the noise and the value that lead to that and to its mean. For each two peers
// these tell how probable it is that their objectives are alike, or each other's contrary,
// with levels and sizes of their own. Among unlike objectives one is as probable as the
// other, so that the sum of the log ratios, over the root of the sum of their squares, is
// near standard normal; where that is more probable than what alike peers would show, all of
// them or in groups, nobody is likely to be like the agent either, and the odds go to
// "silent".
// The odds fall, in favour of "silent" too, as own observations become many, the sooner
// the less there is to show that peers agree, where they are enough to show it; so peers
// who predict none of them are heard no more in the end. And in every joined model own
// observations outweigh m wherever they are many. So the influence of peers ends as own
// evidence grows.
//
// The consensus follows the Bayesian committee machine (Tresp, Neural Computation
// 2000): a peer that knows the part E of the variance at a point counts as an
// observation of f with noise (1-E)/E, to which a tenth is added because peers are
// never quite alike, and with the probability that it is of use, by the agent's own
// observations; it may be of use by the contrary of what it says. It differs in that
// the consensus is nowhere taken to be surer than its best-informed member. Choosing
// peers by the same data that later score them overfits. The cost of that choice, in
// nats, is subtracted from the score; beside such a consensus stands one in which all
// peers count the same. (That is near the
// variational bound of the evidence over who is of use, when all are exchangeable
// beforehand.) Where peers form groups, told from what they say of each other alone,
// there is a third, of the one group that the own observations speak for most, with the
// odds of all groups; that needs fewer observations than picking the peers one by one.
// Samples are tempered: the departure of r from its mean is multiplied by a boldness
// drawn uniformly from [1/(1+n), 1], with n the expected number of peers that are of
// use, times how far the evidence is for "joined" rather than "silent", 0 for even odds
// or worse and 1 for certainty. The kernel has the average lengthscales of the agent and
// its peers, unless the own observations speak against these.
//
// Where the task knows the process, its lengthscales, noise and units are taken over, but
// the scales s and the level c are weighed by the evidence all the same.
//
// This form gives no privacy: a mean and what is known where tell all its author's
// observations to whoever solves for them.
package peerprior
