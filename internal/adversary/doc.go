// Package adversary contains peers that attack the nodes of a task, over real libp2p hosts. Only
// tests import it.
//
// An [Attack] is a name and a function that gets a [Field]: the attacked nodes, the task, and the
// attacker's addresses. It makes peers with [Field.Peer], calls [Field.Ready] when the harm begins,
// and continues until its context ends. Attacks are built from these parts: identities (Peer),
// manual gossip (Line), fabricated shares (Field.Share, Field.Message).
package adversary
