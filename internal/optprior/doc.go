// Package optprior contains priors of the optimum's location. [Mixture] is a density over the
// designs, a mixture of normals around points. [LogPrior] is the term that several densities add to
// an acquisition function. [NewCoarse] is the exchange by which an agent publishes a coarse
// location, and [Peers] returns those that peers share.
package optprior
