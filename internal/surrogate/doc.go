// Package surrogate models the objective of one task from one agent's observations.
//
// A [Model] is a kind of surrogate on one task. Its Fit is slow and returns [Hyperparameters],
// which a caller may store. Its Condition is repeatable and returns a [Posterior], which predicts,
// draws functions to maximise, and draws the vectors of weights that agents share. There are two
// kinds:
//
//   - exact: a Gaussian process with learned lengthscales (package gp). Its shared weights are a
//     sample path projected onto the task's shared features by ridge regression. It is the choice
//     for up to some hundred observations. A task may fix the hyperparameters
//     (task.FixedHyperparameters), in the objective's own units; then the data determine only the
//     function.
//   - rff: the Bayesian linear model over random features (package rff), as in Dai, Low and
//     Jaillet, "Federated Bayesian Optimization via Thompson Sampling" (NeurIPS 2020). It predicts
//     with its own features, with the lengthscales that the exact process learns and an unknown
//     level. It shares the posterior over the shared features, at the lengthscales of the task:
//     weights are drawn from their equation 3. Its cost does not grow with the cube of the
//     observations, but it becomes over-confident as they approach the features in number.
//
// An extension (package sharedlatent) makes the exact process a [PeerModel], whose posterior also
// uses peers' shares.
//
// Outputs are standardised here, with the agent's own mean and deviation and a
// bent bad tail, so that functions of different agents are comparable in shape, though not in
// units. With fixed hyperparameters their mean and standard deviation are used, the same for all
// agents, and nothing is bent. Larger is better; a caller that minimises negates. The package does
// not see designs, only their encodings, and knows nothing of other agents.
package surrogate
