package latent

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/radial"
)

// smoothed returns the covariance between two smoothed values of one latent function, at the points
// a and b. l holds the squared lengthscales per group. The value at a is smoothed with the
// variances p, and the value at b with q. Both are scaled to variance 1. If p and q are zero, the
// result is the kernel of the latent function. If slope is not nil, it is filled with the
// derivatives of the logarithm of the covariance with respect to the logarithms of p.
func (s Spec) smoothed(l, p, q, a, b, slope []float64) float64 {
	clear(slope)
	logarithm := 0.0
	for i, g := range s.Groups {
		d := a[i] - b[i]
		sum := p[g] + q[g] + l[g]
		ofP, ofQ := 2*p[g]+l[g], 2*q[g]+l[g]
		logarithm += 0.25*math.Log(ofP*ofQ/(sum*sum)) - 0.5*d*d/sum
		if slope != nil {
			slope[g] += p[g] * (0.5/ofP - 0.5/sum + 0.5*d*d/(sum*sum))
		}
	}
	return math.Exp(logarithm)
}

// covariance returns the same as smoothed with q = p. slope is filled with the derivatives with
// respect to a common change of both.
func (s Spec) covariance(l, p, a, b, slope []float64) float64 {
	clear(slope)
	logarithm := 0.0
	for i, g := range s.Groups {
		d := a[i] - b[i]
		sum := 2*p[g] + l[g]
		logarithm -= 0.5 * d * d / sum
		if slope != nil {
			slope[g] += p[g] * d * d / (sum * sum)
		}
	}
	return math.Exp(logarithm)
}

// ofValues returns the lower Cholesky factor of the covariance of u.
func (s Spec) ofValues(latent [][]float64) (*mat.TriDense, bool) {
	j, none := len(s.Points), make([]float64, s.groups())
	k := mat.NewSymDense(s.size(), nil)
	for q, l := range latent {
		for a := range j {
			for b := range a {
				k.SetSym(q*j+a, q*j+b, s.smoothed(l, none, none, s.Points[a], s.Points[b], nil))
			}
			k.SetSym(q*j+a, q*j+a, 1+jitter)
		}
	}
	var root mat.Cholesky
	if !root.Factorize(k) {
		return nil, false
	}
	var lower mat.TriDense
	root.LTo(&lower)
	return &lower, true
}

// withValues returns the covariances between the function at the points x (rows) and u (columns).
func (s Spec) withValues(h Hyperparameters, x [][]float64) *mat.Dense {
	j, none := len(s.Points), make([]float64, s.groups())
	k := mat.NewDense(len(x), s.size(), nil)
	for i, at := range x {
		row := k.RawRowView(i)
		for q := range h.Latent {
			for b, z := range s.Points {
				row[q*j+b] = h.Gains[q] * s.smoothed(h.Latent[q], h.Smoothing[q], none, at, z, nil)
			}
		}
	}
	return k
}

// ofLatents returns the covariance at a and b of the part of the function that comes from latent
// functions.
func (s Spec) ofLatents(h Hyperparameters, a, b []float64) (value float64) {
	for q := range h.Latent {
		value += h.Gains[q] * h.Gains[q] * s.covariance(h.Latent[q], h.Smoothing[q], a, b, nil)
	}
	return value
}

// ofOwn returns the covariance of the own process at a and b, including that of its unknown mean.
func (s Spec) ofOwn(h Hyperparameters, a, b []float64) float64 {
	if !s.Own {
		return 0
	}
	k, _ := s.ownKernel(h, a, b)
	return h.Own*k + meanVariance
}

// ownKernel returns the kernel of the own process at a and b. slope is that of [radial.Evaluate].
func (s Spec) ownKernel(h Hyperparameters, a, b []float64) (k, slope float64) {
	square := 0.0
	for i, g := range s.Groups {
		d := (a[i] - b[i]) / h.Lengthscales[g]
		square += d * d
	}
	return radial.Evaluate(s.Kernel, square)
}
