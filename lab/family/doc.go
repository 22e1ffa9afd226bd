// Package family draws federations of agents whose objectives have a chosen similarity. The optimum
// of each objective is known, so that regret can be measured.
//
// The Parse of [Kinds] turns a text such as "gp:d=6,e=0.2" into a [Family]. Its Draw makes a
// [Federation] from a seed and a number of agents. The kinds of families are
//
//   - gp: samples of a Gaussian process. Every member has sqrt(1-e²)·f + e·g, with one f for all
//     members and a g of its own, so that the objectives of two members correlate by 1-e². With the
//     key d_n a member has f + s·g instead, where s is chosen so that the largest |s·g| over 4096
//     points is d_n. Dai, Low and Jaillet, "Federated Bayesian Optimization via Thompson Sampling"
//     (NeurIPS 2020), call d_n the bound on the difference of peer n from the target. Here it is
//     the difference from f, so two members may differ by twice as much.
//   - every function of package testfunc (its All), shifted, scaled, rotated and warped differently
//     for every member. Values are divided by the function's standard deviation over its space, so
//     that noise means the same for all functions; with units=own they are the published values.
//     Floats are moved in every way, ints are shifted by whole numbers, and choices stay. Clusters
//     after the first also permute the choices. The deepest of the ten wells of shekel4 is narrow,
//     and lies 57 standard deviations below the mean.
//   - corner: functions of floats, ints and categoricals that fall along every parameter, so
//     that the optimum is in a corner or on an edge of the space. The key decoy adds a second,
//     worse minimum in the opposite corner. These functions were made for this package, because
//     optima on bounds are frequent in tuning.
//   - guide: the twelve functions of the experiments of GUIDE-FBO (arXiv 2609.35038) with the shifts, rotations and
//     units published there.
//   - limits: a sample of a Gaussian process as in gp for the objective, and one for each of up to
//     three constraints, whose limits are at 0. The feasible share of the space is set for the
//     functions that the members have in common.
//   - gramacy: the sum of two floats under two constraints of Gramacy et al. (2016), moved
//     differently for every member.
//
// # Fleet composition
//
// The keys others, clusters, newcomer, adversaries and attack determine which members a federation
// has. If others is not similar, only one member is honest and counts: the first, or the newcomer.
// The other members then are
//
//   - dissimilar: independent functions of the kind.
//   - negated: the similar functions and their constraints, times -1.
//   - half-negated: every second one of them is negated, the rest are similar.
//   - deceptive: similar functions with a false optimum. It is a bell-shaped peak (a hole if the
//     goal is to minimise) of height 3 and width 0.1·sqrt(d). All deceptive members have it at the
//     same place, where the honest member's function is worse than at most designs. Constraints
//     have a hole of the same depth there.
//   - constant: the same value everywhere, better than 0 by 3, plus noise. Constraints are
//     satisfied by a margin of 3 everywhere.
//   - noise: a standard normal number for every design, and also for every constraint.
//   - forged: similar functions, but the simulation replaces the members' shares by random weights
//     or designs.
//
// All amounts are in units of the standard deviation of the objective.
//
// The key adversaries=n is for others=similar. The last n members are then forged as above and do
// not count; all other members are honest and count. With attack=corner all designs in forged
// shares are the same: the corner where all numbers are largest. By default they are random.
//
// Member k has the same objective for any number of members, and the honest member has the same
// objective in every composition. The effect of the composition can therefore be measured in pairs.
//
// # Further kinds
//
// A [Catalogue] is a list of kinds. Other packages can define kinds of their own.
//
// # Constraints
//
// The constraints of a federation are those of the task. All members have the same limits, but
// measure different values. The optimum of a member is the best value among designs that satisfy
// all constraints without noise. It is found by maximising penalised functions
// (acquisition.Penalised) and moving from there to the border. An Infeasible federation has no
// optimum.
//
// # Values
//
// A function and the noise of its evaluations are separate: Value is without noise, and the caller
// adds noise. The package does not simulate agents and does not compute regrets.
package family
