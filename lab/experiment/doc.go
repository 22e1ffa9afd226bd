// Package experiment measures how much peers help: it runs strategies on federations of a family,
// many times, and reports results with standard errors and bounds.
//
// A [Plan] defines the comparison. Each repeat draws one federation and simulates it once per
// strategy, with the same starting designs, the same noise for the n-th evaluation of a member, and
// the same network, so that strategies are compared in pairs. The federation is what repeats:
// regrets are averaged over its members first, and standard errors are over federations, since
// members of one federation are not independent. Where all federations are drawn from the same
// members, which have names, repeats give results for these members only: there each member's
// results are averaged over its federations, and standard errors are over members.
//
// The control is a strategy, or best-alone: at each number of evaluations the better one of ts and
// logei.
//
// Under constraints regrets are of feasible designs, and the report shows how soon and by how many
// members a feasible one was found: [Feasibility].
//
// [Fairness] has the distribution of regret over agents that work together.
//
// [Run] simulates the runs that are missing in a [Store] and returns a [Report]. The whole report
// but the cost is a function of the plan, on any number of cores.
//
// The package has no strategies, families or networks of its own; those are in
// the packages that it names. It does not correct for comparing many strategies
// at many numbers of evaluations.
package experiment
