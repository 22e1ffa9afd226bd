// Package search is what the strategies have in common: the designs at the start, and how
// a function to maximise becomes the next design.
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
// or to the listed design that is nearest to it: people put what they expect to be good in the
// middle. Tasks with a promise of privacy have no such common design, and neither have
// strategies that it harms ([Search.Apart]). The hypercube is drawn from the agent's seed. An
// observer without the seed can foresee no more than that later designs lie in other parts than
// earlier ones. A node with a new seed, as after a restart, goes on in another hypercube.
//
// One public sequence for all agents, of which each takes a part by a hash of its name,
// fills the space no more evenly: such parts are as independent of each other as
// hypercubes are. They would have to be blurred to stay secret, too: over a 64th of a space
// with six parameters means over half of every range. Places on a roster would make the
// parts complementary, and the starts those of the strategy, which could not be compared
// then with what an agent gets alone from the same ones.
//
// Where designs are listed, within parts of the space, and in trials after the n-th for
// which there is nothing to learn from yet, designs are random among those not tried.
//
// # Pending designs
//
// What a strategy maximises is computed on a posterior that takes the outcomes of running and
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
// An optimum on a bound, or of ints and categories, is met exactly, and so is met
// again. Then the same function is maximised a second time, outside of neighbourhoods:
// of everything that was tried, so that a coordinate differs by 1/64 of its range or
// a category does; and of the maximiser itself, by 1/64 to 1/2, drawn evenly on a
// logarithmic scale. (The paper on federated Thompson sampling draws a random design
// instead, which in a corner means nearly always.) The maximiser is repeated while
// noise hides whether it is better than the next best design, and the model knows it
// less well than two observations would tell. A design that runs or has failed is not
// repeated, nor is one within 1/64 of it suggested; farther away the package knows
// nothing about failures.
//
// In a finite space of which everything but a few designs has been tried the maximiser
// may find none of these: then chance looks for one, and where it finds none either,
// the best of those tried is evaluated again.
package search
