package peerprior

import (
	"fmt"
	"testing"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
)

// A suggestion of an agent with so many observations that hears so many guarded shares.
func BenchmarkGuardedSuggest(b *testing.B) {
	for _, observations := range []int{10, 50, 200} {
		for _, peers := range []int{4, 20} {
			b.Run(fmt.Sprintf("observations=%d/peers=%d", observations, peers), func(b *testing.B) {
				l, s := newGuardedLab(b, plane)
				var said []protocol.Density
				for i := range peers {
					said = append(said, l.place(0.2+0.01*float64(i), 9))
				}
				view := saying(l.view(l.designs(observations, random.SeedOf(7)), bump(0.3)), said...)
				for i := 0; b.Loop(); i++ {
					ask(b, s, view, uint64(observations+1+2*i), random.SeedOf(uint64(i)))
				}
			})
		}
	}
}
