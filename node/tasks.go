package node

// Known returns the IDs of the tasks that the node's journal holds, sorted. It may be
// called between Start and Close.
func (n *Node) Known() ([]string, error) { return n.journal.Tasks() }
