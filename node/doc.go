// Package node runs agents on a real network. It has a libp2p host, a journal on disk and
// evaluators. For each task it has a gossip topic, and streams for missing shares and direct messages.
//
// A [Node] is an ordinary struct: set its fields, then call Start. [Node.Join] takes part in a task
// and returns a [Session]. The program asks the session for trials and reports their outcomes:
//
//	n := &node.Node{
//		Dir:        "/var/lib/tuner",
//		Peers:      []string{"/ip4/10.0.0.7/udp/4001/quic-v1/p2p/12D3Koo…"},
//		Strategies: strategy.Set{peerprior.Register()},
//	}
//	if err := n.Start(ctx); err != nil { … }
//	defer n.Close()
//	session, err := n.Join(ctx, t, node.JoinOptions{})
//	err = session.Run(ctx, func(ctx context.Context, d task.Design) (float64, error) {
//		return measure(d.Float("temperature")), nil
//	}, node.RunOptions{Evals: 50})
//
// Run ends with a [GaveUpError] when too many evaluations fail; the next Run continues.
// JoinOptions.Enqueue lists designs to evaluate first, such as today's settings.
//
// Several nodes can live in one process, each with its own directory, and a
// node can join several tasks. [Node.Metrics] takes a Prometheus registry.
//
// [Node.History] returns the journal's content for a task. [Node.Start] returns [ErrBusy] if another
// process has the journal open, and [ErrDamaged] if the journal is corrupt.
//
// A [Hub] on a machine that all nodes can reach introduces the nodes of a task to each other, and
// relays connections between those behind NATs. Nodes find it through Node.Hubs. Node.Allow lists the
// peers that may take part, and [JoinOptions].Invitation closes a task to peers without a secret.
// Without either, every peer that reaches a node may take part, since the node advertises the task's
// ID.
//
// The node sends the shares and direct messages of its agents and the IDs of its tasks to members of
// these tasks. Peers on other tasks receive the IDs and a hash of the tasks' names. For a task with an
// invitation, only peers with the invitation receive the shares, the messages and the ID; other peers
// receive a tag in place of the ID. A share without noise is not private: with the designs, most of
// the outcomes can be computed from it.
//
// The packages below node/internal are parts of this package: peers makes decisions on peers, access
// applies the decisions to a host, gossip and wire exchange messages, and hub is the server of a hub.
// internal/store manages the data directory.
package node
