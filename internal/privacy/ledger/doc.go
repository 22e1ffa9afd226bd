// Package ledger keeps what a node has promised about what it shares, and what it
// has spent of that: a [Ledger] turns weights into a release with the noise that
// the task's promise needs, counts it before it leaves, and refuses once the
// planned releases are spent or the journal may not be trusted.
//
// # The steps of a release
//
// A Ledger makes the record of a release together with its noisy weights. The agent
// has both, and the exact bytes that are sent, on disk in one transaction before
// anybody outside sees them; what is sent again are those bytes. So a crash between
// any two steps either leaves no trace of the release, or has it counted.
//
// Nothing local can tell that a journal was restored from a backup, or copied, after
// which releases would be counted anew. Therefore every release has a random name, and
// peers keep the receipt of an author's releases for good ([protocol.Receipt]). A Ledger
// releases nothing before more than half of the peers that are present have told, in
// this run, all that they hold, and one of them a receipt that reaches to its last
// release or the one before. If one tells a release that the journal does not know, the
// Ledger refuses for good, and counts that too. Peers that are present and tell nothing hold
// releases up for five minutes ([Patience]); then one that has told is enough. A node
// whose peers have all forgotten, lie, or were away since the backup is not protected by
// that.
//
// # Which releases
//
// Release r is due after a number of observations that follows from r and the task
// alone, and tells that number, not another. That a node takes part, when it
// evaluates and that it has stopped are public.
//
// The arithmetic is that of package privacy, and so are its assumptions: the
// reader of random bytes must be that of crypto/rand.
package ledger
