package rff

import (
	"math"

	"github.com/fbo-node/fbo/internal/fourier"
)

// The basis RandomPhase has one cosine per feature,
//
//	phi_i(x) = cos(s_i·x + b_i) / sqrt(sum over j of cos(s_j·x + b_j)²),
//
// which is sqrt(2/M) cos(s_i·x + b_i) scaled to unit norm, as in the published code of Dai, Low and
// Jaillet (2020). The numerator of a function phi·w and the squared norm are both sums of waves in
// x, because a squared cosine is 1/2 plus half a cosine of twice the frequency.

// leastSquare is a lower bound of the squared norm, for points at which all cosines nearly vanish.
// Such points exist only with very few features.
const leastSquare = 1e-12

// shifted fills dst with phi(x) in the basis RandomPhase.
func (s *waveSet) shifted(dst, x []float64) {
	square := 0.0
	for i := range dst {
		dst[i] = math.Cos(s.phase(i, x))
		square += dst[i] * dst[i]
	}
	scale := 1 / math.Sqrt(max(square, leastSquare))
	for i := range dst {
		dst[i] *= scale
	}
}

func (s *waveSet) phase(i int, x []float64) float64 {
	phase, dim := s.phases[i], len(x)
	for k, f := range s.frequencies[i*dim : (i+1)*dim] {
		phase += f * x[k]
	}
	return phase
}

// pullBackShifted is pullBack for the basis RandomPhase. The factor w_i - value·phi_i is the
// derivative of phi·w by cosine i, up to the scale; it includes the derivative of the norm.
func (s *waveSet) pullBackShifted(grad, w, phi, x []float64) {
	value, square, dim := 0.0, 0.0, len(x)
	for i, v := range phi {
		value += w[i] * v
		cos := math.Cos(s.phase(i, x))
		square += cos * cos
	}
	scale := 1 / math.Sqrt(max(square, leastSquare))
	for i, v := range phi {
		slope := -math.Sin(s.phase(i, x)) * (w[i] - value*v) * scale
		for k, f := range s.frequencies[i*dim : (i+1)*dim] {
			grad[k] += slope * f
		}
	}
}

// squares returns the sum over j of cos(s_j·x + b_j)² minus its constant M/2, as a sum of waves.
func squares(dim int, frequencies, phases []float64) *fourier.Sum {
	doubled := make([]float64, len(frequencies))
	for i, s := range frequencies {
		doubled[i] = 2 * s
	}
	weights := make([]float64, 2*len(phases))
	for i, b := range phases {
		sin, cos := math.Sincos(2 * b)
		weights[2*i], weights[2*i+1] = cos/2, -sin/2
	}
	return fourier.NewWaves(dim, doubled).Sum(weights)
}

// squareOf returns the sum of squared cosines, given the value of its waves (see squares).
func (m *Map) squareOf(waves float64) float64 {
	return max(float64(m.varying)/2+waves, leastSquare)
}

// numerator returns the sum over i of w_i cos(s_i·x + b_i) as a sum of waves.
func (s *waveSet) numerator(w []float64) *fourier.Sum {
	weights := make([]float64, 2*len(w))
	for i, b := range s.phases {
		sin, cos := math.Sincos(b)
		weights[2*i], weights[2*i+1] = w[i]*cos, -w[i]*sin
	}
	return s.waves.Sum(weights)
}
