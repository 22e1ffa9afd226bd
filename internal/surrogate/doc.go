// Package surrogate models the objective of one task from one agent's observations.
//
// A [Model] is a kind of surrogate for one task. Its Fit is slow and returns [Hyperparameters],
// which a caller may store. Its Condition is repeatable and returns a [Posterior]. A Posterior
// predicts, draws functions that a caller maximises, and draws the vectors of weights that agents
// share. There are two kinds:
//
//   - exact: a Gaussian process with learned lengthscales (package gp). The weights that an agent
//     shares are a sample path, projected onto the task's shared features by ridge regression. This
//     kind suits up to some hundred observations. A task may fix the hyperparameters
//     (task.FixedHyperparameters) in the objective's own units. Only the function is then learned.
//   - rff: the Bayesian linear model over random features (package rff), as in Dai, Low and
//     Jaillet, "Federated Bayesian Optimization via Thompson Sampling" (NeurIPS 2020). It predicts
//     with features of its own, which have the lengthscales that the exact process learns, and an
//     unknown level. The weights that an agent shares are draws from a second posterior (their
//     equation 3), over the shared features at the lengthscales of the task. The cost does not grow
//     with the cube of the observations. The posterior becomes over-confident as the number of
//     observations approaches the number of features.
//
// An extension (package sharedlatent) makes the exact process a [PeerModel], whose posterior also
// uses peers' shares.
//
// The package standardises outputs with the agent's own mean and standard deviation, and bends the
// tail of bad values. Functions of different agents are then comparable in shape, but not in units.
// With fixed hyperparameters it uses their mean and standard deviation, which are the same for all
// agents, and bends nothing. Larger outputs are better; a caller that minimises negates its
// outputs. The package sees encodings of designs, not designs, and knows nothing of other agents.
package surrogate
