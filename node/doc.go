// Package node runs agents on a real network: a libp2p host, for each task a gossip topic and
// streams for missing shares and direct messages, a journal on disk, and evaluators.
//
// A [Node] is an ordinary struct; set its fields, then Start it. [Node.Join] takes part in a task and
// returns a [Session]. The program asks it for trials and reports their outcomes:
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
// Run ends with a [GaveUpError] when too many evaluations fail; the next Run goes on.
// JoinOptions.Enqueue names designs to evaluate first, such as today's settings.
//
// Several nodes can live in one process, each with its own directory, and a
// node can join several tasks. [Node.Metrics] takes a Prometheus registry.
//
// [Node.History] returns what the journal contains of a task. [Node.Start] returns [ErrBusy] or
// [ErrDamaged] where it cannot use the journal.
//
// A [Hub] on a machine that all nodes can reach introduces the nodes of a task to each other and
// relays between those behind NATs; Node.Hubs names it. Node.Allow names the peers that may take
// part, and [JoinOptions].Invitation closes a task to peers without a secret. Without either, every
// peer that reaches a node may take part, since the node advertises the task's ID.
//
// The node discloses the shares and direct messages of its agents, the IDs of its tasks, and to
// peers on other tasks a hash of their names. For a task by invitation it discloses the first two
// to peers with the invitation, and a tag in place of the rest. A share without noise is not
// private: with the designs, most of the outcomes can be computed from it.
//
// The packages below node/internal are its rooms: peers decides on peers, access applies the
// decisions to a host, gossip and wire exchange messages, and hub is what hubs do. The data directory
// is internal/store.
package node
