package latent

import (
	"fmt"
	"testing"

	"github.com/fbo-node/fbo/internal/random"
)

// BenchmarkFit is one fit in two dimensions with 30 points, given what nine others say, and
// how many times it evaluates the evidence.
func BenchmarkFit(b *testing.B) {
	for _, latents := range []int{1, 2} {
		for _, count := range []int{12, 100} {
			b.Run(fmt.Sprintf("latents=%d/observations=%d", latents, count), func(b *testing.B) {
				rng := random.SeedOf(1).Stream("bench", 0)
				s := specOf(2, latents, true, scattered(rng, 30, 2))
				a := drawAgents(s, rng, 10, count)
				var said []Statement
				for k := range 9 {
					one, err := s.State(a.h[k], a.x[k], a.y[k])
					if err != nil {
						b.Fatal(err)
					}
					said = append(said, one)
				}
				g, err := s.Gather(said)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if _, err := s.Fit(b.Context(), g, a.x[9], a.y[9], s.PriorMode().Latent, false, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
