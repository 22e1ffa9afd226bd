// Package baseline has methods to which the strategies of this project are compared:
//
//   - random search ([NewRandom]);
//   - two ensembles that weight the models of peers ([NewRGPE], [NewTAF]);
//   - Gaussian processes of all members' raw observations ([NewPooled], [NewMultitask]);
//   - sums of samples by a trusted server ([NewTrusted]);
//   - one design for all members ([NewGlobal]);
//   - two methods with a server that members of similar functions compare with: places of optima
//     ([NewGuide]) and averages of hyperparameters ([NewFMTBO]).
//
// They are for simulations only. The data that their agents exchange is too large or discloses too
// much for the network of a node. They therefore read it from a [Pool], which the simulator fills.
//
// Sources: Feurer, Letham, Bakshy, "Scalable Meta-Learning for Bayesian Optimization" (arXiv
// 1802.02219, first version), for the ranking-weighted ensemble RGPE; Wistuba, Schilling,
// Schmidt-Thieme, "Scalable Gaussian process-based transfer surrogates for hyperparameter
// optimization" (Machine Learning, 2018), for the transfer acquisition function TAF, in the form of
// the code that Feurer and others published; Dai, Low, Jaillet, "Federated Bayesian Optimization
// via Thompson Sampling" (NeurIPS 2020), which compares with both, for the size of their messages
// ([MessageNumbers]).
//
// Differences from the published methods, all in their favour: peers' models are exact posteriors,
// which hold more information than the random-feature models of the published comparison. Peers
// continue to learn, and all members get their models at once and without loss.
//
// The pooled processes show what methods that hide observations can reach at most, but only under
// two assumptions. First, all pairs of members are equally similar (for NewPooled: equal) and
// equally noisy, which excludes clusters of members. Second, outputs of different members are
// comparable as they are ([CommonUnits]), or after each member has standardised its own
// ([OwnUnits]).
//
// The package has no exchanges and no payloads. It supports the exact surrogate only.
package baseline
