// Package gp implements exact Gaussian process regression: an unknown constant mean, or with
// [Spec].Centred a known mean of zero, unit output scale, one lengthscale per group of coordinates,
// and Gaussian noise.
//
// Outputs are numbers, or known by the [Interval] that they lie in, as a side of 0 for
// a truth value.
//
// [Fit] and [FitIntervals] learn the [Hyperparameters] by maximising their posterior density. A
// [Posterior] conditions the process on observations. Its Draw returns a [Function], one sample
// path with an analytic gradient that costs O(features + t) per evaluation.
//
// Sources: Rasmussen and Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1
// and equation 5.9, and for intervals algorithm 3.5; Wilson et al., "Efficiently Sampling Functions
// from Gaussian Process Posteriors" (ICML 2020) for the draws; Hvarfner, Hellsten and Nardi,
// "Vanilla Bayesian Optimization Performs Great in High Dimensions" (ICML 2024), for the prior on
// lengthscales.
//
// Inputs must lie in the unit cube and outputs must be standardised, because the priors are stated
// in those units; the caller standardises. There is no sparse approximation: cost grows with the
// cube of the observations.
package gp
