// Package averageobjective implements the strategy average-objective: one design for all agents.
// Agent k can evaluate only its own objective f_k, and the federation needs the design that
// maximises the average
//
//	F(x) = Σ_k p_k f_k(x),   p_k = 1/K
//
// in the objective's units, over the K agents whose shares a node has, itself included.
//
// Agents share the mean m_k and the variance v_k of their posteriors, as weights over the features of
// the task ([posteriormean]). The posteriors of different agents are independent, so F has the mean
// Σ_k p_k m_k and the variance Σ_k p_k² v_k (average). A trial of agent k maximises the mean of F plus
// 2·√K·p_k·√v_k, an upper confidence bound in which the own variance stands for those of all
// ([Strategy]). The recommended design maximises the mean of F minus one standard deviation of F. It
// depends on the shares only, so agents with the same shares recommend the same design.
//
// Source: Al Kontar, "Collaborative and Federated Black-box Optimization: A Bayesian Optimization
// Perspective" (2024), equation 3, max_x Σ_k p_k E[U(f_k(x))]. There are three differences:
//
//   - The utility is the bound of the average objective, and not an average of expected improvements.
//     These would be improvements of each agent over its own best design, which the federation does not
//     use.
//   - Agents evaluate different designs: each explores where it can learn something about the average.
//     The paper itself calls the same experiment for all agents inefficient.
//   - There are no rounds. An agent uses the newest share of each peer, and waits for none.
//
// The surrogate does not bend bad outcomes, unlike that of other strategies with one objective
// ([task.StrategyType]).
//
// The package has no exchange of its own, and does not check whether an average is what users need:
// it may be bad for each agent if optima differ.
package averageobjective
