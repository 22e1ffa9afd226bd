// Package constrainedgp is design sharing with a constrained Gaussian process:
// agents share the design that they consider near-optimal, and each
// chooses by expected improvement under a posterior that takes such designs to be
// better than all it has found itself.
//
// [newSharing] publishes the maximiser of the agent's lower confidence bound.
// [Strategy] takes the designs E of its peers, one of each, and those that the
// node's user suggests; with δ the largest mean of the own posterior it conditions
// the objective f on
//
//	f(x) > δ for all x in E
//
// and evaluates where the expected improvement, on average over samples of
// f(E) under that condition, is largest. Given the sample the rest of f is normal,
// so nothing is sampled at the point where the improvement is asked for.
//
// Source: Al Kontar, "Collaborative and Federated Black-box Optimization: A
// Bayesian Optimization Perspective" (2024), equation 7. Where it differs:
//
//   - The threshold is compared in private, as in the paper, in the open, or not at
//     all. In private ([Private]) it is that of the moment of the comparison; in the
//     open a design is compared anew for each trial.
//   - Outputs are standardised by each agent. The bound is compared, and in the open
//     travels, in units of the objective, which presumes that all agents
//     measure in the same ones; designs alone ("none") presume only that what is
//     good for one is good for the other.
//   - The condition is on f with an error of a thousandth of its deviation, so
//     that designs next to each other are distinguishable in float64.
//   - A design that no sample of the own posterior supports, or that lies more
//     than four deviations below δ, is dropped; of at most five that are never
//     supported together the least plausible is, as often as need be. More than
//     five are sampled by a Gibbs sampler, for which no set is impossible, so
//     there only the first rule applies. At most twenty are considered.
//   - Improvement is counted over the largest posterior mean at an own design, as
//     in package alone, and maximised through its logarithm.
//
// With E empty, or when all of it is dropped, the suggestion is that of
// alone.LogEI for the same view, trial and seed; likewise when the maximiser
// has been evaluated before, which the condition would else repeat for as long as
// noise keeps the own posterior from contradicting it.
//
// # Constraints
//
// The paper has none. On a task with constraints a design is shared while it is believed
// to be feasible and rather is so than not, and each receiver conditions the process
// of each constraint on its being kept there, by expectation propagation
// ([surrogate.Constraint.Given]), unless that lies more than four deviations outside of the
// limits. The acquisition is multiplied by the probability of feasibility under that
// condition. Once something feasible is known δ is the largest mean of what is believed to
// be feasible; before, nothing is compared with δ, and only feasibility counts.
//
// # Influence
//
// δ and what is dropped follow from own observations alone. A sample moves the
// mean at x by no more than s(x)·|z|, with s the deviation of the own posterior
// and z the sample in standard normal coordinates: peers cannot change what the
// agent has measured. A peer that lies has one design at a time, and can make the
// agent look near it while the agent's own posterior holds a value above δ there
// for possible at four deviations; once it has looked, and noise is small, the
// design is dropped. That costs about one evaluation for each false claim. The package
// does not limit the number of false claims of a peer, or of one attacker with many identities,
// one after the other, so there is no guarantee that regret is at most a
// factor of that alone; nor does the weight of peers fall with time by itself, as
// it does in package peerprior. A bound is a claim without proof: a dishonest peer passes every
// comparison, open or private. Honest peers with another optimum have the same effect.
//
// A share discloses the best design of its author. On tasks with privacy the design has noise
// ([newReleases]), and receivers use it without correction. A private threshold discloses the design
// to fewer peers, but each can obtain it by a low threshold; package compare lists what else it
// discloses.
package constrainedgp
