// Package sharedlatent extends the surrogate by a latent function that the objectives of all nodes
// have in common (type: shared-latent). After each observation a node publishes a statement: the
// information that its observations give about that function. The posterior of a node uses the
// statements of its peers.
//
// Statements can be multiplied in any order, so nodes neither wait for each other nor average in
// rounds. Package latent has the model and its source.
package sharedlatent
