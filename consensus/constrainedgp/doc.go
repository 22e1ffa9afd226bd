// Package constrainedgp is design sharing with a constrained Gaussian process. Agents share
// the design that they consider near-optimal. Each agent chooses by expected improvement under
// its posterior, conditioned on shared designs being better than all that it has found itself.
//
// [newSharing] publishes the maximiser of the agent's lower confidence bound.
// [Strategy] uses the set E of designs: one of each peer, and the prior designs of the
// node's user. With δ the largest mean of the own posterior it conditions the objective f on
//
//	f(x) > δ for all x in E
//
// and maximises the expected improvement, averaged over samples of f(E) under that
// condition. Given the sample the rest of f is normal, so no sampling is needed at the
// points of the improvement.
//
// Source: Al Kontar, "Collaborative and Federated Black-box Optimization: A
// Bayesian Optimization Perspective" (2024), equation 7. Differences:
//
//   - The comparison with the threshold is private, as in the paper, open, or omitted. A
//     private comparison ([Private]) uses the threshold at the time of the comparison. An
//     open one compares a design anew for each trial.
//   - Each agent standardises its outputs. The bound is compared, and with an open threshold
//     sent, in units of the objective, which presumes the same units on all agents. Threshold
//     "none" presumes only that a good design of one agent is good for the others.
//   - The condition is on f with an error of a thousandth of its deviation, so
//     that designs close to each other are distinguishable in float64.
//   - A design is dropped if no sample of the own posterior supports it, or if its mean is more
//     than four deviations below δ. If at most five designs remain and no sample supports them
//     together, the least plausible one is dropped, repeatedly if necessary. For more than five
//     a Gibbs sampler samples, for which no set is impossible, so there only the first rule
//     applies. At most twenty designs are considered.
//   - The improvement is relative to the largest posterior mean at an own design, as in package
//     alone, and its logarithm is maximised.
//
// If E is empty, or all of it is dropped, the suggestion is that of alone.LogEI for the same view,
// trial and seed. The same applies if the maximiser has been evaluated before. Otherwise the
// condition would repeat that design as long as noise keeps the own posterior from contradicting it.
//
// # Constraints
//
// The paper has none. On a task with constraints an agent shares a design only if its posterior
// predicts it to be feasible, with probability above 1/2. Each receiver conditions the process of
// each constraint on the design satisfying it, by expectation propagation
// ([surrogate.Constraint.Given]), unless its own posterior is there more than four deviations
// outside of the limits. The acquisition is multiplied by the probability of feasibility under that
// condition. Once a feasible design is known, δ is the largest mean among probably feasible designs.
// Before, nothing is compared with δ, and only feasibility counts.
//
// # Influence
//
// δ and the dropped designs follow from own observations alone. A sample moves the mean at x by
// at most s(x)·|z|, with s the deviation of the own posterior and z the sample in standard normal
// coordinates: peers cannot change what the agent has measured. A dishonest peer has one design at a
// time. It attracts the agent while a value above δ there is within four deviations of the agent's
// posterior. Once the agent has evaluated nearby, with small noise, it drops the design. That costs
// about one evaluation for each false claim. The package limits neither the number of successive
// false claims of a peer nor those of an attacker with many identities. There is thus no guarantee
// that regret stays within a factor of that without peers. The weight of peers does not fall with
// time either, unlike in package peerprior. A bound is a claim without proof: a dishonest peer
// passes every comparison, open or private. Honest peers with another optimum have the same effect.
//
// A share discloses the best design of its author. On tasks with privacy the design has noise
// ([newReleases]), and receivers use it without correction. A private threshold discloses the design
// to fewer peers, but each can obtain it by a low threshold; package compare lists what else it
// discloses.
package constrainedgp
