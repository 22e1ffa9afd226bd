// Package batch chooses one design for each of n parties at once, on the observations
// that they have pooled, so that who has gained least is served first.
//
// With D the observations, μ their posterior mean, λ_i what party i has gained so far, σ²
// the variance of an observation and w weights that fall, the batch X = (x_1, …, x_n)
// maximises
//
//	W(λ + μ(X)) + √(α I(X)),   W(u) = Σ_i w_i·u_(i),   I(X) = ½ ln det(I + Σ_X|D/σ²),
//
// where u_(1) is the least of the utilities and so on, and I is the information that
// observations of X give on the function. Source: Sim, Zhang, Low, Jaillet,
// "Collaborative Bayesian Optimization with Fair Regret" (ICML 2021), equation 5. A
// [Problem] is such a choice, [Problem.Maximise] makes it, [Weights] and [Exploration]
// are w and α, and [Rule] has the paper's other rules. With equal weights the rule [Fair]
// is that of Daxberger and Low, "Distributed Batch Gaussian Process Optimization" (ICML
// 2017), and does not depend on λ.
//
// Which party gets which design of a batch is free where all can evaluate the same: then the
// larger mean goes to who has gained less, which is worth most (appendix B.2).
//
// Where it differs from the paper and its published program:
//
//   - With [Exploration.Varying] c1 is made smaller once, by the weights. The program
//     does so in each round again, so that exploration ends.
//   - With equal weights, where [Fair] has no reason to prefer an order, it is random.
//   - The published program starts gradients from 20 of 1,500 quasi-random batches. Here
//     batches are first made of single designs that are good in one place of them, and
//     ascents follow a welfare without ridges, which becomes the true one.
//   - Parties may have own lists of designs ([Problem.Choices]), where the pairing is
//     not free. [Instant] then counts Σ w_i μ with w_1 for who has gained least, and
//     [TwoStep] swaps only what both parties can evaluate.
//
// The posterior and the gains must have the same units, and larger must be better. The
// package knows no rounds, and nothing of how gains are counted. It does not claim to
// find the largest value: benchmark_test.go measures how near it comes.
package batch
