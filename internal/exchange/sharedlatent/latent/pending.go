package latent

import "github.com/fbo-node/fbo/internal/linalg"

// WithPending returns the function given that further points have its mean as outputs, with the
// noise of observations.
func (p *Posterior) WithPending(x [][]float64) (*Posterior, error) {
	points, y := linalg.Clone(p.x), append([]float64(nil), p.y...)
	for _, at := range x {
		points, y = append(points, at), append(y, p.mean.Value(at))
	}
	return p.spec.given(p.belief, p.h, points, y)
}
