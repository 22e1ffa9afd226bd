// Package rff provides random Fourier features that all agents of a task share, and the Bayesian
// linear model over them.
//
// A [Map] is the feature map phi. Two agents that build a Map from the same seed and [Spec] get the
// same frequencies, bit for bit, on any processor. A vector of weights therefore defines the same
// function for both agents, so agents can exchange functions as vectors of weights. A [Posterior]
// is the linear model conditioned on one agent's observations. A [Projection] computes the weights
// whose function best fits given values. An [Evidence] computes the marginal likelihood for given
// variances of the signal and of the noise.
//
// Sources:
//
//   - Rahimi and Recht, "Random Features for Large-Scale Kernel Machines" (NeurIPS 2007): the
//     features.
//   - Yu et al., "Orthogonal Random Features" (NeurIPS 2016), and Avron et al., "Quasi-Monte Carlo
//     Feature Maps for Shift-Invariant Kernels" (JMLR 2016): frequencies that approximate the
//     kernel better than independent ones.
//   - Dai, Low and Jaillet, "Federated Bayesian Optimization via Thompson Sampling" (NeurIPS 2020),
//     equations 2 and 3: the posterior over weights.
//   - Wilson et al., "Efficiently Sampling Functions from Gaussian Process Posteriors" (ICML 2020):
//     draws by Matheron's rule.
//
// The package does not standardise outputs, choose lengthscales or interpret coordinates. Agents
// that share features must use the same lengthscale for them, even if their own lengthscales
// differ. For d from 1 to 20 coordinates of the unit cube, d/10 was the best of the lengthscales
// tried (BenchmarkSharedBasis). The posterior becomes over-confident when the number of
// observations approaches the number of features. Package gp has an exact posterior.
package rff
