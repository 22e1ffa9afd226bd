package peerprior

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fbo-node/fbo/protocol"
	"github.com/fbo-node/fbo/random"
)

// BenchmarkSuggest is a suggestion with the posterior at hand, M = 256 shared
// features and 6 floats, over the trials that draw a model with peers or not as
// they come; with 0 peers it is the engine alone. The peers' shares have been
// listened to before.
func BenchmarkSuggest(b *testing.B) {
	var parameters []string
	for i := range 6 {
		parameters = append(parameters, fmt.Sprintf("{name: x%d, type: float, low: 0, high: 1}", i))
	}
	l := newLab(b, "maximize", strings.Join(parameters, ", "), "type: exact, features: 256")
	means := l.peersOf(100, 20, bump(0.6), 1)
	for _, observations := range []int{20, 50} {
		own := l.view(l.designs(observations, random.SeedOf(7)), bump(0.7))
		for _, peers := range []int{0, 1, 10, 32, 100} {
			view := with(own, append([]protocol.Mean(nil), means[:peers]...)...)
			b.Run(fmt.Sprintf("t=%d/peers=%d", observations, peers), func(b *testing.B) {
				trial := uint64(observations)
				for b.Loop() {
					trial++
					if _, err := l.strategy.Suggest(b.Context(), view, trial, random.SeedOf(1)); err != nil {
						b.Fatal(err)
					}
				}
			})
			if peers == 0 {
				continue
			}
			b.Run(fmt.Sprintf("t=%d/peers=%d/belief", observations, peers), func(b *testing.B) {
				for b.Loop() {
					l.considered(view)
				}
			})
		}
	}
}
