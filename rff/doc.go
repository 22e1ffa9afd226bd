// Package rff holds the random Fourier features that all agents of a task
// share, and the Bayesian linear model over them.
//
// A [Map] is the feature map phi. Two agents that build it from the same seed and [Spec]
// have the same frequencies, bit for bit, on any processor. A vector of weights
// therefore defines the same function for both, so that agents exchange such vectors. A
// [Posterior] is the linear model conditioned on one agent's observations. A
// [Projection] computes the weights whose function is nearest to given values. An
// [Evidence] computes the marginal likelihood of variances of the signal and the noise.
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
// The package neither standardises outputs nor chooses lengthscales, and does not interpret
// coordinates. Features that agents with different lengthscales share need one lengthscale. For d from one
// to twenty coordinates of the unit cube, the best of those tried was d/10 (BenchmarkSharedBasis). The
// posterior is over-confident if the number of observations approaches the number of features; package
// gp is exact.
package rff
