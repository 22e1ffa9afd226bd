// Package constrainedgp implements the strategy constrained-gp: agents share designs and use a
// constrained Gaussian process. Each agent shares the design that it considers near-optimal. It
// conditions its posterior on shared designs being better than all designs that it has found
// itself, and maximises the expected improvement under that condition.
//
// [newSharing] publishes the maximiser of the agent's lower confidence bound. [Strategy] uses a set
// E of designs: one of each peer, and the prior designs of the node's user. Let δ be the largest
// mean of the own posterior. The strategy conditions the objective f on
//
//	f(x) > δ for all x in E
//
// and maximises the expected improvement, averaged over samples of f(E) under that condition. Given
// such a sample, f at other designs has a normal distribution. So the expected improvement needs no
// sampling of f there.
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
// If E is empty, or all its designs are dropped, the strategy suggests the design of alone.LogEI
// for the same view, trial and seed. It does the same if its maximiser has been evaluated before.
// Otherwise the condition would repeat that design as long as noise keeps the own posterior from
// contradicting the peers.
//
// # Constraints
//
// The paper has no constraints. On a task with constraints an agent shares a design only if its
// posterior predicts it to be feasible with probability above 1/2. Each receiver conditions its
// process of each constraint on the design satisfying the constraint, by expectation propagation
// ([surrogate.Constraint.Given]). It ignores the design if its own posterior there is more than
// four deviations outside of the limits. The acquisition function is multiplied by the probability
// of feasibility under that condition. Once a feasible design is known, δ is the largest mean among
// probably feasible designs. Before that, designs are not compared with δ, and only feasibility
// counts.
//
// # Influence
//
// δ and the dropped designs depend on own observations only. A sample moves the mean at x by at
// most s(x)·|z|, with s the standard deviation of the own posterior and z the sample in standard
// normal coordinates. So peers cannot change what the agent has measured.
//
// A dishonest peer has one shared design at a time. The design attracts the agent as long as δ is
// at most four posterior deviations above the mean there. Once the agent has evaluated nearby, with
// small noise, it drops the design. That costs about one evaluation for each false claim. The
// package limits neither the number of successive false claims of a peer nor those of an attacker
// with many identities. So there is no guarantee that the regret stays within a factor of the
// regret without peers. The weight of peers does not fall with time either, unlike in package
// peerprior. A bound is a claim without proof: a dishonest peer passes every comparison, open or
// private. An honest peer with a different optimum has the same effect.
//
// A share discloses the best design of its author. On tasks with privacy the design has noise
// ([newReleases]), and receivers use it without correction. With a private threshold fewer peers
// receive the design, but each can obtain it by pretending that its threshold is low. Package
// compare lists what else a private comparison discloses.
package constrainedgp
