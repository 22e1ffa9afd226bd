package latent

import "github.com/fbo-node/fbo/internal/linalg"

// WithPending returns the posterior in which the outcomes at the points x equal the posterior mean,
// with the noise of observations.
func (p *Posterior) WithPending(x [][]float64) (*Posterior, error) {
	points, y := linalg.Clone(p.x), append([]float64(nil), p.y...)
	for _, at := range x {
		points, y = append(points, at), append(y, p.mean.Value(at))
	}
	return p.spec.given(p.belief, p.h, points, y)
}
