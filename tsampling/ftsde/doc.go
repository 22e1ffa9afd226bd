// Package ftsde is federated Thompson sampling with distributed exploration, from
// private sums, which no node can decompose: Dai, Low and Jaillet, "Differentially Private
// Federated Bayesian Optimization with Distributed Exploration" (NeurIPS 2021).
//
// The space is divided into [Cells], and each node explores one of them at the start.
// A round of sums takes place after every few observations. Each node scales a weight
// vector by its information on each cell, clips it, adds its part of the noise, and
// contributes it to a secure sum ([Exchange]). The sums divided by the scales are averages
// of the nodes' weights, one vector for each cell. A [Strategy] uses them as the task
// configures: by a schedule, as published, or by how well they predict the node's own
// observations, which limits the cost of noise and poisoned sums.
//
// # Deviations from the paper
//
// There is no trusted server. Committees of the nodes compute the sums, by package
// securesum, and each node adds a part of the noise. The privacy guarantee thus holds against
// all receivers, as long as at most the declared number of nodes collude. Nodes are not
// subsampled, since all nodes can see which nodes participate in a round. The sum is over the
// contributors and not over all nodes, so that absent nodes do not shrink it. A round takes
// place when the first node is due. Nodes with fewer observations contribute what they have:
// zeros with noise, if necessary. The sums may be of posterior means instead of samples, which
// contain the same information with less variance.
package ftsde
