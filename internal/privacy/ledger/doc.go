// Package ledger keeps the privacy budget of a node, and the part that the node has spent. A
// [Ledger] adds the noise that the task's privacy budget requires to a vector. It counts the DP
// release before the vector leaves the node. It refuses releases once the planned number is spent,
// or if the journal cannot be trusted.
//
// # The steps of a release
//
// A Ledger returns the record of a release together with its noisy weights. The agent writes both,
// and the exact bytes that are sent, to disk in one transaction before any peer receives them. A
// resend uses the same bytes. After a crash between any two steps, either no trace of the release
// is left, or it is counted.
//
// No local check can detect that a journal was restored from a backup or copied. The node would
// then count releases again from an earlier number. Therefore every release has a random name, and
// peers store the receipt of an author's releases ([protocol.Receipt]), which never expires. A
// Ledger makes no release before more than half of the present peers have sent all their shares in
// this run. Unless its account began in this run, it also needs a peer's receipt that contains its
// last release or the one before, or all releases that a peer has stored by the journal. If a peer reports a release that the journal lacks, the Ledger
// refuses all further releases permanently, and counts that release too.
//
// Present peers that send nothing delay releases for five minutes ([Patience]). After that, one
// peer that has sent its shares is sufficient. These checks do not protect a node whose peers have
// all lost its receipts, send false ones, or were absent since the backup.
//
// # Which releases
//
// Release r is due after a number of observations that depends only on r and the task. The share
// contains that number, not the current one. A node's participation, the times of its evaluations
// and its end are public.
//
// The arithmetic and its assumptions are those of package privacy. In particular, the reader of
// random bytes must be that of crypto/rand.
package ledger
