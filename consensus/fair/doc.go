// Package fair implements the strategy fair: parties evaluate one common function together and
// divide good results fairly. In each round the results of all parties determine one batch, with
// one design per party. The gain of a party is the sum of its results so far. The party with the
// smallest gain gets the best design. Package batch has the equations.
//
// Source, cited as S21: Sim, Zhang, Low and Jaillet, "Collaborative Bayesian Optimization with Fair
// Regret" (ICML 2021): algorithm 1 and equation 5; remarks 4 and 5; appendices B.2 and C.6.
//
// # Disclosure
//
// The parties are the nodes of the task's roster. One of them may be a mediator. With a mediator,
// all parties send it their signed evaluations. It sends each party a signed assignment with its
// next design. The mediator sees all raw results. Each other party learns only how its own gain
// compares with the average.
//
// Without a mediator every party sends its signed evaluations to all others. The parties take turns
// in proposing a batch, and the others check four properties of it:
//
//   - It uses the same evaluations, by the hashes of their chains.
//   - Its hyperparameters explain these evaluations as well as the checking party's own do.
//   - It leaves out no present party.
//   - Its value is at least that of the checking party's own batch, within 1e-6. From eight
//     parties on the tolerance is 0.2 deviations, since the search on another processor then ends
//     at another of many maxima.
//
// Parties that are late, silent or propose a wrong batch are passed over, and users are warned of
// them by name. Parties do not compare designs bit by bit, since floating point may differ between
// processors.
//
// Without a mediator every party therefore sees every result. This is unavoidable. A party that
// checks a batch must know the process and the gains. The differences of a party's gains between
// rounds are its results. One linear system also recovers the results from the mean and variance of
// the process at the designs. So a secret computation of the sums would disclose the same
// information. Only a mediator that all parties trust reduces the disclosure.
//
// # Rounds
//
// A party first evaluates its starting designs. A round then waits for the results of all parties
// with a design in the previous round, at most until a deadline that starts with the first result.
// It continues with the results that have arrived (package rounds). A late party keeps its design
// and gets its next one in the round after its result. It keeps its gain; chooser.gains documents
// the effect of missed rounds. A batch ignores the pending evaluations of late parties.
//
// Parties exchange direct messages. Every few seconds nodes request missing data from its author
// and from other parties, which store signed evaluations as well. Evaluations, batches and
// assignments are on disk before they have effects, so that a killed node continues from its last
// state. A node that was unreachable accepts a batch of a later round if a party other than the
// batch's author has evaluated in the round before.
//
// Parties that cannot reach each other may follow two proposers in one round. Each party evaluates
// the design of the first batch that it accepts, and all results count. There is no vote, since
// nothing requires that all parties have the same batch.
//
// # False results
//
// The users of all parties receive a warning that names a party for one of four reasons:
//
//   - It sends a message that no honest party sends.
//   - It signs two results of one evaluation. All parties then use the result with the smaller hash.
//   - It evaluates a design other than the one that a mediator assigned to it.
//   - A tenth or more of its results are outliers: their deviations from the prediction of the other
//     parties' results, and from that of all other results, are over four times the usual ones of
//     the other parties.
//
// A named party is not excluded: people have to find out whether it is dishonest or its machine
// differs. A node that has lost its journal and kept its key evaluates designs again whose results
// other parties store, and is named for signing two results. A party that reports results below its
// true ones gets the best designs. This package cannot detect that as long as the results fit the
// model.
//
// # The reward of a party without peers
//
// A party wants to know whether participation pays. With [strategy.Env.EstimateAlone], which nodes
// set, the exchange estimates the party's reward without peers. It simulates the party on draws
// from the posterior. Experiments do not set it, since they run the strategy without peers instead.
package fair
