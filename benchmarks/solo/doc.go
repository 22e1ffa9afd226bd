// Solo measures how well one agent optimises alone, beside other methods, on
// test functions whose optimum is known.
//
//	go run ./solo --functions branin,hartmann6 --methods random,ts-exact --seeds 5 --out results.jsonl
//
// A run is one method on one function with one seed. The seed determines the shift of
// the function's optimum (testfunc.Shifted) and the noise of the k-th evaluation. Both
// are the same for all methods, so that comparisons are paired. The seed also determines
// all random decisions of the method.
//
// The simple regret after n evaluations is the noise-free value of the incumbent
// less the optimum. The incumbent is the evaluated design with the least
// OBSERVED value among the first n, the earliest of equals: without noise the
// best design so far, with noise perhaps a lucky one, as it would be for a user.
//
// The methods botorch, optuna-gp and turbo are those of rivals.py, in a Python process. The
// process receives observations and returns designs; this program evaluates, so that all
// methods use the same functions and noise. Both start with the designs that this
// project's engine evaluates first with the same seed.
//
// Worker processes with GOMAXPROCS=1 share the runs. The cost of a run is the processor
// time of its worker during the run, the function itself included (microseconds), and of
// its Python, which starts before the run. Each run appends one line to the file of
// results. Runs that are in the file already are not repeated, so that the same command
// continues after a stop.
package main
