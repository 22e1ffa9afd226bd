package latent

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/surrogate/gp"
)

// path is a sample of an agent's function from the prior, with its latent functions.
type path struct {
	latents  []waves
	own      *gp.Function // sample of the own process; nil without Spec.Own
	scale    float64      // standard deviation of the own process, a factor of own
	constant float64      // sample of the own process's mean
}

// waves represents a latent function, and its smoothed form, as a sum of random waves.
type waves struct {
	frequencies  [][]float64
	cosine, sine []float64 // amplitudes of the waves of the latent function
	seen         []float64 // factor of each wave's amplitudes in the smoothed function
}

func (p *Posterior) drawPath(count int, rng *rand.Rand) (*path, error) {
	s, drawn := p.spec, &path{}
	for q, l := range p.h.Latent {
		var w waves
		amplitude, norm := math.Sqrt(1/float64(count)), p.h.Gains[q]
		for _, g := range s.Groups {
			norm *= math.Pow((l[g]+2*p.h.Smoothing[q][g])/l[g], 0.25)
		}
		for range count {
			frequency, damping := make([]float64, len(s.Groups)), 0.0
			for c, g := range s.Groups {
				frequency[c] = rng.NormFloat64() / math.Sqrt(l[g])
				damping += frequency[c] * frequency[c] * p.h.Smoothing[q][g]
			}
			w.frequencies = append(w.frequencies, frequency)
			w.cosine, w.sine = append(w.cosine, amplitude*rng.NormFloat64()), append(w.sine, amplitude*rng.NormFloat64())
			w.seen = append(w.seen, norm*math.Exp(-0.5*damping))
		}
		drawn.latents = append(drawn.latents, w)
	}
	if !s.Own {
		return drawn, nil
	}
	process, err := gp.NewPosterior(gp.Spec{Kernel: s.Kernel, Groups: s.Groups, Centred: true}, nil, nil,
		gp.Hyperparameters{Lengthscales: p.h.Lengthscales, Noise: p.h.Noise})
	if err != nil {
		return nil, err
	}
	drawn.own, drawn.scale = process.Draw(count, rng), math.Sqrt(p.h.Own)
	drawn.constant = math.Sqrt(meanVariance) * rng.NormFloat64()
	return drawn, nil
}

// gradient returns the value at x without the constant. If grad is not nil, it adds the gradient to
// grad.
func (p *path) gradient(grad, x []float64) (value float64) {
	for _, w := range p.latents {
		for i, frequency := range w.frequencies {
			sine, cosine := math.Sincos(dot(frequency, x))
			value += w.seen[i] * (w.cosine[i]*cosine + w.sine[i]*sine)
			if grad != nil {
				slope := w.seen[i] * (w.sine[i]*cosine - w.cosine[i]*sine)
				for c, f := range frequency {
					grad[c] += slope * f
				}
			}
		}
	}
	switch {
	case p.own == nil:
	case grad == nil:
		value += p.scale * p.own.Value(x)
	default:
		own := make([]float64, len(x))
		value += p.scale * p.own.Gradient(own, x)
		for c, v := range own {
			grad[c] += p.scale * v
		}
	}
	return value
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// valuesOf returns v = L⁻¹u (see Statement) for the latent functions of a path.
func (s Spec) valuesOf(p *path, lower *mat.TriDense, rng *rand.Rand) []float64 {
	u := mat.NewVecDense(s.size(), nil)
	for q, w := range p.latents {
		for k, z := range s.Points {
			value := math.Sqrt(jitter) * rng.NormFloat64()
			for i, frequency := range w.frequencies {
				sine, cosine := math.Sincos(dot(frequency, z))
				value += w.cosine[i]*cosine + w.sine[i]*sine
			}
			u.SetVec(q*len(s.Points)+k, value)
		}
	}
	v := mat.NewVecDense(s.size(), nil)
	if err := v.SolveVec(lower, u); err != nil && !isCondition(err) {
		panic(err) // cannot happen: the factor has a positive diagonal
	}
	return v.RawVector().Data
}
