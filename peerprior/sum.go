package peerprior

import (
	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/rff"
)

// sum is the prior mean and a scaled residual, nil for none.
type sum struct {
	prior    *rff.Function
	residual acquisition.Function
	scale    float64
}

func (s sum) Value(x []float64) float64 {
	value := s.prior.Value(x)
	if s.residual != nil {
		value += s.scale * s.residual.Value(x)
	}
	return value
}

func (s sum) Gradient(grad, x []float64) float64 {
	value := s.prior.Gradient(grad, x)
	if s.residual != nil {
		further := make([]float64, len(grad))
		value += s.scale * s.residual.Gradient(further, x)
		for i, v := range further {
			grad[i] += s.scale * v
		}
	}
	return value
}

func (s sum) Values(dst, points []float64) {
	s.prior.Values(dst, points)
	if s.residual == nil {
		return
	}
	further := make([]float64, len(dst))
	if batch, ok := s.residual.(acquisition.Batch); ok {
		batch.Values(further, points)
	} else {
		dim := len(points) / len(dst)
		for i := range further {
			further[i] = s.residual.Value(points[i*dim : (i+1)*dim])
		}
	}
	for i, v := range further {
		dst[i] += s.scale * v
	}
}
