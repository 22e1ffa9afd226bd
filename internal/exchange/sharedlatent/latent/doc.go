// Package latent models the functions of several agents as outputs of one Gaussian process. Each
// agent keeps its observations, and a part of the model that is its own. The model is the federated
// multi-output Gaussian process of Chung and Al Kontar, "Federated multi-output Gaussian processes"
// (Technometrics 2024), also in Al Kontar, "Collaborative and Federated Black-box Optimization"
// (2024), equation 10.
//
// All agents have Q latent functions u_q in common, Gaussian processes with squared exponential
// kernels. The function of agent k is
//
//	f_k = Σ_q S_kq·(u_q smoothed by a normal density of variance P_kq) + w_k,
//
// scaled so that summand q has variance S_kq². S_kq is called a gain. w_k is a process of the
// agent's own, with an unknown constant mean. It exists only with [Spec.Own], and not in the paper.
// Agents exchange information only about u, the values of the latent functions at the points Z.
//
// The information of an agent's observations about u, given the agent's hyperparameters, is a
// normal factor of the likelihood. A [Statement] holds that factor. [Spec.Gather] multiplies the
// factors of peers, [Spec.Fit] learns hyperparameters given the product, [Spec.State] returns the
// agent's own statement and [Spec.Condition] returns the posterior. An agent publishes only
// statements.
//
// Differences from the published code:
//
//   - The code averages the means m and the factors L of variational distributions N(m, LLᵀ),
//     weighted, and repeats local gradient steps. For given hyperparameters the best local
//     distribution is known, and the best common one results from averaging natural parameters: it
//     is the product of the factors. Therefore one exchange gives the limit of hundreds of rounds.
//   - Each coordinate has its own normalising constant, and the prior variance of f_k counts each
//     latent function once.
//   - With [Spec.Own] the statements are not those of the variational bound but exact given u: the
//     functions of other agents are independent of f_k given u. (This is PITC in Álvarez and
//     Lawrence, "Computationally efficient convolved multiple output Gaussian processes", JMLR
//     2011.) The prediction conditions on the agent's own observations exactly, and not only on
//     their information about u.
//   - Hyperparameters have priors, because few observations do not determine them.
//
// Statements provide no privacy: a statement after n observations has up to n rows, from which
// designs and outcomes can be computed. The package does not weight statements by trust, so false
// statements have full weight.
package latent
