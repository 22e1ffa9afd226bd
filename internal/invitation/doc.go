// Package invitation restricts a task to nodes that have a secret. Without an invitation, the ID of
// a task is enough to join it, and libp2p and gossip send that ID to every peer that connects.
//
// An [Invitation] is a task's ID and 32 random bytes, as one line of text. Its [Keys] provide:
//
//   - names for the task's topic and streams ([Keys.Tag]) and for requests to a hub
//     ([Keys.Meeting]). Without the secret, neither the ID nor the other name can be computed from
//     a name;
//   - sealed gossip messages ([Keys.Seal], [Keys.Open]): AES-256-GCM with random nonces (NIST SP
//     800-38D), bound to the author. Names do not protect: gossip announces them;
//   - a mutual proof at the beginning of a stream ([Keys.Prove], [Keys.Answer]): each side proves
//     that it knows the secret by an HMAC over both nonces, both peer IDs and the protocol, as in
//     the three-pass mutual authentication of ISO/IEC 9798-4. A relayed proof is useless, because
//     the peer IDs are those of the connection.
//
// Keys are derived by HKDF-SHA-256 (RFC 5869) from the secret, with the ID as salt and a label for
// each use.
//
// Limits: an invitation cannot be revoked. A party that had the secret can decrypt recorded
// messages, also from before it had the secret, and can join as long as the invitation is in use; a
// new invitation ends that. An invitation does not identify nodes: lists of peer IDs do.
package invitation
