// Package multitask models the objectives of several agents by one Gaussian process. Each agent's
// objective is a task of the process. Two values at designs with the kernel distance r have the
// covariance k(√(r² + d²)), where d is the distance of their two tasks. So d = 0 means one common
// function, and a large d means independent functions.
//
// [Spec] and [Fixed] implement this with a process of package gp: the points have further
// coordinates for the task. Under the squared exponential kernel it is the intrinsic coregionalization
// model of Bonilla, Chai and Williams, "Multi-task Gaussian Process Prediction" (NIPS 2007), equation
// 1, in which the covariance of two tasks is exp(-d²/2). Under Matérn kernels the common part of two
// tasks is smoother than each.
//
// [New] returns the [Model] of one agent, which learns the similarity of each peer. Its steps are:
//
//   - Each task has its own level and size, by the generalised least squares of its observations
//     under the kernel. So tasks may differ in both, and in the designs that were evaluated.
//   - The similarity of a peer is the average of its values on a grid, weighted by their posterior
//     probability given the observations of the agent and of this peer. A peer with a negative
//     similarity enters the model with the negatives of its outputs.
//   - The model of the agent is the posterior given its own observations and those of the most
//     similar peers.
//
// Two peers of the same similarity to the agent have this similarity to each other as well. So the
// agreement of peers is not counted as independent evidence about the agent's objective.
//
// The cost is bounded: see the constants in model.go.
package multitask
