package node

// CloseJournal makes every later write to the journal fail.
func (n *Node) CloseJournal() error { return n.journal.Close() }
