// Package latent models the functions of several agents as outputs of one process; each agent keeps
// its own part and its observations. It is the federated multi-output Gaussian process of Chung and
// Al Kontar, "Federated multi-output Gaussian processes" (Technometrics 2024), in Al Kontar,
// "Collaborative and Federated Black-box Optimization" (2024), equation 10.
//
// Agents have latent functions u_q in common, Gaussian processes with squared exponential kernels.
// The function of agent k is
//
//	f_k = Σ_q S_kq·(u_q smoothed by a normal density of variance P_kq) + w_k,
//
// scaled so that each summand has the variance S_kq². w_k is a process of the agent's own, with an
// unknown constant mean; it exists with [Spec.Own] and not in the paper. Agents exchange
// information only about u, the values of the latent functions at the points Z.
//
// The information of an agent's observations about u, given its own hyperparameters, is a normal
// factor, and a [Statement] holds it. [Spec.Gather] multiplies the factors of peers, [Spec.Fit]
// learns hyperparameters given that product, [Spec.State] makes the agent's own statement and
// [Spec.Condition] predicts. Only statements leave an agent.
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
// Statements provide no privacy: one after n observations has n rows, from which designs and
// outcomes can be computed. The package does not weight statements by trust, so false statements
// count fully.
package latent
