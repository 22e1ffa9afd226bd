// Package pooling combines the densities of the optimum's location by several agents into one term
// of an acquisition function. The evidence of the agent's own outcomes decides how ([Evidence]).
//
// # The rules
//
// Let π_j(x), j = 1, …, n, be densities of the optimum relative to the uniform density on the
// designs, and ℓ_j(x) = ln π̂_j(x) their bounded logarithms ([Bounded]). A [Rule] h gives the
// logarithm of an unnormalised density:
//
//	Alone       0
//	Arithmetic  ln((1/n) Σ_j exp ℓ_j)
//	Geometric   (1/n) Σ_j ℓ_j
//	Between     n^(1/2) · (1/n) Σ_j ℓ_j
//	Product     Σ_j ℓ_j
//
// Product is right if the peers' estimates are independent given the optimum, Geometric if all
// have the same information, Arithmetic if one of them is right and it is unknown which. The term is
//
//	factor · Σ_h w_h · g_h(x),
//
// where g_h(x) is the logarithm by rule h and w the weights of the rules, which sum to 1. So it is
// the logarithmic pool of the rules' densities.
//
// # The evidence
//
// Under the agent's Gaussian process, its optimum x* is a random design. Rule h claims that x* has
// the prior of the process, multiplied by the density q_h = exp g_h and normalised. By Bayes' rule
// the probability of the agent's outcomes D under rule h, relative to that under Alone, is
//
//	Z_h = E[q_h(x*) | D] / E[q_h(x*)].
//
// Both expectations are averages over draws of the process, with and without D. x* is the best of a
// set of designs ([Candidates]) in a draw. The weight of rule h is its prior weight times Z_h, normalised.
// Before the first outcome Z_h is 1. Z_h grows if outcomes move the optimum to where the density of
// rule h is large, and falls to 0 if they exclude that region. There is no constant to tune. Unlike a
// product of predictive densities, Z_h does not depend on the order of outcomes.
//
// On a task with several objectives, x* is a random design of the Pareto set in draws of all objectives'
// processes.
//
// On a task with constraints, x* is the best design that is feasible in draws of the constraints'
// processes. Draws without a feasible candidate do not count.
//
// # Bounds
//
// ℓ_j lies between ln κ and ln C. For given weights, one of n densities shifts the score of no
// design against that of another by more than factor·ln(C/κ)·Σ_h w_h·s_h. Relative to a density
// that is uniform, it lowers no score by more than factor·ln(1/κ)·Σ_h w_h·s_h, and raises none by
// more than factor·ln(C)·Σ_h w_h·s_h. Here s_h is 0 for Alone, 1/n for Geometric, n^(-1/2) for
// Between, and 1 for Product. For Arithmetic 1 is a bound too, since the derivatives of its
// logarithm with respect to ℓ_j are at least 0 and sum to 1.
//
// All n densities together shift no score against another by more than factor·ln(C/κ)·Σ_h w_h·S_h,
// with S_h = 0 for Alone, 1 for Arithmetic and Geometric, n^(1/2) for Between and n for Product
// ([Pool.Influence]). The weights depend on the densities too, and are at most 1, so n·factor·ln(C/κ) bounds
// the shift whatever peers publish.
package pooling
