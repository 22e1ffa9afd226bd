package surrogate

import (
	"math/rand/v2"
	"slices"

	"github.com/fbo-node/fbo/internal/acquisition"
	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// LatentPosterior is an optional interface of a Posterior that can be conditioned on draws of its
// values. The posterior of the exact process implements it, with and without pending designs.
type LatentPosterior interface {
	Scaled
	// Latent draws values, without noise and in standardised units, at the observed designs, then
	// the pending designs of the posterior, then the designs of more. See [gp.Posterior.Latent].
	Latent(more [][]float64, draws int, rng *rand.Rand) (*gp.Latent, error)
}

var (
	_ LatentPosterior    = (*exactPosterior)(nil)
	_ LatentPosterior    = (*pendingExact)(nil)
	_ acquisition.Latent = (*gp.Latent)(nil)
)

func (p *exactPosterior) Latent(more [][]float64, draws int, rng *rand.Rand) (*gp.Latent, error) {
	return p.process.Latent(more, draws, rng)
}

// Latent draws the values at pending designs too. They are not known, although the means of p are
// conditioned on them.
func (p *pendingExact) Latent(more [][]float64, draws int, rng *rand.Rand) (*gp.Latent, error) {
	return p.known.Latent(slices.Concat(p.pending, more), draws, rng)
}
