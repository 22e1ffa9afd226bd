// Package search contains the common parts of strategies: the starting designs, and the choice of
// the next design by maximising a function.
//
// A [Search] knows the task's space and reads the agent's trials from the view
// it is given; it keeps no state. A strategy decides what to maximise.
//
// # The start
//
// The n starting designs of an agent are a Latin hypercube (McKay, Beckman and Conover, "A
// Comparison of Three Methods for Selecting Values of Input Variables in the Analysis of
// Output from a Computer Code", Technometrics 1979, in gonum): one in each n-th of every
// parameter, floats and ints on log scale by their logarithms, choices taking equal parts.
// Each by itself is uniform. The numbers of the first are then moved to the centre of the space,
// or to the listed design that is nearest to it, because users tend to centre the space on designs
// that they expect to be good. Tasks with a section privacy have no such common design, and neither
// have strategies that it harms ([Search.WithoutCentre]). The hypercube is drawn from the agent's
// seed. An observer without the seed can predict only that later designs lie in other parts than
// earlier ones. A node with a new seed, as after a restart, continues in another hypercube.
//
// The alternative is one public sequence for all agents, of which each takes a part by a hash of
// its name. It fills the space no more evenly, since such parts are as independent of each other as
// hypercubes are. The parts would also need random shifts to stay secret: a shift within a 64th of a
// space with six parameters covers half of every range. Indices on a roster would make the parts
// complementary. But then starting designs would depend on the strategy, and its results could not
// be compared with those of an agent alone from the same starting designs.
//
// Designs are random among those not tried in three cases: for listed designs, within parts of the
// space, and in trials after the n-th while there is no posterior.
//
// # Pending designs
//
// Acquisition functions are computed on a posterior that takes the outcomes of running and
// waiting trials for its mean ([Search.WithPending]), so that a batch of designs spreads. Only
// acquisition functions use it. Models of constraints and of failures take pending designs in the
// same way ([surrogate.Constraint.WithPending]), and a pending design that is likely to be feasible counts
// as one: the batch improves on it. On Branin's and
// Hartmann's functions with eight designs at a time, 40 seeds each, draws of the posterior in place
// of the mean, the best outcome in place of it, and 16 members of an ensemble in place of 4 were no
// better.
//
// # When a maximiser has been tried
//
// The maximiser may be a design that was tried already, often on a bound, or with ints and
// categories. Then the same function is maximised a second time, outside of neighbourhoods:
// of everything that was tried, so that a coordinate differs by 1/64 of its range or
// a category does; and of the maximiser itself, by 1/64 to 1/2, drawn evenly on a
// logarithmic scale. (The paper on federated Thompson sampling draws a random design
// instead, which in a corner means nearly always.) The maximiser is repeated while
// noise hides whether it is better than the next best design, and the model's variance there is
// larger than after two observations. A design that runs or has failed is not
// repeated, nor is one within 1/64 of it suggested; the package makes no assumption about failures
// farther away.
//
// In a finite space in which all but a few designs have been tried, the maximiser may find none of
// these. Then random sampling looks for one. If it finds none either, the best tried design is
// evaluated again.
package search
