// Package acquisition contains acquisition functions, whose maximiser is the next design, and the
// search for that maximum over the designs of a task.
//
// A [Maximizer] maximises any [Function] over the decoded space: every point at which it evaluates
// the function is a design, so ints are whole numbers and categories are one choice. If only the
// final answer were rounded, a search would propose the same few designs again and again. In
// Thompson sampling the function is the sampled one itself. [Mean], [UCB], [LCB], [EI], [LogEI],
// [LogGain] and [LogFeasibility] make one from a [Predictor]; [Sum] and [Penalised] combine them. A
// function that is faster on many points at once implements [Batch].
//
// Sources: Garrido-Merchán and Hernández-Lobato, "Dealing with Categorical and Integer-valued
// Variables in Bayesian Optimization with Gaussian Processes" (Neurocomputing, 2020), for the
// problem of rounding; Wan et al., "Think Global and Act Local: Bayesian Optimisation over
// High-Dimensional Categorical and Mixed Search Spaces" (ICML 2021), for alternating gradient steps
// and moves to neighbours; Bertsekas (1982) and Nocedal and Wright (2006) for the steps. Each
// acquisition function names its own.
//
// The package contains no model, does not decide what to sample, and does not know which designs
// were evaluated before. A call to Maximize starts goroutines and returns after they have ended;
// there are no others.
package acquisition
