// Package family draws federations: agents with objectives of a chosen similarity, each with its
// best value, so that regret can be measured.
//
// The Parse of [Kinds] turns a text such as "gp:d=6,e=0.2" into a [Family], whose Draw
// makes a [Federation] of a seed and a number of agents. The kinds of families are
//
//   - gp: samples of a Gaussian process. Every member has sqrt(1-e²)·f + e·g with one f for all and
//     a g of its own, so that members correlate by 1-e²; or, with the key d_n, f + s·g, where s
//     makes d_n the largest |s·g| over 4096 points. Dai, Low and Jaillet, "Federated Bayesian
//     Optimization via Thompson Sampling" (NeurIPS 2020), call d_n the bound on the difference of
//     peer n from the target; here it is from f, and two members may differ by twice as much.
//   - every function of package testfunc (its All): shifted, scaled, rotated and warped
//     differently for every member, and divided by its standard deviation over its
//     space, so that noise means the same for all; or with units=own with its published
//     values. Floats are moved in every way, ints shifted by whole numbers, and choices
//     stay, but for clusters beyond the first, where they change places. The deepest of
//     shekel4's ten wells is narrow, 57 standard deviations below the mean.
//   - corner: functions of floats, ints and categoricals that fall along every
//     parameter, so that the optimum is in a corner of the space, or on an edge; on
//     request with a second, worse minimum in the opposite corner. Made for this
//     package, since optima on bounds are usual in tuning.
//   - limits: a sample of a Gaussian process as in gp for the objective, and one for each of up to
//     three constraints, every one with its limit at 0. The joint feasible share of the space is
//     that of the members' common functions.
//   - gramacy: the sum of two floats under two constraints of Gramacy et al. (2016),
//     moved for every member.
//
// # Fleet composition
//
// The keys clusters, newcomer and others set the composition of the fleet. If others are not
// similar, one member is honest and counts, the first or the newcomer. All others then are
//
//   - dissimilar: independent functions of the kind
//   - negated: the similar functions, constraints too, times -1; half-negated: every second of them
//   - deceptive: similar, plus a bell-shaped peak (a hole where the goal is to minimise)
//     of height 3 and width 0.1·sqrt(d) at one place for all, where the honest
//     member's function is worse than at most designs; constraints have a hole of the
//     same depth there
//   - constant: the same value, better by 3 than 0, and noise; constraints are kept by
//     as much everywhere
//   - noise: a standard normal number for every design, and of every constraint
//   - forged: similar, but their shares are to be replaced by random weights or designs, or with
//     attack=corner by one design, the corner where all numbers are largest
//
// where a standard deviation of the objective is 1.
//
// Member k has the same objective however many members there are, and the honest member has the
// same objective in every composition, so that the effect of the composition can be measured in
// pairs.
//
// # Further kinds
//
// A [Catalogue] is a list of kinds, and other packages can have their own.
//
// # Constraints
//
// The constraints of a federation are those of the task, so that limits are the same for all
// members; their measured values differ. The optimum of a member is the best value of a design that
// satisfies all constraints without noise. It is found by searching the penalised functions
// (acquisition.Penalised) and moving to the border from there. An Infeasible federation has no
// optimum.
//
// # Values
//
// A function and the noise of its evaluations are separate: Value is without noise, and the caller
// adds it. The package does not simulate agents, and does not judge their findings.
package family
