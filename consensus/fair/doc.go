// Package fair is the strategy of parties that evaluate one common function together and divide
// good results fairly. In each round the results of all determine one batch with one design per
// party. The party with the smallest gain gets the best design. Package batch has the equations.
//
// Source: Sim, Zhang, Low and Jaillet, "Collaborative Bayesian Optimization with Fair
// Regret" (ICML 2021): algorithm 1 and equation 5; remarks 4 and 5; appendices B.2 and C.6.
//
// # Who sees what
//
// The parties are the task's roster. With a mediator, one of them, all send it what they
// have evaluated, signed, and it sends each its next design, signed. It sees all raw
// results; the others see nothing of each other but how their own gain compares with the
// average.
//
// Without a mediator every party sends signed evaluations to all. The party that has the turn sends
// the batch, and the others check it: that it uses the same evaluations, by the hashes
// of their chains, that its hyperparameters explain these as well as their own do, that it
// leaves out no present party, and that it is worth as much as the batch that they find
// themselves, within 1e-6; from eight parties on within 0.2 deviations, since there the search
// ends at another of many maxima on another processor. Late, silent or wrong parties are passed over
// and named.
// Parties do not compare designs bit by bit, since floating point may differ between processors.
//
// Every party then sees every result, which cannot be avoided here: a party that checks a
// batch must know the process and the gains. The gains of a party, round by round, have its
// results as their differences; and the mean of the process at the designs, known together
// with its variance, gives back the results by one linear system. A sum that is computed in
// secret would disclose the same. Only a mediator that all parties trust reduces the disclosure.
//
// # Rounds
//
// A party first evaluates its starting designs. Then a round waits for the results of all
// who got a design in the one before, at most until a deadline after the first of them, and
// goes on with those that are there (package rounds). Who is late keeps its design; when its
// result comes, it gets one in the next round. Its gain stays counted: see chooser.gains for
// rounds that it has missed. Batches do not know what late parties still evaluate.
//
// Messages are direct. Lost data is requested every few seconds, from its author and
// from others, who hold signed evaluations as well. Evaluations, batches and assignments are
// on disk before anything follows from them, so that a node that was killed goes on where it
// was. A node that was out of reach follows a batch of a later round when another party than
// its author has evaluated in the round before.
//
// Two proposers may both be followed in one round, by parties that were cut off from each
// other: each party evaluates the design of the first batch that it accepts, and all results
// count. There is no vote, since nothing depends on all having the same batch.
//
// # Liars
//
// A party is named to all that sends what no honest party sends, that signs two results of
// one evaluation (of which all then use the one of smaller hash), that evaluates another
// design than a mediator has assigned to it, or of whose results a tenth or more are over
// four times as far from what all others predict as those of the others are. It is named and
// not shut out: whether it lies, or its machine differs, is for people to find out. A node
// that has lost its journal and kept its key evaluates anew what others hold of it, and is
// named for two results. A party that reports lower results than it has
// is served first; nothing here can see that, as long as the results fit.
//
// # The reward of a party without peers
//
// A party wants to know whether participation pays. If [strategy.Env.EstimateAlone] is set, an
// exchange simulates the party without peers on draws from its process. A node sets it. An
// experiment runs the strategy without peers instead.
package fair
