package latent

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/fbo-node/fbo/internal/linalg"
)

// evidence computes the log likelihood of an agent's observations given peers' statements. Without
// Spec.Own it is the variational lower bound, maximised over normal distributions of u.
type evidence struct {
	spec Spec
	said *Gathered
	x    [][]float64
	y    []float64
}

// at returns the evidence. If gradient is not nil, at fills it with the derivatives with respect to
// all parameters except Latent, in the order of [encode]. ok is false if rounding errors prevent
// the computation.
func (e *evidence) at(h Hyperparameters, gradient []float64) (value float64, ok bool) {
	b, err := e.spec.marginalOf(e.said, h.Latent)
	if err != nil {
		return 0, false
	}
	return e.given(b, h, gradient)
}

func (e *evidence) given(b *marginal, h Hyperparameters, gradient []float64) (value float64, ok bool) {
	s, n := e.spec, len(e.x)
	w := timesTransposedInverse(s.withValues(h, e.x), b.lower)
	var wv mat.Dense
	wv.Mul(w, b.variance)
	c := s.rest(h, e.x, w)
	alpha := mat.NewVecDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			c.SetSym(i, j, c.At(i, j)+linalg.Dot(wv.RawRowView(i), w.RawRowView(j)))
		}
		alpha.SetVec(i, e.y[i]-linalg.Dot(w.RawRowView(i), b.mean.RawVector().Data))
	}
	var root mat.Cholesky
	if !root.Factorize(c) {
		return 0, false
	}
	deviation := mat.VecDenseCopyOf(alpha)
	if err := root.SolveVecTo(alpha, deviation); err != nil && !isCondition(err) {
		return 0, false
	}
	value = -0.5 * (mat.Dot(deviation, alpha) + root.LogDet() + float64(n)*math.Log(2*math.Pi))
	missing := 0.0 // sum of the prior variances that u does not explain
	if !s.Own {
		for i := range n {
			missing += s.ofLatents(h, e.x[i], e.x[i]) - linalg.Dot(w.RawRowView(i), w.RawRowView(i))
		}
		value -= 0.5 * missing / h.Noise
	}
	if gradient == nil {
		return value, !math.IsNaN(value)
	}
	// The derivative of the evidence with respect to c is (alpha·alphaᵀ - c⁻¹)/2.
	var byC mat.SymDense
	if err := root.InverseTo(&byC); err != nil && !isCondition(err) {
		return 0, false
	}
	for i := range n {
		for j := i; j < n; j++ {
			byC.SetSym(i, j, 0.5*(alpha.AtVec(i)*alpha.AtVec(j)-byC.At(i, j)))
		}
	}
	var byW, outer mat.Dense
	if s.Own {
		wv.Sub(&wv, w)
	}
	byW.Mul(&byC, &wv)
	byW.Scale(2, &byW)
	outer.Outer(1, alpha, b.mean)
	byW.Add(&byW, &outer)
	if !s.Own {
		var own mat.Dense
		own.Scale(1/h.Noise, w)
		byW.Add(&byW, &own)
	}
	e.fill(gradient, h, timesInverse(&byW, b.lower), &byC, missing)
	return value, !math.IsNaN(value)
}

// fill sets gradient, the derivatives with respect to hyperparameters, from the derivatives with
// respect to the covariances with u (byValues) and of the observations (byC).
func (e *evidence) fill(gradient []float64, h Hyperparameters, byValues *mat.Dense, byC *mat.SymDense, missing float64) {
	s, groups, none := e.spec, e.spec.groups(), make([]float64, e.spec.groups())
	clear(gradient)
	smoothing := gradient[:s.Latents*groups]
	gains := gradient[len(smoothing):][:s.Latents]
	rest := gradient[len(smoothing)+len(gains):]
	slope, j := make([]float64, groups), len(s.Points)
	for i, at := range e.x {
		row := byValues.RawRowView(i)
		for q := range h.Latent {
			for k, z := range s.Points {
				unit, weight := s.smoothed(h.Latent[q], h.Smoothing[q], none, at, z, slope), row[q*j+k]
				gains[q] += weight * unit
				for g, v := range slope {
					smoothing[q*groups+g] += weight * h.Gains[q] * unit * v
				}
			}
		}
		rest[0] += byC.At(i, i)
		if !s.Own {
			for q := range h.Latent {
				gains[q] -= h.Gains[q] / h.Noise
			}
			continue
		}
		for k := range i + 1 {
			weight := byC.At(i, k)
			if k < i {
				weight *= 2
			}
			for q := range h.Latent {
				unit := s.covariance(h.Latent[q], h.Smoothing[q], at, e.x[k], slope)
				gains[q] += weight * 2 * h.Gains[q] * unit
				for g, v := range slope {
					smoothing[q*groups+g] += weight * h.Gains[q] * h.Gains[q] * unit * v
				}
			}
			unit, ofSquare := s.ownKernel(h, at, e.x[k])
			rest[1] += weight * h.Own * unit
			for c, g := range s.Groups {
				d := (at[c] - e.x[k][c]) / h.Lengthscales[g]
				rest[2+g] += weight * h.Own * ofSquare * d * d
			}
		}
	}
	if !s.Own {
		rest[0] += 0.5 * missing / (h.Noise * h.Noise)
	}
	rest[0] *= h.Noise - noiseFloor
}

// encode returns the hyperparameters as an unconstrained vector: the gains unchanged, and the
// logarithms of all others. Latent comes first.
func encode(s Spec, h Hyperparameters) []float64 {
	var theta []float64
	for _, row := range slices.Concat(h.Latent, h.Smoothing) {
		for _, v := range row {
			theta = append(theta, math.Log(v))
		}
	}
	theta = append(append(theta, h.Gains...), math.Log(max(h.Noise-noiseFloor, noiseFloor*noiseFloor)))
	if s.Own {
		theta = append(theta, math.Log(h.Own))
		for _, v := range h.Lengthscales {
			theta = append(theta, math.Log(v))
		}
	}
	return theta
}

func decode(s Spec, theta []float64) Hyperparameters {
	groups := s.groups()
	rows := func() (all [][]float64) {
		for range s.Latents {
			row := make([]float64, groups)
			for g := range row {
				row[g] = math.Exp(theta[g])
			}
			all, theta = append(all, row), theta[groups:]
		}
		return all
	}
	h := Hyperparameters{Latent: rows(), Smoothing: rows(), Gains: slices.Clone(theta[:s.Latents])}
	theta = theta[s.Latents:]
	h.Noise = noiseFloor + math.Exp(theta[0])
	if s.Own {
		h.Own = math.Exp(theta[1])
		for _, v := range theta[2:] {
			h.Lengthscales = append(h.Lengthscales, math.Exp(v))
		}
	}
	return h
}
