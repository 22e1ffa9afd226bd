// Constrained measures how well one agent optimises alone under constraints, beside
// random search and the constrained expected improvement of BoTorch, on draws of the
// families of fbo-node simulate whose best feasible value is known.
//
//	go run ./constrained --python python3 --draws 30 --evals 30
//	go run ./constrained --table
//
// A run is one method on the first member of one draw of a family, without noise. All
// methods have the same starting designs: as many random ones as a task file has by
// default. The regret after n evaluations is that of the best feasible design so far,
// and the objective's range while there is none.
//
// BoTorch runs in a Python process, proposer.py. The process receives all observations
// and returns a design; this program evaluates, so that all methods use the same functions.
// The settings are those that BoTorch's documentation recommends: a SingleTaskGP with
// standardised outcomes for each output, qLogNoisyExpectedImprovement with 512 samples, and
// optimize_acqf with 10 restarts of 512 raw samples.
//
// Each run appends one line to the file of results, with regrets and versions. Runs
// that are in the file already are not repeated. --table needs no Python.
package main
