// Robust measures how one agent alone copes with objectives that have flat regions,
// failures, outliers, noise and penalties, beside random search and samplers of Optuna.
//
//	go run ./robust --rows '^flat/' --methods fbo,random
//	go run ./robust --python PYTHON --json results.jsonl
//
// A run is one method on one row with one seed. The seed decides the noise, the outliers and
// the machine failures of the k-th evaluation, the same for all methods, and every chance
// within the method. Methods have their own starting designs and all their defaults.
//
// The method fbo is this project's agent in memory. On rows that fail, a node runs as well,
// by node.Session.Run, to find whether the node gives up before it reaches its number of
// evaluations.
//
// The regret is the true value of the design with the least observed value, less the
// optimum. README.md lists what the rows measure, and where they come from.
package main
