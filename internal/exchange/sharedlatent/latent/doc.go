// Package latent models what several agents observe as outputs of one process, of which
// each agent keeps its own part and its observations: the federated multi-output Gaussian
// process of Chung and Al Kontar, "Federated multi-output Gaussian processes" (Technometrics
// 2024), in Al Kontar, "Collaborative and Federated Black-box Optimization" (2024), equation
// 10.
//
// Agents have latent functions u_q in common, Gaussian processes with squared exponential
// kernels. The function of agent k is
//
//	f_k = Σ_q S_kq·(u_q smoothed by a normal density of variance P_kq) + w_k,
//
// scaled so that each summand has the variance S_kq². w_k is a process of the agent's own,
// with an unknown constant mean; it is there with [Spec.Own] and not in the paper. Agents
// know each other through the values of the latent functions at the points Z, u.
//
// What an agent's observations say of u, given its own hyperparameters, is a normal factor,
// and a [Statement] holds it. [Spec.Gather] multiplies those of others, [Spec.Fit] learns
// hyperparameters given that product, [Spec.State] makes the agent's own statement and
// [Spec.Condition] predicts. Only statements leave an agent.
//
// Differences from the published code:
//
//   - The code averages the means m and the factors L of variational distributions N(m, LLᵀ),
//     weighted, and repeats local gradient steps. For given hyperparameters the best local
//     distribution is known, and the average that gives the best common one is that of
//     natural parameters: the product of the factors. So one exchange does what hundreds of
//     rounds approach.
//   - Each coordinate has its own normalising constant, and the prior variance of f_k counts
//     each latent function once.
//   - With [Spec.Own] the statements are not those of the variational bound but exact given
//     u: others' functions are independent of f_k when u is known. (So in Álvarez and
//     Lawrence, "Computationally efficient convolved multiple output Gaussian processes",
//     JMLR 2011, under the name PITC.) The prediction conditions on the agent's own
//     observations exactly, and not on what they leave of u.
//   - Hyperparameters have priors, since few observations leave them open.
//
// Statements promise no privacy: one after n observations has n rows, from which designs and
// results can be computed. Nor does anything here weigh one statement against another, so that
// a liar is believed.
package latent
