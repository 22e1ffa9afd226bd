// Package synthetic is a small federated learning problem to tune: every node has
// its own classification data and trains the same kind of model on it, so that
// good hyperparameters of one node are a good guess, but not the answer, for
// another.
//
// [Generate] makes a node's share of the data set Synthetic(alpha, beta) of T. Li
// et al., "Federated Optimization in Heterogeneous Networks" (FedProx), MLSys
// 2020, section 5.1; [Train] fits multinomial logistic regression to it by
// mini-batch gradient descent and returns the [Score] on held-out data.
//
// Nothing is faked or looked up: a score takes some milliseconds of real
// training. Both functions give the same result for the same arguments on the
// same kind of processor.
//
// The package does not tune and does not federate: each node sees only its own
// data, and a trained model is thrown away.
package synthetic
