// Package trained has kinds of families whose objectives come from training: members tune the
// hyperparameters of a model on their own data. Join [Kinds] with the kinds of package family:
//
//	all := append(family.Kinds(), trained.Kinds()...)
//	f, err := all.Parse("synthetic:beta=0.5")
//
// The kind synthetic trains the logistic regression of package examples/synthetic on the data set
// Synthetic(alpha, beta) of Li et al., "Federated Optimization in Heterogeneous Networks" (MLSys
// 2020). It skips members whose samples are nearly all of one class, about half of all, because
// they have nothing to tune. The stated optimum is the best result of a search; other designs may
// be better by a few hundredths.
//
// The kind network trains a network with one hidden layer on the same data, and has two objectives:
// the validation error, and the common logarithm of the multiplications of one prediction. The
// second is the cost of a prediction without the noise of a clock. The stated hypervolume is that of
// a search; other fronts may have more by a few hundredths, and then lack nothing.
//
// The kind table looks up earlier evaluations, of any task, in files that the user names. A member
// is an author of evaluations, and a design is one that was evaluated. If all members have a full
// grid, the kind interpolates linearly between the nodes, in each coordinate of the encoded design
// ([task.Space.Encode]). A member's optimum is then at a node. Choices are not interpolated.
// Without full grids only measured designs exist, and members may have different designs. If a
// member has measured a design several times, the mean counts. docs/tables.md describes the use of
// this kind.
//
// The kind traffic looks up the demand for rides in the regions of a city, in the table of Chen et
// al., "Gaussian Process Decentralized Data Fusion and Active Sensing for Spatiotemporal Traffic
// Modeling and Prediction in Mobility-on-Demand Systems" (IEEE Trans. Autom. Sci. Eng. 2015). Sim
// et al. use the same table in "Collaborative Bayesian Optimization with Fair Regret" (ICML 2021).
// All members search for the region with the highest demand, and each moves from its region to
// regions nearby. This kind trains nothing; it is in this package because it reads files.
//
// The kind command, that of [Programs], evaluates designs by a program of the user, as a node does
// (package internal/evaluator). It is not in Kinds, because its programs must be ended: the owner
// of a Programs runs under its Context, and calls Close. The optimum is the best result of a
// search, unless the user states it.
//
// The data determine how similar members are. The kinds support newcomers, but no other
// composition.
package trained
