// Package density lets agents share a density of the optimum's location. [Strategy] chooses
// designs of large expected improvement where peers' densities are large. The exchange
// [newSharing] publishes the agent's own density, a protocol.Density. On tasks with constraints
// agents may instead share which of their designs were feasible: see below.
//
// # The design
//
// The next design maximises
//
//	ln EI(x) + γ_t · (1/n) Σ_j ln π̂_j(x),   γ_t = β/t
//
// where EI is the expected improvement by the agent's own posterior, t the number
// of own observations, and π̂_j one of n densities: that of each peer (at most 64,
// drawn anew for each trial), and one around each prior design of the user. Sources: Al Kontar, "Collaborative and Federated Black-box
// Optimization: A Bayesian Optimization Perspective" (2024), equation 8, after
// Hvarfner, Stoll, Souza, Lindauer, Hutter, Nardi, "πBO: Augmenting Acquisition
// Functions with User Beliefs for Bayesian Optimization" (ICLR 2022). Departures:
//
//   - Equation 8 prints the exponent β/T, which does not change with the trials if
//     T is their total, while its text says that it decays. The exponent here is
//     πBO's.
//   - Equation 8 multiplies the densities of all peers. Here their geometric mean
//     counts, since otherwise many peers with the same information would outweigh the
//     agent's own observations.
//   - A density may be wrong or false, and is therefore bounded.
//
// A density π, relative to the uniform density on the designs, counts as
//
//	π̂ = C·π̃/(C - 1 + π̃),   π̃ = κ + (1 - κ)·π,   κ = 0.1, C = 1000,
//
// which maps π = 1 to 1 and lies between κ and C. Relative to the uniform density, one of
// n densities therefore lowers no score by more than γ_t·ln(1/κ)/n and raises none by more
// than γ_t·ln(C)/n. It shifts no score against another by more than γ_t·ln(C/κ)/n.
//
// It follows that the expected improvement of the design is at least (κ/C)^γ_t
// times the largest that the maximiser finds, whatever densities peers publish. As t grows
// this tends to 1, and the influence of the peers ends. (πBO's analysis uses the same bound:
// the largest ratio of densities to the power γ_t.)
//
// While the agent's own outcomes are uninformative ([search.Uninformed]), its model has little
// information on promising designs, whatever t is. Until then γ_t is β, and each design is with
// probability 1/2 the agent's own choice, which is random. So half of the designs are random
// at this stage, whatever peers publish.
//
// # The density
//
// With share: best (the default) and components: 1 a share is a normal of the task's
// spread around the design of largest posterior mean. On tasks with constraints that is the
// largest among designs that are probably feasible. With more components a share is a mixture of
// up to that number of normals, fitted to the maximisers of 32 samples of the posterior. Normals
// are isotropic and truncated to the unit cube. An int has the coordinate of its encoding. A
// categorical of L choices has a normal truncated to the unit interval, which is divided into
// L cells. The cell in the middle is the centre's choice, and the other choices share the remaining
// probability evenly. The centre's choice is nearly certain if the spread is small against 1/L,
// and the choices are uniform if it is large.
//
// # Shares of feasibility
//
// With share: feasibility, which needs a task with constraints, a share holds designs that
// its author has evaluated and whether each was feasible (package feasibility). It contains neither
// the objective nor the values of the constraints. The receiver fits a process of truth values
// to the labels of peer j, with hyperparameters that the peer cannot choose. Its probability
// P_j(x) of feasibility gives the density
//
//	π_j(x) = P_j(x) / average of P_j over 256 designs of the space,
//
// which has the same bounds and guarantees as every other density. It is the peer's density of
// feasible designs, not of good ones. Peers without a feasible design only report where not to
// search, which is little information: they count only while no peer has a feasible design.
//
// # Noise
//
// On tasks with privacy, mechanism local, the centre of a single component has noise
// ([newReleases]), and its spread includes that noise. Such densities of all peers count as one
// joint density, which becomes narrower with their number (optimaDensity) and is bounded like every
// other. If a peer has several releases, the newest counts.
//
// The package does not weight peers by the quality of their densities, and does not check whether
// they are present. Without privacy a share of one component discloses the design that its author
// considers the best.
package density
