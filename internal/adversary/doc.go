// Package adversary contains peers that attack the nodes of a task over real libp2p hosts. Only
// tests import it.
//
// An [Attack] is a name and a function that gets a [Field]: the attacked nodes, the task, and the
// attacker's addresses. The function creates peers with [Field.Peer] and calls [Field.Ready] when
// the attack takes effect. It continues until its context ends. It is built from identities
// ([Peer]), handwritten gossip ([Line]), and fabricated shares ([Field.Share], [Field.Message]).
package adversary
