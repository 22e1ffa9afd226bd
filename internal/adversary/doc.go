// Package adversary has peers that attack the nodes of a task, over real libp2p hosts. Tests
// import it and nothing else does.
//
// An [Attack] is a name and a function that gets a [Field]: whom to attack, on which task,
// and from which addresses. It makes peers with [Field.Peer], says [Field.Ready] when the
// harm begins, and goes on until its context ends. Attacks that need what others do not
// take it from the parts: identities (Peer), gossip by hand (Line), made-up shares
// (Field.Share, Field.Message).
package adversary
