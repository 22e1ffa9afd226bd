// Package hyper implements an exchange by which nodes learn a common prior of their
// hyperparameters. Each node keeps hyperparameters of its own. A [Statement] holds the information
// of a node's observations about lengthscales and noise. [Combine] turns peers' statements into the
// prior under which a node fits its own hyperparameters.
//
// Source: equation 9 of Al Kontar, "Collaborative and Federated Black-box Optimization" (2024). It
// proposes the hyperparameters that maximise the sum of all nodes' log likelihoods. This package
// differs in three ways. It has no rounds of averaging, because each statement contains the moments
// of a posterior under a prior that is the same for all nodes. The result is a prior instead of
// fixed values, as in a hierarchical model whose spread between nodes is estimated (Efron and
// Morris, "Stein's Estimation Rule and its Competitors", 1973). The estimates are robust (Huber,
// "Robust Estimation of a Location Parameter", 1964). There is no signal variance among the
// hyperparameters, because each node standardises its outputs.
//
// docs/experiments.md has measurements of its benefit.
package hyper
