// Package search contains the common parts of strategies: the starting designs, and the choice of
// the next design by maximising a function.
//
// A [Search] belongs to one task and keeps no state: it reads the agent's trials from the view that
// it is given. The strategy provides the function to maximise.
//
// # The start
//
// The n starting designs of an agent are a Latin hypercube (McKay, Beckman and Conover, "A
// Comparison of Three Methods for Selecting Values of Input Variables in the Analysis of Output
// from a Computer Code", Technometrics 1979, in gonum). The range of every parameter is divided
// into n equal parts, and each part contains one design. Parameters on a log scale are divided by
// their logarithms. The choices of a categorical parameter take equal parts. Each design by itself
// is uniformly distributed.
//
// The numeric values of the first design are then moved to the centre of the space, or to the
// listed design that is nearest to it, because users tend to centre the space on designs that they
// expect to be good. If no parameter is categorical, this first design is the same for all agents.
// Tasks with a section privacy do not have it, nor do strategies that it harms
// ([Search.WithoutCentre]).
//
// The hypercube is drawn from the agent's seed. An observer without the seed can predict only that
// later designs lie in other parts than earlier ones. A node with a new seed, for example after a
// restart, continues in another hypercube.
//
// The alternative would be one public sequence for all agents, in which a hash of an agent's name
// selects its part. That fills the space no more evenly, since such parts are as independent of
// each other as hypercubes are. The parts would also need random shifts to stay secret: a shift
// within a 64th of a space with six parameters covers half of every range. Indices on a roster
// would make the parts complementary. But then starting designs would depend on the strategy, and
// results could not be compared with those of an agent alone from the same starting designs.
//
// Designs are drawn at random among those not tried in three cases: the designs are listed, the
// strategy restricts them to a part of the space, or there is no posterior after the n-th trial.
//
// # Pending designs
//
// Acquisition functions use a posterior in which the outcome of each running or waiting trial
// equals its posterior mean ([Search.WithPending]). This spreads the designs of a batch. Nothing
// else uses that posterior. Models of constraints and of failures treat pending designs in the same
// way ([surrogate.Constraint.WithPending]). A pending design that is probably feasible counts as
// feasible, so that the batch must improve on it.
//
// Three alternatives were no better on Branin's and Hartmann's functions, with eight designs at a
// time and 40 seeds each: posterior samples instead of the mean, the best outcome instead of the
// mean, and ensembles of 16 members instead of 4.
//
// # When a maximiser has been tried
//
// The maximiser may be a design that was tried already. This is frequent at bounds, and in spaces
// with integers and categories. The same function is then maximised a second time, outside of two
// kinds of neighbourhoods. Around every tried design, the new design must differ by 1/64 of the
// range in some coordinate, or in a category. Around the maximiser, the required difference is
// drawn log-uniformly from 1/64 to 1/2. (The paper on federated Thompson sampling draws a random
// design instead. In a corner that happens nearly always.)
//
// The maximiser itself is evaluated again on two conditions: noise hides whether it is better than
// the next best design, and the model's variance at it is larger than after two observations. A
// design that is running or has failed is never repeated, and no design within 1/64 of it is
// suggested. The package makes no assumption about failures farther away.
//
// In a finite space in which nearly all designs have been tried, the second search may find none
// that was not tried. Random sampling then looks for one. If it finds none either, the best tried
// design is evaluated again.
package search
