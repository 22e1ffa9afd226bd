// Package density lets agents share where they believe the optimum to be:
// [Strategy] chooses designs of large expected improvement in places that peers
// believe in, and the exchange [newSharing] publishes the agent's own belief, a
// protocol.Density. On tasks with constraints agents may share which of their designs were
// feasible instead: see below.
//
// # The design
//
// The next design maximises
//
//	ln EI(x) + γ_t · (1/n) Σ_j ln π̂_j(x),   γ_t = β/t
//
// where EI is the expected improvement by the agent's own posterior, t the number
// of own observations, and π̂_j one of n densities: that of each peer (of at most
// 64, drawn anew for each trial), and one around each design that the user
// suggests. Sources: Al Kontar, "Collaborative and Federated Black-box
// Optimization: A Bayesian Optimization Perspective" (2024), equation 8, after
// Hvarfner, Stoll, Souza, Lindauer, Hutter, Nardi, "πBO: Augmenting Acquisition
// Functions with User Beliefs for Bayesian Optimization" (ICLR 2022). Departures:
//
//   - Equation 8 prints the exponent β/T, which does not change with the trials if
//     T is their total, while its text says that it decays. The exponent here is
//     πBO's.
//   - Equation 8 multiplies the densities of all peers. Here their geometric mean
//     counts, or else many peers who know the same would outvote the agent's own
//     observations.
//   - A density may be wrong, or a lie, and so is bounded.
//
// Of a density π, relative to the uniform density on the designs, there counts
//
//	π̂ = C·π̃/(C - 1 + π̃),   π̃ = κ + (1 - κ)·π,   κ = 0.1, C = 1000,
//
// which leaves π = 1 as it is and lies between κ and C. So, measured against
// believing nothing, one of n densities lowers the score of no design by more than
// γ_t·ln(1/κ)/n, raises none by more than γ_t·ln(C)/n, and shifts none against
// another by more than γ_t·ln(C/κ)/n.
//
// It follows that the expected improvement of the design is at least (κ/C)^γ_t
// times the largest that the maximiser finds, whatever densities peers publish. As t grows
// this tends to 1, and the influence of the peers ends. (πBO's analysis uses
// the same: the largest ratio of densities to the power γ_t.)
//
// While the agent's own outcomes are uninformative (search.Uninformed), its labels contain little
// information on promising designs, however many they are. Until they are informative, γ_t is
// β, and every design is with probability 1/2 that of the agent alone, a random one. So
// whatever peers publish then, half of the designs are random.
//
// # The density
//
// With share: best (the default) and components: 1 a share is a normal of the task's
// spread around the design of largest posterior mean, on tasks with constraints among
// those believed to be feasible. With more components it is a mixture of up to that number of
// normals, fitted to the maximisers of 32 samples of the posterior. Normals are isotropic
// and truncated to the unit cube. An int counts as the coordinate at which it is
// encoded. A categorical of L choices has the law of a normal truncated to the
// unit interval on L cells of it, one for each choice, with the centre's choice in
// the middle, where the other choices share evenly what is left: nearly certain
// when the spread is small against 1/L, uniform when it is large.
//
// # Feasible or not
//
// With share: feasibility, which needs a task with constraints, a share holds designs that
// its author has evaluated and whether each was feasible (package feasibility), so that neither
// the objective nor the numbers behind the constraints are sent. The receiver makes of
// the labels of peer j a process of what is true or false, with hyperparameters that the
// peer cannot choose. Its probability P_j(x) of being feasible gives the density
//
//	π_j(x) = P_j(x) / average of P_j over 256 designs of the space,
//
// which is bounded as any other, so that all that is said above holds. It is the peer's
// density of feasible designs, not of good ones. Peers that know no feasible design say
// where not to look, which is little: they count only while no peer knows one.
//
// # Noise
//
// On tasks with privacy, mechanism local, the centre of a single component has noise
// ([newReleases]), and its spread is wider by that. Such densities count as one, of all peers
// together, which is as narrow as their number makes it (crowd), and bounded as every
// other. Of several releases of one peer the newest counts.
//
// The package does not weigh peers by how well they did and does not ask whether they
// are present. Without privacy a share of one component discloses the design that its author
// considers the best.
package density
