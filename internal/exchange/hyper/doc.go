// Package hyper is the exchange of nodes that learn the hyperparameters of their processes
// together, and keep their own: what the observations of each say about lengthscales and
// noise is one [Statement], and [Combine] makes of the others' statements the prior by which
// a node fits its own.
//
// Source: equation 9 of Al Kontar, "Collaborative and Federated Black-box Optimization" (2024),
// asks for the hyperparameters that maximise the sum of all nodes' log likelihoods. This
// package departs from it: it has no rounds of averaging, since each statement is about the
// moments of one posterior under the prior that all know, and the result is a prior instead of
// fixed values, as in a hierarchical model whose spread between nodes is estimated (Efron and
// Morris, "Stein's Estimation Rule and its Competitors", 1973). The estimates are robust (Huber,
// "Robust Estimation of a Location Parameter", 1964). There is no signal variance, since each node
// standardises its outputs.
//
// docs/experiments.md has what it is worth.
package hyper
