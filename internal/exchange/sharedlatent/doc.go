// Package sharedlatent is the exchange of nodes whose surrogate is of type shared-latent: after
// each observation a node states what its observations say of the latent function that all
// have in common, and its own posterior uses the statements of the others.
//
// There are no waits and no rounds of averaging, since statements can be multiplied in any order
// (package latent has the model and its source).
package sharedlatent
