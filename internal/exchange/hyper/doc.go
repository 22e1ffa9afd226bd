// Package hyper is the exchange of nodes that learn priors of hyperparameters together, and keep
// their own hyperparameters. The information of a node's observations about lengthscales and noise
// is one [Statement]. [Combine] turns peers' statements into the prior under which a node fits its
// own.
//
// Source: equation 9 of Al Kontar, "Collaborative and Federated Black-box Optimization" (2024),
// proposes the hyperparameters that maximise the sum of all nodes' log likelihoods. This package
// differs: it has no rounds of averaging, because each statement contains the moments of one
// posterior under a prior that is the same for all nodes. The result is a prior instead of fixed
// values, as in a hierarchical model whose spread between nodes is estimated (Efron and Morris,
// "Stein's Estimation Rule and its Competitors", 1973). The estimates are robust (Huber, "Robust
// Estimation of a Location Parameter", 1964). There is no signal variance, because each node
// standardises its outputs.
//
// docs/experiments.md has measurements of its benefit.
package hyper
