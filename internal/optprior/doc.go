// Package optprior contains priors on the optimum's location: densities over the designs, as
// normals around points ([Mixture]), the term that several of them add to an acquisition function
// ([LogPrior]), and the exchange that publishes a coarse location ([NewCoarse]).
package optprior
