// Package privacy implements the arithmetic of differential privacy for shared weight vectors: the
// release of a vector, and its privacy cost.
//
// [Grid.Clip] converts weights to integers whose Euclidean norm has an exact bound, and [Sampler]
// adds discrete Gaussian noise to them. [Plan.Loss] returns the privacy cost of a number of such
// releases, and [Plan.Sigma] the noise that a guarantee (ε, δ) needs. A release is made as follows:
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
// The adversary knows everything except one node's data and its random bytes: the plan, all other
// nodes' data, and every released integer down to the last bit. The guarantee covers one node's
// whole contribution, over all releases of the plan. Take two contributions that are neighbours by
// the plan's [Adjacency]. The distributions of anything that is computed from the releases are then
// (ε, δ)-close.
//
// The guarantee depends only on integers. The vector before clipping is computed in floats. From
// the clipped integers to the released ones there are no floats, since the low bits of Gaussian
// noise in floating point reveal its input (Mironov, CCS 2012). Rounding cannot enlarge the
// sensitivity, because clipping follows it and is exact.
//
// Privacy costs are computed in floats and rounded to the safe side. A bisection returns the end at
// which the guarantee was checked to hold. Sums that are known only up to rounding errors have a
// margin that exceeds those errors.
//
// # Duties of the caller
//
// The source of random bytes must be crypto/rand, never a seeded generator, and no noise may be
// used twice. The plan (norm, grid, noise, number of releases) must be fixed without looking at the
// data, and a ledger must count the releases. Whether and when a release happens must not depend on
// the data. In particular, Clip rejects weights that are not finite, and a missing release would
// disclose that. The caller must release noise on zeros instead. The guarantee of a [Plan] with a
// Rate below one holds only as long as participation is hidden.
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
// The package keeps no ledger, sends nothing and does not choose the clip norm. It does not hide
// the time that sampling takes, which depends on the noise drawn. If the adversary can measure
// times, the caller must draw noise before it is needed, and release at fixed times. The package
// supports neither sampling without replacement nor a plan that depends on earlier releases. It
// does not judge whether shares are still useful under their noise.
package privacy
