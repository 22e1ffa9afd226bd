package sums

import "github.com/fbo-node/fbo/strategy"

// Totals returns the sums over all contributors that an exchange knows, by round.
func Totals(e strategy.Exchange) map[int][]int64 {
	totals := map[int][]int64{}
	for round, t := range e.(*Exchange).totals {
		totals[round] = t.Vector
	}
	return totals
}
