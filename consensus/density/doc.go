// Package density implements the strategy density: agents share a density of the optimum's
// location. [Strategy] chooses designs with large expected improvement where the densities of peers
// are large. The exchange [newSharing] publishes the agent's own density, a protocol.Density. On
// tasks with constraints agents may instead share which of their designs were feasible (section
// "Shares of feasibility").
//
// # The design
//
// The next design maximises
//
//	ln EI(x) + γ_t · Σ_h w_h · g_h(x),   γ_t = β/t
//
// Here EI is the expected improvement under the agent's own posterior, t the number of own
// observations, and β a key of the task file. g_h is the logarithm of a density of the optimum that
// rule h pools from n densities π_j: that of each peer (at most 64, drawn anew for each trial), and
// one around each prior design of the user. The rules are no density, the arithmetic and the
// geometric mean, the product, and a rule between the last two (package pooling). With pooling:
// evidence, the default, the weight w_h is the probability of rule h given the own outcomes, with
// equal weights before the first. With pooling: product or mean, only the product or the geometric
// mean counts.
//
// Sources: Al Kontar, "Collaborative and Federated Black-box Optimization: A Bayesian Optimization
// Perspective" (2024), equation 8, after Hvarfner, Stoll, Souza, Lindauer, Hutter, Nardi, "πBO:
// Augmenting Acquisition Functions with User Beliefs for Bayesian Optimization" (ICLR 2022). There
// are three differences:
//
//   - Equation 8 prints the exponent β/T. If T is the total number of trials, it is constant, but the
//     paper's text says that it decays. The exponent here is that of πBO, β/t.
//   - Equation 8 multiplies the densities of all peers. This is pooling: product. By default own
//     outcomes weight the product against other rules: it misleads agents whose peers differ.
//   - A density may be wrong or false, and is therefore bounded: a density π relative to the uniform
//     one counts as π̂ between κ = 0.1 and C = 1000 ([pooling.Bounded]).
//
// Consider the score above, relative to uniform densities. With the geometric mean, one of n
// densities lowers no score by more than γ_t·ln(1/κ)/n and raises none by more than γ_t·ln(C)/n.
// With the product these are γ_t·ln(1/κ) and γ_t·ln(C), and package pooling states those of all
// rules. Let S = Σ_h w_h·S_h be the influence of all n densities: 0 without densities, 1 of the
// means, √n of the rule between, n of the product.
//
// Then the expected improvement of the chosen design is at least (κ/C)^(S·γ_t) times the largest
// that the maximiser finds, whatever densities peers publish. As t grows, this factor tends to 1,
// and the influence of the peers ends. (The analysis of πBO uses the same bound: the largest ratio
// of densities to the power γ_t.) S is at most n, by evidence too, since the densities influence
// the weights. pooling: mean has the strictest bound, S = 1.
//
// While the agent's own outcomes are uninformative ([search.Uninformed]), its model cannot identify
// promising designs, whatever t is. During that time γ_t is β, and all rules have equal weights.
// With probability 1/2 the agent ignores the densities and makes its own choice, which is random.
// So half of the designs are random at this stage, whatever peers publish.
//
// # The density
//
// With share: best (the default) and components: 1, a share is one normal around the design with
// the largest posterior mean. Its standard deviation is the spread of the task. On tasks with
// constraints, only designs that are probably feasible are considered. With more components, a
// share is a mixture of at most that number of normals, fitted to the maximisers of 32 posterior
// samples.
//
// Normals are isotropic and truncated to the unit cube. An integer parameter has the coordinate of
// its encoding. For a categorical parameter with L choices, a normal truncated to the unit interval
// is divided into L cells. The cell in the middle gives the probability of the centre's choice, and
// the other choices share the rest evenly. If the spread is small compared with 1/L, the centre's
// choice is nearly certain. If it is large, the choices are nearly uniform.
//
// # Shares of feasibility
//
// With share: feasibility, which needs a task with constraints, a share lists designs that its
// author has evaluated, and whether each was feasible (package feasibility). It contains neither
// the objective nor the values of the constraints. The receiver fits a Gaussian process of
// feasibility to the labels of peer j, with hyperparameters that the peer cannot choose. Its
// probability of feasibility P_j(x) gives the density
//
//	π_j(x) = P_j(x) / average of P_j over 256 designs of the space,
//
// which has the same bounds and guarantees as all other densities. It is the peer's density of
// feasible designs, not of good ones. Peers without a feasible design report only where not to
// search, which is little information. They are used only while no peer has a feasible design.
//
// # Noise
//
// On tasks with privacy, mechanism local, the centre of a single component has noise
// ([newReleases]), and its spread includes that noise. Such densities of all peers are combined to
// one joint density ([optimaDensity]), which becomes narrower as their number grows and is bounded
// like all others. Of several releases of a peer, the newest is used. The joint density counts as
// one, so all rules but the one without densities agree on it.
//
// The package weights rules, not single peers, by evidence, and does not check whether peers are
// present. Without privacy a share of one component discloses the design that its author
// considers the best.
package density
