// Package testfunc holds test problems of global optimisation: functions whose
// least value is known, with the space they are searched in. A [Function] is to
// be MINIMISED, as all of them were published; who maximises negates.
//
// [Shifted] moves a function so that its optimum lies elsewhere, and [Noisy] adds
// noise to its values. Both return another Function, so that variants compose.
//
// Sources: the collection of S. Surjanovic and D. Bingham, "Virtual Library of
// Simulation Experiments: Test Functions and Datasets" (Simon Fraser University,
// 2013), for ranges and parameters, and the original named at each function.
//
// The package has no gradients and no constraints, and does not optimise.
package testfunc
