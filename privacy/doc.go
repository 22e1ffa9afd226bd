// Package privacy is the arithmetic of differential privacy for shared weight vectors: the release,
// and its privacy cost.
//
// [Grid.Clip] turns weights into integers whose Euclidean norm has an exact bound, [Sampler] adds
// discrete Gaussian noise to them, [Plan.Loss] returns the cost of a number of such releases, and
// [Plan.Sigma] the noise that a promise (ε, δ) needs. A release is
//
//	grid := privacy.Grid{Norm: 4, Bits: 30}
//	plan := privacy.Plan{Grid: grid, Dimension: 64, Rate: 1, Releases: 10, Parties: 1}
//	sigma, err := plan.Sigma(privacy.Promise{Epsilon: 4, Delta: 1e-5})
//	sampler, err := privacy.NewSampler(sigma, rand.Reader) // of crypto/rand
//	err = grid.Clip(release, weights)
//	err = sampler.AddTo(release) // only now may release leave the machine
//
// # Adversary
//
// The adversary knows everything but one node's data and its random bytes: the plan, all other
// nodes' data, and every released integer down to the last bit. The promise covers one node's whole
// contribution, over all releases of the plan: whatever is computed from the releases is, under two
// contributions that are neighbours by the plan's [Adjacency], (ε, δ)-close. The promise depends on
// integers alone. Floats compute the vector to be clipped, but none are used from the clipped
// integers to the released ones, since Gaussian noise in floating point reveals its input by its
// low bits (Mironov, CCS 2012). Rounding cannot enlarge the sensitivity, because the clip comes
// after it and is exact.
//
// Figures are computed in floats and rounded to the safe side: a bisection returns the end at which
// the promise was checked to hold, and sums that are only known up to rounding errors have a margin
// that exceeds those errors.
//
// # Duties of the caller
//
// The source of random bytes must be crypto/rand, never a seed, and no noise may be used twice. The
// plan (norm, grid, noise, number of releases) must be fixed without looking at the data, and a
// ledger must count the releases. Whether and when a release happens must not depend on the data;
// in particular, weights that are not finite are refused, and a missing release would then disclose
// that they were: release noise on zeros instead. The promise of a [Plan] with a Rate below one
// holds only as long as participation is hidden.
//
// # Sources
//
// Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy"
// (2020, arXiv 2004.00010): sampler, Algorithms 1 to 3; its concentrated privacy,
// Theorem 4, for vectors by independence of the coordinates; conversion to (ε, δ),
// Proposition 12. Kairouz, Liu, Steinke,
// "The Distributed Discrete Gaussian Mechanism for Federated Learning with Secure
// Aggregation" (2021, arXiv 2102.06387): sums of discrete Gaussians, Proposition
// 14. Balle, Wang, "Improving the Gaussian Mechanism for Differential Privacy"
// (2018, arXiv 1805.06530), Theorem 8, and Dong, Roth, Su, "Gaussian Differential
// Privacy" (2019, arXiv 1905.02383), Corollary 2.13 and 3.3: exact (ε, δ) of
// Gaussian releases. Mironov, Talwar, Zhang, "Rényi Differential Privacy of the
// Sampled Gaussian Mechanism" (2019, arXiv 1908.10530), Theorems 4 and 5 and
// Section 3.3: releases in which a node takes part by chance. Bun, Steinke,
// "Concentrated Differential Privacy" (2016, arXiv 1605.02065), Lemma 2.3, and
// Mironov, "Rényi Differential Privacy" (2017, arXiv 1702.07476), Proposition 1:
// composition.
//
// # What it does not do
//
// It keeps no ledger, sends nothing and chooses no clip norm. It does not hide
// how long sampling takes, which depends on the noise drawn: a caller whose
// adversary has a clock draws noise before it is needed and releases at set times.
// It knows neither sampling without replacement nor a plan that reacts to earlier
// releases, and it does not judge whether sharing is still useful under its noise.
package privacy
