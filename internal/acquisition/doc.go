// Package acquisition has the functions by whose maximum the next design is
// chosen, and the search for that maximum over the designs of a task.
//
// A [Maximizer] maximises any [Function] over the decoded space: every point at
// which it evaluates the function stands for a design, so ints are whole numbers
// and categories are one choice. Rounding only the final answer would make a
// search propose the same few designs again and again. In Thompson sampling the
// function is the sampled one itself. [Mean], [UCB], [LCB], [EI], [LogEI],
// [LogGain] and [LogFeasibility] make one from a [Predictor]; [Sum] and [Penalised] combine them.
// A function that is faster on many points at once says so by [Batch].
//
// Sources: Garrido-Merchán and Hernández-Lobato, "Dealing with Categorical and
// Integer-valued Variables in Bayesian Optimization with Gaussian Processes"
// (Neurocomputing, 2020), for the trouble with rounding; Wan et al., "Think
// Global and Act Local: Bayesian Optimisation over High-Dimensional Categorical
// and Mixed Search Spaces" (ICML 2021), for taking gradient steps and moves to
// neighbours in turn; Bertsekas (1982) and Nocedal and Wright (2006) for the
// steps. Each acquisition function names its own.
//
// The package does not model anything, does not decide what to sample, and does
// not know which designs were evaluated before. The only goroutines are those of
// a call to Maximize, which ends when they have ended.
package acquisition
