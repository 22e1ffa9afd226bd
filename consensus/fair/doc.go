// Package fair is the strategy of parties that evaluate one common function together and divide
// good results fairly. In each round the results of all determine one batch with one design per
// party. The party with the smallest gain gets the best design. Package batch has the equations.
//
// Source: Sim, Zhang, Low and Jaillet, "Collaborative Bayesian Optimization with Fair
// Regret" (ICML 2021): algorithm 1 and equation 5; remarks 4 and 5; appendices B.2 and C.6.
//
// # Disclosure
//
// The parties are the task's roster, and one of them may be a mediator. With a mediator, all
// parties send it their signed evaluations, and it sends each party a signed assignment with its
// next design. The mediator sees all raw results. Each other party learns only how its own gain
// compares with the average.
//
// Without a mediator every party sends signed evaluations to all. The party that has the turn sends
// the batch, and the others check four properties:
//
//   - It uses the same evaluations, by the hashes of their chains.
//   - Its hyperparameters explain these evaluations as well as the checking party's own do.
//   - It leaves out no present party.
//   - Its value is at least that of the checking party's own batch, within 1e-6. From eight
//     parties on the tolerance is 0.2 deviations, since the search on another processor then ends
//     at another of many maxima.
//
// Late, silent or wrong parties are passed over and named. Parties do not compare designs bit by
// bit, since floating point may differ between processors.
//
// Without a mediator every party therefore sees every result. This is unavoidable: a party that
// checks a batch must know the process and the gains. The differences of a party's gains between
// rounds are its results. One linear system also recovers the results from the mean and variance of
// the process at the designs. A secret computation of the sums would disclose the same. Only a
// mediator that all parties trust reduces the disclosure.
//
// # Rounds
//
// A party first evaluates its starting designs. A round then waits for the results of all parties
// with a design in the previous round, at most until a deadline after the first result. It continues
// with the results that have arrived (package rounds). A late party keeps its design and gets its
// next one in the round after its result. Its gain remains counted; chooser.gains documents the
// effect of missed rounds. A batch does not account for the pending evaluations of late parties.
//
// Messages are direct. Every few seconds nodes request lost data from its author and from other
// parties, which store signed evaluations as well. Evaluations, batches and assignments are on disk
// before they have effects, so that a killed node continues from its last state. A node that was
// unreachable follows a batch of a later round if a party other than its author has evaluated in
// the round before.
//
// Parties that cannot reach each other may follow two proposers in one round. Each party evaluates
// the design of the first batch that it accepts, and all results count. There is no vote, since
// nothing requires that all parties have the same batch.
//
// # False results
//
// A party is named to all parties for one of four reasons:
//
//   - It sends a message that no honest party sends.
//   - It signs two results of one evaluation. All parties then use the one with the smaller hash.
//   - It evaluates a design other than the one that a mediator assigned to it.
//   - A tenth or more of its results are outliers: their deviations from the prediction of all
//     other results are over four times those of the other parties.
//
// A named party is not excluded: people have to find out whether it lies or its machine differs. A
// node that has lost its journal and kept its key evaluates designs again whose results other
// parties store, and is named for two results. A party that reports results below its true ones is
// served first; this package cannot detect that as long as the results fit.
//
// # The reward of a party without peers
//
// A party wants to know whether participation pays. If [strategy.Env.EstimateAlone] is set, an
// exchange simulates the party without peers on draws from its process. A node sets it. An
// experiment runs the strategy without peers instead.
package fair
