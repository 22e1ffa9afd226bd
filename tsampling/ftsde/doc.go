// Package ftsde implements federated Thompson sampling with distributed exploration: Dai, Low and
// Jaillet, "Differentially Private Federated Bayesian Optimization with Distributed Exploration"
// (NeurIPS 2021). Nodes share only private sums, which no node can decompose into single
// contributions.
//
// The space is divided into [Cells]. At the start each node explores one of them. Rounds of private
// sums take place at fixed numbers of observations. In a round, each node scales its weight vector
// by its information on each cell, clips it, adds its part of the noise, and contributes it to a
// secure sum ([Exchange]). The sums are divided by the total scales. This gives the average of the
// nodes' weights, one vector for each cell.
//
// A [Strategy] uses these averages in one of two ways, as the task configures. With weights:
// schedule it uses them with the probability 1-p_t, as in the paper. With weights: evidence it
// weights them by how well they predict the node's own observations. That limits the harm of noise
// and of poisoned sums.
//
// # Deviations from the paper
//
// There is no trusted server. Committees of nodes compute the sums (package securesum), and each
// node adds a part of the noise. The privacy guarantee thus holds against all receivers, as long as
// at most the declared number of nodes collude. Nodes are not subsampled, since all nodes can see
// which nodes participate in a round. A sum is divided by the number of contributors, not of all
// nodes, so that absent nodes do not shrink the average.
//
// A round takes place as soon as the first node is due. Nodes with fewer observations contribute
// what they have. Before a node has a model, that is a vector of zeros with noise. The sums may be
// of posterior means instead of samples. Means contain the same information with less variance.
package ftsde
