package optprior

import (
	"math/rand/v2"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/strategy"
	"github.com/fbo-node/fbo/strategy/search"
)

// Peers returns the densities that peers share: at most `most`, drawn by rng if there are more.
func Peers(view strategy.View, most int, rng *rand.Rand) []protocol.Density {
	var all []protocol.Density
	for _, d := range strategy.Shares[protocol.Density](view) {
		all = append(all, d)
	}
	return search.AtMost(most, all, rng)
}
