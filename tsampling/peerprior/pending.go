package peerprior

import "slices"

// withPending returns the posterior in which the outcomes of the pending designs x, which are
// encoded, equal the expert's predictions. This leaves the mean unchanged and reduces the variance.
// Without pending designs it returns b.
func (b *expertPosterior) withPending(x [][]float64) (*expertPosterior, error) {
	if len(x) == 0 {
		return b, nil
	}
	y, noise := slices.Clone(b.residual.Outputs()), make([]float64, 0, len(x))
	for _, at := range x {
		y = append(y, b.residual.Mean(at))
		deviation, _ := b.expert.around.deviation(b.expert.around.left.Value(at))
		deviation *= b.expert.size
		noise = append(noise, b.residual.Hyperparameters().Noise/(deviation*deviation))
	}
	residual, err := b.residual.ExtendUnequal(slices.Concat(b.residual.Points(), x), y, noise)
	if err != nil {
		return nil, err
	}
	return &expertPosterior{b.expert, b.mean, residual}, nil
}
