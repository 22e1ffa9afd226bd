// Package sharedlatent extends the surrogate by a latent function that the objectives of all nodes
// have in common (type: shared-latent). After each observation a node publishes a statement: the
// information of its observations about that function. Its posterior uses peers' statements.
//
// There are no waits and no rounds of averaging, because statements can be multiplied in any order
// (package latent has the model and its source).
package sharedlatent
