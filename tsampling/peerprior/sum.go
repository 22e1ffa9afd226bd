package peerprior

import (
	"math"

	"github.com/fbo-node/fbo/acquisition"
	"github.com/fbo-node/fbo/rff"
)

// leftover is the part of the variance that the peers leave, level + function,
// which is a projection and may stray from [0, 1].
type leftover struct {
	function *rff.Function
	level    float64
}

// deviation returns that of the residual, sqrt(h + (1-h)·left), where the
// function has this value, and its derivative by the value.
func (l leftover) deviation(value, h float64) (deviation, slope float64) {
	left := l.level + value
	if left <= 0 || left >= 1 {
		return math.Sqrt(h + (1-h)*min(max(left, 0), 1)), 0
	}
	deviation = math.Sqrt(h + (1-h)*left)
	return deviation, (1 - h) / (2 * deviation)
}

// sum is the prior mean and a residual.
type sum struct {
	prior      *rff.Function
	residual   acquisition.Function // in units of its deviation
	scale      float64
	unlikeness float64
	left       leftover
}

var (
	_ acquisition.Function = sum{}
	_ acquisition.Batch    = sum{}
)

func (s sum) Value(x []float64) float64 {
	deviation, _ := s.left.deviation(s.left.function.Value(x), s.unlikeness)
	return s.prior.Value(x) + s.scale*deviation*s.residual.Value(x)
}

func (s sum) Gradient(grad, x []float64) float64 {
	ofResidual, ofLeft := make([]float64, len(x)), make([]float64, len(x))
	value := s.prior.Gradient(grad, x)
	residual := s.residual.Gradient(ofResidual, x)
	deviation, slope := s.left.deviation(s.left.function.Gradient(ofLeft, x), s.unlikeness)
	for i := range grad {
		grad[i] += s.scale * (deviation*ofResidual[i] + residual*slope*ofLeft[i])
	}
	return value + s.scale*deviation*residual
}

func (s sum) Values(dst, points []float64) {
	residual, left := make([]float64, len(dst)), make([]float64, len(dst))
	s.prior.Values(dst, points)
	s.left.function.Values(left, points)
	if batch, ok := s.residual.(acquisition.Batch); ok {
		batch.Values(residual, points)
	} else {
		dim := len(points) / len(dst)
		for i := range residual {
			residual[i] = s.residual.Value(points[i*dim : (i+1)*dim])
		}
	}
	for i := range dst {
		deviation, _ := s.left.deviation(left[i], s.unlikeness)
		dst[i] += s.scale * deviation * residual[i]
	}
}
