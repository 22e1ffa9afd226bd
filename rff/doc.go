// Package rff holds the random Fourier features that all agents of a task
// share, and the Bayesian linear model over them.
//
// A [Map] is the feature map phi. Two agents that build it from the same seed
// and [Spec] hold the same frequencies, bit for bit, whatever their processor,
// so a vector of weights means the same function to both: that vector is what
// agents exchange. A [Posterior] is the linear model conditioned on one agent's
// observations, and a [Projection] turns any function into the weights nearest
// to it. An [Evidence] compares variances of the noise.
//
// Sources: Rahimi and Recht, "Random Features for Large-Scale Kernel Machines"
// (NeurIPS 2007) for the features; Yu et al., "Orthogonal Random Features"
// (NeurIPS 2016) and Avron et al., "Quasi-Monte Carlo Feature Maps for
// Shift-Invariant Kernels" (JMLR 2016) for frequencies better than independent
// ones; Dai, Low and Jaillet, "Federated Bayesian Optimization via Thompson
// Sampling" (NeurIPS 2020), equations 2 and 3, for the posterior over weights;
// Matheron's rule as in Wilson et al., "Efficiently Sampling Functions from
// Gaussian Process Posteriors" (ICML 2020).
//
// The package does not standardise outputs, does not choose lengthscales and does not know what a
// coordinate means. Features that agents with different lengthscales share need one lengthscale.
// The best one tried, for d from one to twenty coordinates of the unit cube, was d/10
// (BenchmarkSharedBasis). The posterior is over-confident once the observations approach the number
// of features in number; package gp is exact.
package rff
