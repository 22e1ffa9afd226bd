// Package batch chooses one design for each of n parties jointly, from their pooled observations.
// The party with the smallest gain gets the design with the largest posterior mean.
//
// Let D be the observations, μ(X) the vector of their posterior means at the designs X, λ_i the
// gain of party i so far, σ² the noise variance of an observation and w weights in falling order.
// The batch X = (x_1, …, x_n) maximises
//
//	W(λ + μ(X)) + √(α I(X)),   W(u) = Σ_i w_i·u_(i),   I(X) = ½ ln det(I + Σ_X|D/σ²),
//
// where u_(1) is the smallest utility, u_(2) the second smallest and so on. W is called the
// welfare. I is the information about the function that observations at X give. Source, cited as
// S21: Sim, Zhang, Low, Jaillet, "Collaborative Bayesian Optimization with Fair Regret" (ICML
// 2021), equation 5. [Problem] is the maximisation problem, [Problem.Maximise] solves it, [Weights]
// and [Exploration] define w and α, and [Rule] has the paper's other rules. With equal weights the
// rule [Fair] is that of Daxberger and Low, "Distributed Batch Gaussian Process Optimization" (ICML
// 2017), and does not depend on λ.
//
// If all parties can evaluate the same designs, the assignment of designs to parties is free. The
// design with the larger mean then goes to the party with less gain, which maximises the value
// (appendix B.2).
//
// Differences from the paper and its published program:
//
//   - With [Exploration.Varying] the weights reduce c1 once. The program repeats the reduction
//     in each round, so that exploration ends.
//   - With equal weights [Fair] has no reason to prefer an order, and the order is random.
//   - The published program starts gradients from 20 of 1,500 quasi-random batches. Here the
//     search first exchanges single designs of a batch. Ascents then follow a welfare without
//     ridges, which converges to the true one.
//   - Parties may have their own lists of designs ([Problem.Choices]), for which the pairing is
//     not free. [Instant] then uses Σ w_i μ with w_1 for the party with the smallest gain, and
//     [TwoStep] swaps only designs that both parties can evaluate.
//
// The posterior and the gains must have the same units, in which larger is better. The package has
// no rounds and does not compute gains. The search may miss the maximum: benchmark_test.go measures
// the difference.
package batch
