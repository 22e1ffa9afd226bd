// Package baseline has the methods against which those of this project are measured: random search
// ([NewRandom]), two methods that weigh the models of peers ([NewRGPE], [NewTAF]), Gaussian
// processes of all members' raw observations ([NewPooled], [NewMultitask]), sums by a trusted
// server ([NewTrusted]), and one design for all ([NewGlobal]). They are for simulations: the data
// that their agents exchange is too large or too revealing for the network of a node, so they read
// it from a [Pool], which the simulator keeps.
//
// Sources: Feurer, Letham, Bakshy, "Scalable Meta-Learning for Bayesian
// Optimization" (arXiv 1802.02219, first version), for the ranking-weighted
// ensemble RGPE; Wistuba, Schilling, Schmidt-Thieme, "Scalable
// Gaussian process-based transfer surrogates for hyperparameter optimization"
// (Machine Learning, 2018), in the form of the code that Feurer and others
// published, for the transfer acquisition function TAF; Dai, Low, Jaillet,
// "Federated Bayesian Optimization via Thompson Sampling" (NeurIPS 2020), which
// compares with both, for the size of their messages ([MessageNumbers]).
//
// Departures, all in favour of these methods. Peers' models are their exact posteriors, which hold
// more information than the random-feature models of the published comparison. Peers continue to
// learn, and all members get their models at once and without loss.
//
// The pooled processes are meant as a bound on what methods that hide observations can reach. They
// are a bound only under their assumptions. All pairs of members are equally similar (and, for
// NewPooled, the same) and equally noisy, which excludes clusters of members. Outputs are
// comparable as they are ([CommonUnits]) or after each member has standardised its own
// ([OwnUnits]).
//
// The package has neither exchanges nor payloads, and accepts the exact
// surrogate only.
package baseline
