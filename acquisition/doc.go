// Package acquisition finds where an acquisition function is largest over the
// designs of a task.
//
// A [Maximizer] searches the decoded space: every point at which it evaluates
// the function stands for a design, so ints are whole numbers and categories
// are one choice. Rounding only the final answer would make a search propose
// the same few designs again and again.
//
// Sources: Garrido-Merchán and Hernández-Lobato, "Dealing with Categorical and
// Integer-valued Variables in Bayesian Optimization with Gaussian Processes"
// (Neurocomputing, 2020), for the trouble with rounding; Wan et al., "Think
// Global and Act Local: Bayesian Optimisation over High-Dimensional Categorical
// and Mixed Search Spaces" (ICML 2021), for taking gradient steps and moves to
// neighbours in turn; Birgin, Martínez and Raydan, "Nonmonotone Spectral
// Projected Gradient Methods on Convex Sets" (SIAM Journal on Optimization,
// 2000), for the continuous part, here with a monotone line search.
//
// In Thompson sampling the acquisition function is the sampled function itself.
// The package does not decide what to sample, and does not know which designs
// were evaluated before.
package acquisition
