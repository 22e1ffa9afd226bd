package node

import "time"

// DefaultWait is the maximum time for which a node without outcomes delays its first design to wait
// for peers' shares.
const DefaultWait = 10 * time.Second

// quietShare limits that wait to 1/quietShare of an evaluation's duration, once an evaluation has
// ended.
const quietShare = 10

// wait returns the maximum delay of the first design. The argument is the duration of an
// evaluation, or 0 if it is unknown. A result of 0 means no wait.
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
