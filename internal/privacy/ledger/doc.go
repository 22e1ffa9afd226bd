// Package ledger keeps the privacy budget of a node and the part that it has spent. A [Ledger] adds
// the noise that the task's privacy budget requires to a vector, counts the DP release before it
// leaves the node, and refuses once the planned releases are spent or the journal cannot be
// trusted.
//
// # The steps of a release
//
// A Ledger makes the record of a release together with its noisy weights. The agent has both, and
// the exact bytes that are sent, on disk in one transaction before any peer gets them; a resend
// uses the same bytes. After a crash between any two steps, either no trace of the release is left,
// or it is counted.
//
// No local check can detect that a journal was restored from a backup, or copied, after which
// releases would be counted anew. Therefore every release has a random name, and peers keep the
// receipt of an author's releases permanently ([protocol.Receipt]). A Ledger releases nothing
// before more than half of the present peers have sent, in this run, all their shares. Unless its
// account has begun in this run, it also needs a peer's receipt that reaches to its last release or
// the one before. If a peer reports a release that the journal does not know, the Ledger refuses
// permanently, and counts that release too. Present peers that send nothing delay releases for five
// minutes ([Patience]); then one peer that has sent its shares is enough. This does not protect a
// node whose peers have all lost its receipts, send false ones, or were absent since the backup.
//
// # Which releases
//
// Release r is due after a number of observations that is a function of r and the task alone, and
// it contains that number, not the present one. A node's participation, the times of its
// evaluations and its end are public.
//
// The arithmetic is that of package privacy, and so are its assumptions: the reader of random bytes
// must be that of crypto/rand.
package ledger
