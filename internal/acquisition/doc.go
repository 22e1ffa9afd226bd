// Package acquisition contains acquisition functions and the search for their maximum over the
// designs of a task. The maximiser is the next design to evaluate.
//
// A [Maximizer] maximises any [Function] over designs. Every point at which it evaluates the
// function is a design: ints are whole numbers, and each categorical parameter has one choice. A
// search that rounds only its final result would propose the same few designs again and again. In
// Thompson sampling the function is the sampled function itself. [Mean], [UCB], [LCB], [EI],
// [LogEI], [LogGain] and [LogFeasibility] make a function from a [Predictor] or its limits, and
// [LogNEHVI] from several objectives. [Sum] and [Penalised] combine functions. A function implements [Batch] if it evaluates many points at
// once faster than one by one.
//
// Sources: Garrido-Merchán and Hernández-Lobato, "Dealing with Categorical and Integer-valued
// Variables in Bayesian Optimization with Gaussian Processes" (Neurocomputing, 2020), for the
// problem of rounding; Wan et al., "Think Global and Act Local: Bayesian Optimisation over
// High-Dimensional Categorical and Mixed Search Spaces" (ICML 2021), for gradient steps that
// alternate with moves to neighbours; Bertsekas (1982) and Nocedal and Wright (2006) for the
// gradient steps. Each acquisition function names its own source.
//
// The package contains no model. It does not choose the acquisition function and does not know
// which designs were evaluated. Maximize may start goroutines, and returns after all of them have
// ended; the package has no other goroutines.
package acquisition
