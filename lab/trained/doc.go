// Package trained has kinds of families whose objectives come from training: members tune the
// hyperparameters of a model on their own data. [Kinds] is to be joined with the kinds of package
// family:
//
//	all := append(family.Kinds(), trained.Kinds()...)
//	f, err := all.Parse("synthetic:beta=0.5")
//
// The kind synthetic trains the logistic regression of package examples/synthetic on the data set
// Synthetic(alpha, beta) of Li et al., "Federated Optimization in Heterogeneous Networks" (MLSys
// 2020). Members whose samples are nearly all of one class, about half of them, have nothing to
// tune and are skipped. The optima are the best of a search, and others may be better by a few
// hundredths.
//
// The kind table looks up earlier evaluations, of any task, in files that have to be given: a
// member is an author of evaluations, and a design is one that was evaluated. Where all members
// have a full grid, values between its nodes are interpolated, linearly in each coordinate of the
// encoded design ([task.Space.Encode]), so that a member's optimum is at a node; choices are not
// interpolated. Otherwise only measured designs exist, and each member has its own where they are
// not all the same. The mean counts if a member has measured a design several times. docs/tables.md
// describes its use.
//
// The kind traffic looks up the demand for rides in the regions of a city, from the table of Chen
// et al., "Gaussian Process Decentralized Data Fusion and Active Sensing for Spatiotemporal Traffic
// Modeling and Prediction in Mobility-on-Demand Systems" (IEEE Trans. Autom. Sci. Eng. 2015), as
// Sim et al. use it in "Collaborative Bayesian Optimization with Fair Regret" (ICML 2021): all
// members look for the region of highest demand, and each goes from where it is to regions nearby.
// It trains nothing and is here since it reads files.
//
// The kind command, that of [Programs], has a program of the user's measure, as a node
// does (package internal/evaluator). It is no part of Kinds, since programs have to be
// ended: its owner runs under the context of its Programs and closes them. The optima are
// the best of a search, unless one is stated.
//
// The similarity of members is in the data: the kinds have newcomers, but no other composition. The
// package trains nothing of its own.
package trained
