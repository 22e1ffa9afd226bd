// Package gp implements exact Gaussian process regression. The process has a constant mean, output
// scale 1, one lengthscale per group of coordinates, and Gaussian noise. The mean is unknown, or
// known to be zero with [Spec].Centred.
//
// Outputs are numbers, or known only to lie in an [Interval]. For a boolean output the interval is
// the positive or the negative half-line.
//
// [Fit] and [FitIntervals] learn the [Hyperparameters] by maximising their posterior density. A
// [Posterior] conditions the process on observations. Its Draw returns a [Function], one sample
// path with an analytic gradient that costs O(features + t) per evaluation.
//
// Sources: Rasmussen and Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1
// and equation 5.9, and algorithm 3.5 for intervals; Wilson et al., "Efficiently Sampling Functions
// from Gaussian Process Posteriors" (ICML 2020) for sample paths; Hvarfner, Hellsten and Nardi,
// "Vanilla Bayesian Optimization Performs Great in High Dimensions" (ICML 2024) for the prior on
// lengthscales.
//
// Inputs must lie in the unit cube, and the caller must standardise outputs, because the priors are
// stated in those units. There is no sparse approximation, so the cost grows with the cube of the
// number of observations.
package gp
