package ledger

import "fmt"

// heldByPeers is how refusals begin that name the release which peers hold. In journals
// of some versions nothing else has the number.
const heldByPeers = "peers hold release %d of this node"

// Known returns how many releases there have been as far as is known: those that the
// journal counts, or more when peers have told of more. After a refusal there may have
// been others still.
func (s State) Known() int {
	told := 0
	if _, err := fmt.Sscanf(s.Refused, heldByPeers, &told); err != nil {
		return s.Released
	}
	return max(s.Released, told)
}
