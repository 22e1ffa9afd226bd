// Package ftsde is federated Thompson sampling with distributed exploration, from
// private sums, which no node can decompose: Dai, Low and Jaillet, "Differentially Private
// Federated Bayesian Optimization with Distributed Exploration" (NeurIPS 2021).
//
// The space is cut into [Cells], and every node explores one of them at the start.
// After every few observations a round of sums takes place: each node scales a
// weight vector by how much it has to say about each cell, clips it, adds its part
// of the noise, and gives it to a secure sum ([Exchange]). The sums, divided by what
// they were scaled by, are averages of the nodes' weights, one vector for each cell.
// A [Strategy] follows them as the task says: by a schedule, as published, or as far
// as the node's own observations bear them out, which is how noise and poison cost
// little.
//
// # Deviations from the paper
//
// There is no trusted server: committees of the nodes themselves add up, by package
// securesum, and each node adds a part of the noise, so that the promise of package
// budget holds against everybody, as long as no more than the declared number
// collude. Nodes are not subsampled, since all can see who takes part in a round. The
// sum is over those who contribute and not over all nodes, so that absent ones do not
// shrink it. A round takes place when the first node is due, and those that have
// observed less give what they have: zeros with noise, if need be. What is summed may
// be the mean of the posterior in place of a sample, which carries the same information with less
// variance.
package ftsde
