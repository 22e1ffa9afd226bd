// Package trained has kinds of families whose objectives come from training: what
// is tuned are the hyperparameters of a model on each member's own data. [Kinds]
// is to be joined with the kinds of package family:
//
//	all := append(family.Kinds(), trained.Kinds()...)
//	f, err := all.Parse("synthetic:beta=0.5")
//
// The kind synthetic trains the logistic regression of package examples/synthetic
// on the data set Synthetic(alpha, beta) of Li et al., "Federated Optimization in
// Heterogeneous Networks" (MLSys 2020). Members whose samples are nearly all of one
// class, about half of them, have nothing to tune and are passed over. The
// optima are the best of a search, and others may be better by a few hundredths.
//
// The kind landmine looks up how well support vector machines do on the fields of
// Xue et al., "Multi-Task Learning for Classification with Dirichlet Process
// Priors" (JMLR 2007), in a table of trained ones that has to be given as a file.
//
// How alike members are is in the data: the kinds have no odd company, but
// newcomers. The package trains nothing of its own.
package trained
