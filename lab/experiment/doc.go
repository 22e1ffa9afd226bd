// Package experiment measures how much peers help. It runs strategies on many federations of a
// family, and reports regrets with standard errors and confidence bounds.
//
// A [Plan] defines the comparison. Each repeat draws one federation and simulates it once per
// strategy. All strategies get the same starting designs, the same noise for the n-th evaluation of
// a member, and the same network, so that strategies are compared in pairs.
//
// Members of one federation are not independent. Therefore regrets are first averaged over the
// members of a federation, and standard errors are over federations. It is different if all
// federations are drawn from the same named members, because the results then hold for these
// members only. In that case each member's results are averaged over its federations, and standard
// errors are over members.
//
// Each strategy is compared with a control. The control is a strategy, or best-alone: at each
// number of evaluations the better of the strategies ts and logei, which use no peer information.
//
// With constraints, regrets are those of feasible designs. [Feasibility] reports how soon members
// found a feasible design, and how many did.
//
// [Fairness] reports how regret is distributed over the agents of a federation.
//
// [Run] simulates the runs of a plan that a [Store] does not have yet, and [NewReport] makes a
// [Report] of the stored runs. Except for costs, the report depends only on the plan, not on the
// number of cores.
//
// The package contains no strategies, families or networks; it uses those of other packages. It
// does not correct for multiple comparisons (many strategies at many numbers of evaluations).
package experiment
