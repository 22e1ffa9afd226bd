package node

import "time"

// DefaultWait is how long the first design of a node without outcomes waits at most for the shares of
// peers.
const DefaultWait = 10 * time.Second

// quietShare is of an evaluation's time, once known, the part that a wait takes at most.
const quietShare = 10

// wait is how long the first design may be held back; zero: not at all.
func (o JoinOptions) wait(evaluation time.Duration) time.Duration {
	longest := o.Wait
	if longest == 0 {
		longest = DefaultWait
	}
	if evaluation > 0 {
		longest = min(longest, evaluation/quietShare)
	}
	return max(longest, 0)
}
