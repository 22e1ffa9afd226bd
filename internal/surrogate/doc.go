// Package surrogate models the objective of one task from one agent's
// observations.
//
// A [Model] is a kind of surrogate on one task. Its Fit is slow and gives
// [Hyperparameters], which a caller may store; its Condition is repeatable and
// gives a [Posterior], which predicts, draws functions to maximise, and draws
// the vectors of weights that agents share. There are three kinds:
//
//   - exact: a Gaussian process with learned lengthscales (package gp). Its
//     shared weights are a sample path projected onto the task's shared
//     features by ridge regression. The choice for up to some hundred
//     observations. A task may fix the hyperparameters (task.FixedHyperparameters), in the
//     objective's own units; then the data inform only the function.
//   - rff: the Bayesian linear model over random features (package rff), as in Dai,
//     Low and Jaillet, "Federated Bayesian Optimization via Thompson Sampling"
//     (NeurIPS 2020). It predicts by features of its own, with the lengthscales that
//     the exact process learns and an unknown level. What it shares is the posterior
//     over the shared features, at the lengthscales of the task: weights are drawn
//     from their equation 3. Its cost does not grow with the cube of the
//     observations, but it becomes over-confident as they approach the features
//     in number.
//   - shared-latent: the exact process, which becomes one of several outputs of a
//     process that agents have in common ([Listener], package latent) as soon as
//     peers state what they know of that. What it shares is the exact process's.
//
// Outputs are standardised here, with the agent's own mean and deviation and a
// bent bad tail, so that functions of different agents are comparable in shape
// though not in units; with fixed hyperparameters by their mean and standard deviation, the same
// for all agents, and nothing is bent. Larger is better; a caller who minimises negates. The package does not
// see a design, only its encoding, and knows nothing of other agents.
package surrogate
