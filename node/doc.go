// Package node runs agents on a real network: a libp2p host, one gossip topic
// and two stream protocols per task, to catch up and for direct messages, one more
// to compare the names of tasks, a journal on disk, and evaluators.
//
// A [Node] is an ordinary struct; set its fields, then Start it. [Node.Join]
// takes part in a task and returns a [Session], which is asked for trials and
// told their outcomes:
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
// A [Hub] on a machine that all can reach introduces the nodes of a task to each
// other and relays between those behind NATs; Node.Hubs names it. Node.Allow
// names who may take part, and [JoinOptions].Invitation closes a task to those without a
// secret; with neither everybody may take part who reaches a node, which tells the task's ID.
//
// What leaves the node is shares of the agents, what they say to each other
// directly, the IDs of its tasks, a hash of their names to peers on other tasks, and
// nothing else; of a task by invitation the first two only to those who have it too, and
// in place of the rest a tag. A share
// without noise is not private: whoever knows where was measured can read much
// of what was measured out of it.
package node
