// Package invitation closes a task to whoever lacks a secret. Without one, the ID of a
// task is all that it takes to join it, and libp2p and gossip tell that ID to everybody
// who reaches a port.
//
// An [Invitation] is a task's ID and 32 random bytes, as one line of text. Its [Keys]
// give what nodes need on the network:
//
//   - names for the task's topic and streams ([Keys.Tag]), and for asking a hub
//     ([Keys.Meeting]), from which nobody without the secret can compute the ID or each
//     other;
//   - sealed gossip messages ([Keys.Seal], [Keys.Open]): AES-256-GCM with random nonces
//     (NIST SP 800-38D), bound to the author. Names do not protect: gossip announces
//     them;
//   - a mutual proof at the beginning of a stream ([Keys.Prove], [Keys.Answer]): each side
//     shows that it knows the secret by an HMAC over both nonces, both peer IDs and the
//     protocol, as in the three-pass mutual authentication of ISO/IEC 9798-4. A proof that
//     somebody passes on is of no use to him, since the peer IDs are those of the
//     connection.
//
// Keys are derived by HKDF-SHA-256 (RFC 5869) from the secret, with the ID as salt and a
// label for each use.
//
// What it does not do: it cannot take an invitation back. Whoever had the secret can read
// what was recorded, also from before he had it, and join as long as it is in use; a new
// invitation ends that. It does not say which node is who: that is what lists of peer IDs
// are for.
package invitation
