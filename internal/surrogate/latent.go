package surrogate

import (
	"math/rand/v2"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// LatentDrawer is an optional interface of a Posterior that is an exact process. Latent draws the
// function's values at the observed designs, followed by those of more ([gp.Posterior.Latent]). With one
// draw the values are the posterior means.
type LatentDrawer interface {
	Scaled
	Latent(more [][]float64, draws int, rng *rand.Rand) (*gp.Latent, error)
}

var _ LatentDrawer = (*exactPosterior)(nil)

func (p *exactPosterior) Latent(more [][]float64, draws int, rng *rand.Rand) (*gp.Latent, error) {
	return p.process.Latent(more, draws, rng)
}
