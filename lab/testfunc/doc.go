// Package testfunc has test problems of global optimisation: functions with a known minimum, and
// the spaces in which they are searched. A [Function] is to be MINIMISED, as in its publication;
// callers that maximise negate it.
//
// An [Objectives] has several values, with the reference point and the largest hypervolume.
//
// [Shifted] moves a function so that its optimum lies elsewhere, and [Noisy] adds noise to its
// values. Both return a Function, so that they can be combined.
//
// Sources: S. Surjanovic and D. Bingham, "Virtual Library of Simulation Experiments: Test Functions
// and Datasets" (Simon Fraser University, 2013), for ranges and parameters. Each function names its
// original publication.
//
// The package has no gradients and no constraints, and does not optimise.
package testfunc
