// Solo measures how well one agent optimises alone, beside other methods, on
// test functions whose optimum is known.
//
//	go run ./solo --functions branin,hartmann6 --methods random,ts-exact --seeds 5 --out results.jsonl
//
// A run is one method on one function with one seed. The seed decides where the
// function's optimum is shifted to (testfunc.Shifted) and the noise of its k-th
// evaluation, the same for all methods, so that methods are compared in pairs;
// and it decides every chance within the method.
//
// The simple regret after n evaluations is the noise-free value of the incumbent
// less the optimum. The incumbent is the evaluated design with the least
// OBSERVED value among the first n, the earliest of equals: without noise the
// best design so far, with noise perhaps a lucky one, as it would be for a user.
//
// The methods botorch and optuna-gp are those of rivals.py, in a Python process
// that is told what is observed and answers with designs: this program evaluates,
// so that all see the same functions and noise. Both start with the designs that
// this project's engine evaluates first with the same seed.
//
// Runs are spread over worker processes, each with one GOMAXPROCS. What a run
// costs is the processor time of its worker over the run, the function itself
// included (microseconds), and of its Python, which starts before the run. A line
// per run is appended to the file of results; runs that it holds already are not
// repeated, so that the same command goes on after a stop.
package main
