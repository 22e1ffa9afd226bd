// Package invitation restricts a task to nodes that have a secret. Without an invitation, the ID of
// a task suffices to join it, and libp2p and gossipsub send that ID to every connected peer.
//
// An [Invitation] is a task's ID and 32 random bytes, written as one line of text. Its [Keys] provide:
//
//   - names for the task's topic and protocols ([Keys.Tag]) and for requests to a hub
//     ([Keys.Meeting]). Without the secret, neither the ID nor the other name can be computed from
//     one of the names;
//   - sealed gossip messages ([Keys.Seal], [Keys.Open]): AES-256-GCM with random nonces (NIST SP
//     800-38D), bound to the author. They are necessary because gossipsub announces the names;
//   - a mutual proof at the beginning of a stream ([Keys.Prove], [Keys.Answer]). Each side proves
//     that it knows the secret by an HMAC over both nonces, both peer IDs and the protocol, as in
//     the three-pass mutual authentication of ISO/IEC 9798-4. A relayed proof is useless, because
//     the peer IDs are those of the connection.
//
// All keys are derived from the secret by HKDF-SHA-256 (RFC 5869), with the ID as salt and a label for
// each use.
//
// Limits: an invitation cannot be revoked. A party with the secret can decrypt recorded messages,
// even those from before it had the secret, and can join as long as the invitation is in use. Only a
// new invitation ends that. An invitation does not identify nodes; lists of peer IDs do.
package invitation
